//! Gradients of recurrences, and recurrences with resets.

use half::f16;

use super::*;

/// Recurrences that are walked whole or split along the axis, in one column and in several. There are few flows, so
/// that half-precision floats stay exact.
fn check<T: ElementType + PartialEq>(from: fn(i32) -> T) {
    let mut random = Random(93);
    let mut drawn = |n: usize, one_in: u64| -> Vec<i32> {
        let draw = |_| match random.next() {
            drawn if drawn % one_in == 0 => 1 - 2 * (drawn / one_in % 2) as i32,
            _ => 0,
        };
        (0..n).map(draw).collect()
    };
    for shape in [
        [0, 4, 2],
        [2, 0, 3],
        [1, 1, 1],
        [4, 7, 1],
        [3, 129, 65],
        [2, 300, 7],
        [1, 140_000, 1],
        [1, 2200, 130],
        [300, 51, 1],
    ] {
        if !has_time_for(shape.iter().product()) {
            continue;
        }
        let [outer, _, inner] = shape;
        let n = shape.iter().product();
        let [flow, results] = [drawn(n, 300), drawn(n, 2)];
        // Decays are mostly −1 and 1, so that flows go far.
        let decay: Vec<i32> = (0..n)
            .map(|i| [1, -1, 1, -1, 1, 0, -1][i * i % 13 % 7])
            .collect();
        let states = drawn(outer * inner, 2);
        let of = |values: &[i32]| values.iter().copied().map(from).collect::<Vec<T>>();
        let elements = [&flow, &decay, &results, &states].map(|it| of(it));
        for (resumes, reverse) in WAYS {
            let lines = WalkShape::new(shape, !reverse);
            let [flows, decays] = [0, 1].map(|i| View::contiguous(&elements[i], &lines));
            let initial = resumes.then_some(&elements[3][..]);
            let found = recurrence_adjoint(&flows, &decays, &elements[2], initial, lines);
            let (mut of_values, mut of_decay) = (vec![0; n], vec![0; n]);
            let mut of_initial = vec![0; outer * inner];
            for (line, places) in line_places(shape, reverse).enumerate() {
                let carried = &mut of_initial[line];
                for (step, &at) in places.iter().enumerate().rev() {
                    let g = flow[at] + *carried;
                    *carried = decay[at] * g;
                    let before = match step {
                        0 if resumes => states[line],
                        0 => 0,
                        _ => results[places[step - 1]],
                    };
                    of_values[at] = g;
                    of_decay[at] = g * before;
                }
            }
            let context = || format!("{shape:?}, reverse {reverse}, from states {resumes}");
            assert!(found.of_values == of(&of_values), "values of {}", context());
            assert!(found.of_decay == of(&of_decay), "decays of {}", context());
            assert!(
                found.of_initial == of(&of_initial),
                "states of {}",
                context()
            );
        }
    }
}

#[test]
fn gradients() {
    check(|value| value as f32);
    check(f64::from);
    check(|value| f16::from_f32(value as f32));
}

/// Compositions overflow where the walk does not: a product of decays meets a flow of zero.
#[test]
fn gradients_of_explosive_decays() {
    let n = 3000;
    let flow: Vec<f32> = (0..n).map(|i| f32::from(i % 1000 == 999)).collect();
    let mut decay = vec![1e30f32; n];
    for at in (0..n).step_by(2) {
        decay[at] = 1e-30;
    }
    let results = vec![1f32; n];
    let shape = [1, n, 1];
    let lines = WalkShape::new(shape, true);
    let [flows, decays] = [&flow, &decay].map(|it| View::contiguous(it, &lines));
    let found = recurrence_adjoint(&flows, &decays, &results, None, lines);
    let mut g = 0f32;
    for at in (0..n).rev() {
        let u = if at + 1 < n { decay[at + 1] * g } else { 0.0 };
        g = flow[at] + u;
        let close = (found.of_values[at] - g).abs() <= 1e-4 * g.abs();
        assert!(close, "{at}: {} instead of {g}", found.of_values[at]);
    }
}

/// A piece has 2^14 elements of a row and 2^10 lines of columns.
#[test]
fn what_a_piece_leaves() {
    for [outer, len, inner] in [[1, 40_000, 1], [1, 40_000, 3]] {
        let line = |special: &[(usize, f32)], usual: f32| -> Vec<f32> {
            let mut line = vec![usual; len * inner];
            for &(at, value) in special {
                line[at * inner..][..inner].fill(value);
            }
            line
        };
        let lines = WalkShape::new([outer, len, inner], false);
        let view = |elements| View::contiguous(elements, &lines);
        // An infinite state is forgotten in a later piece, whose own elements are finite.
        let (values, decay) = (
            line(&[(0, f32::INFINITY)], 0.0),
            line(&[(20_000, 0.0)], 1.0),
        );
        let found = recurrence::<f32, true>(&view(&values), &view(&decay), None, false, lines);
        let (before, after) = found.split_at(20_000 * inner);
        assert!(before.iter().all(|&h| h == f32::INFINITY));
        assert!(after.iter().all(|&h| h == 0.0));
        // A product of decays underflows, and what it multiplies is large.
        let values = line(&[(3, 1e30)], 0.0);
        let decay = line(&[(4, 1e-30), (5, 1e-30), (6, 1e30)], 1.0);
        let found = recurrence::<f32, false>(&view(&values), &view(&decay), None, false, lines);
        assert!(found[6 * inner..].iter().all(|&h| (h - 1.0).abs() < 1e-5));
    }
}

/// A decay of 0 forgets infinities and NaN, whether a walk is whole or split, of one column or of several.
#[test]
fn resets() {
    for shape in [
        [1, 1, 1],
        [4, 37, 1],
        [2, 300, 7],
        [1, 140_000, 1],
        [1, 2200, 130],
    ] {
        let n = shape.iter().product();
        if !has_time_for(n) {
            continue;
        }
        let mut random = Random(29);
        // Each line has a few infinities, NaN and zero decays, so most states go far.
        let rare = shape[1] as u64 / 8 + 2;
        let mut drawn = |special: [f32; 2], usual: [f32; 3]| -> Vec<f32> {
            let element = |drawn: u64| match drawn % rare {
                which @ 0..2 => special[which as usize],
                _ => usual[(drawn / rare % 3) as usize],
            };
            (0..n).map(|_| element(random.next())).collect()
        };
        let values = drawn([f32::INFINITY, f32::NAN], [-1.0, 0.0, 1.0]);
        let decay = drawn([0.0, -0.0], [-1.0, 1.0, 1.0]);
        for (exclusive, reverse) in WAYS {
            let lines = WalkShape::new(shape, reverse);
            let [of_values, of_decay] = [&values, &decay].map(|it| View::contiguous(it, &lines));
            let found = recurrence::<f32, true>(&of_values, &of_decay, None, exclusive, lines);
            for places in line_places(shape, reverse) {
                let mut h = 0f32;
                for at in places {
                    let before = h;
                    h = if decay[at] == 0.0 {
                        values[at]
                    } else {
                        decay[at] * before + values[at]
                    };
                    let expected = if exclusive { before } else { h };
                    let same = found[at] == expected || found[at].is_nan() && expected.is_nan();
                    assert!(
                        same,
                        "{} instead of {expected} at {at} of {shape:?}, {exclusive} {reverse}",
                        found[at]
                    );
                }
            }
        }
    }
}

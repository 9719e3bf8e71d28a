//! Compaction, expansion and grouping.

use core::mem::MaybeUninit;

use super::super::buffer::as_slots;
use super::super::compress::{self, Word};
use super::super::huge_pages;
#[cfg(target_arch = "x86_64")]
use super::super::processor::Widest;
use super::*;

fn positions(mask: &[u8]) -> Vec<usize> {
    (0..mask.len()).filter(|&index| mask[index] != 0).collect()
}

/// In the form for the processor at hand and in the portable one. Any byte but zero is true.
#[test]
fn trues_are_counted() {
    let mut random = Random(3);
    for len in [0, 1, 31, 32, 33, 64, 100, 64 * 255, 2 * 64 * 255 + 77] {
        for most in [1, 2, 255] {
            let mask: Vec<u8> = (0..len)
                .map(|_| (random.next() % (most + 1)) as u8)
                .collect();
            let expected = mask.iter().filter(|&&byte| byte != 0).count();
            assert_eq!(count_true(&mask[..].into()), expected, "{len}");
            assert_eq!(all_true(&mask[..].into()), expected == len, "{len}");
            let [(words, count), portable] =
                [compress::pack as Pack, compress::portable::pack].map(|pack| packed(&mask, pack));
            assert_eq!(count, expected, "{len}");
            assert!((words, count) == portable, "{len}");
        }
    }
}

type Pack = fn(&[u8], &mut [MaybeUninit<u64>]) -> usize;

/// The words of a mask, and its trues.
fn packed(mask: &[u8], pack: Pack) -> (Vec<u64>, usize) {
    let mut count = 0;
    let words = filled(mask.len().div_ceil(64), |words| count = pack(mask, words));
    for (index, &byte) in mask.iter().enumerate() {
        assert_eq!(words[index / 64] >> (index % 64) & 1, u64::from(byte != 0));
    }
    (words, count)
}

/// Every pattern of eight trues in the middle of a mask, in each form that the processor has.
#[test]
fn compresses_and_expands_every_pattern() {
    fn check<T: Word + PartialEq>(value: fn(u64) -> T) {
        let mut forms: Vec<Compress<T>> = vec![compress::compress, |values, words, kept, slots| {
            assert_eq!(compress::portable::compress(values, words, slots), kept);
        }];
        #[cfg(target_arch = "x86_64")]
        if Widest::test().is_some() {
            forms.push(|values, words, kept, slots| {
                // SAFETY: the processor has AVX2. `compress` takes this form only where AVX-512 is missing.
                let written = unsafe { compress::avx2::compress(values, words, slots) };
                assert_eq!(written, kept);
            });
        }
        let mut random = Random(17);
        for bits in 0..256 {
            let mut mask = random.mask(83, 50);
            mask.extend((0..8).map(|bit| 128 * (bits >> bit & 1) as u8));
            mask.extend(random.mask(77, 50));
            let trues = positions(&mask);
            let values: Vec<T> = mask.iter().map(|_| value(random.next())).collect();
            let kept: Vec<T> = trues.iter().map(|&index| values[index]).collect();
            let mut expanded = vec![T::default(); mask.len()];
            for &index in &trues {
                expanded[index] = values[index];
            }
            let words = &packed(&mask, compress::pack).0;
            for compress in &forms {
                // With no slot more than survivors, and with as many slots as values.
                for len in [kept.len(), mask.len()] {
                    let mut slots = vec![MaybeUninit::new(T::default()); len];
                    compress(&values, words, kept.len(), &mut slots);
                    let first = |all: &mut [_]| all.copy_from_slice(&slots[..kept.len()]);
                    assert!(filled(kept.len(), first) == kept);
                }
            }
            for expand in [compress::expand, compress::portable::expand] {
                assert!(filled(mask.len(), |slots| expand(&kept, words, slots)) == expanded);
            }
            let shifted: Vec<usize> = trues.iter().map(|&index| index + 1000).collect();
            let narrow: Vec<u32> = shifted.iter().map(|&index| index as u32).collect();
            let find = |slots: &mut [_]| compress::positions::<u32>(words, 1000, slots);
            assert!(filled(trues.len(), find) == narrow);
            let find = |slots: &mut [_]| compress::positions::<usize>(words, 1000, slots);
            assert!(filled(trues.len(), find) == shifted);
            let find = |slots: &mut [_]| {
                assert_eq!(
                    compress::portable::positions::<usize>(words, 1000, slots),
                    trues.len()
                );
            };
            assert!(filled(trues.len(), find) == shifted);
        }
    }
    type Compress<T> = fn(&[T], &[u64], usize, &mut [MaybeUninit<T>]);
    check(|bits| bits as u8);
    check(|bits| bits as u16);
    check(|bits| bits as u32);
    check(|bits| bits);
}

/// The only false is the last entry of a mask that threads share.
#[test]
fn one_false_is_found() {
    let mut mask = vec![1; (1 << 21) + 5];
    assert!(all_true(&mask[..].into()));
    mask[(1 << 21) + 4] = 0;
    assert!(!all_true(&mask[..].into()));
}

/// `len` slots as `fill` has written them.
fn filled<T: Copy>(len: usize, fill: impl FnOnce(&mut [MaybeUninit<T>])) -> Vec<T> {
    let mut output = Output::new(len);
    fill(output.slots());
    // SAFETY: `fill` writes every slot.
    unsafe { output.finish() }
}

/// A mask of several blocks, which threads share, and one of few trues. Values and mask follow one another, or lie apart.
#[test]
fn blocks_of_a_mask() {
    let mut random = Random(4242);
    for (percent, shape, strides) in [
        (1, [300, 500], [500, 1]),
        (50, [300, 500], [500, 1]),
        (50, [300, 500], [503, 1]),
        (10, [500, 3001], [1, 500]),
        (50, [3, 50_000], [-50_007, -1]),
        (50, [15_000, 4], [-10, 2]),
        (50, [3, 50_000], [1, 3]),
    ] {
        let [rows, len] = shape;
        let numbers: Vec<usize> = (0..rows * len).collect();
        let memory = |far: isize| usize::try_from(far).unwrap();
        let reach = [rows - 1, len - 1].map(|last| last as isize);
        let far = |stride: fn(isize) -> isize| {
            memory(reach[0] * stride(strides[0]) + reach[1] * stride(strides[1]))
        };
        let start = far(|stride| (-stride).max(0));
        let elements = start + far(|stride| stride.max(0)) + 1;
        let place = |&at: &usize| {
            let far = (at / len) as isize * strides[0] + (at % len) as isize * strides[1];
            start.wrapping_add_signed(far)
        };
        let bytes = random.mask(elements, percent);
        let words: Vec<u32> = (0..elements).map(|_| random.next() as u32).collect();
        let of_mask = RowMajor::of(View::new(&bytes, start, &shape, &strides, 1));
        let of_values = RowMajor::of(View::new(&words, start, &shape, &strides, 1));
        let mask: Vec<u8> = numbers.iter().map(|at| bytes[place(at)]).collect();
        let values: Vec<u32> = numbers.iter().map(|at| words[place(at)]).collect();

        let trues = positions(&mask);
        let mut kept: Vec<u32> = trues.iter().map(|&index| values[index]).collect();
        assert_eq!(count_true(&of_mask), trues.len());
        assert!(compact(&of_values, &of_mask, false) == (kept.clone(), trues.len()));
        assert!(compact_indices::<usize>(&of_mask) == trues);
        let coordinates = trues.iter().flat_map(|&index| [index / len, index % len]);
        assert!(argwhere::<usize>(&of_mask, &shape) == coordinates.collect::<Vec<_>>());
        let mut expanded = vec![0; mask.len()];
        trues
            .iter()
            .for_each(|&index| expanded[index] = values[index]);
        assert!(expand(&kept, &of_mask) == expanded);
        kept.resize(mask.len(), 0);
        assert!(compact(&of_values, &of_mask, true) == (kept, trues.len()));

        let lines = [rows, len, 1];
        let of_lines = compact_lines::<_, u32>(&of_values, &of_mask, lines);
        assert!(of_lines == compact_lines(&values[..].into(), &mask[..].into(), lines));
        let whole = View::new(&[1u8; 7], 3, &shape, &[0, 0], 1);
        assert!(all_true(&RowMajor::of(whole)));
        assert!(!all_true(&of_mask));
    }
}

/// Short rows and long ones; few columns and more, in strips and split, and longer than what waits to be written.
#[test]
fn lines_on_their_own() {
    fn check<T: Word + PartialEq>(value: fn(u64) -> T) {
        let mut random = Random(11);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(7).build();
        let pool = pool.unwrap();
        let rows = [1, 5, 33, 64, 65, 1000, 17_000].map(|len| [9, len, 1]);
        let few = [2, 3, 8, 9, 77].map(|inner| [2, 43, inner]);
        let many = [[1, 43, 1100], [1, 130, 1100], [1, 3600, 300]];
        let split = [
            [1, 17_000, 9],
            [1, if size_of::<T>() == 4 { 300_000 } else { 3000 }, 7],
        ];
        for shape in rows.into_iter().chain(few).chain(many).chain(split) {
            let elements: usize = shape.iter().product();
            let mut mask = random.mask(elements, 50);
            if [7, 9].contains(&shape[2]) {
                // One column has all, and one has none.
                let lines = mask.chunks_mut(shape[2]);
                lines.for_each(|line| (line[0], line[1]) = (1, 0));
            }
            let values: Vec<T> = mask.iter().map(|_| value(random.next())).collect();
            let (mut kept, mut counts) = (vec![T::default(); elements], Vec::new());
            for places in line_places(shape, false) {
                let trues = places.iter().filter(|&&at| mask[at] != 0);
                counts.push(trues.clone().count());
                for (&to, &from) in places.iter().zip(trues) {
                    kept[to] = values[from];
                }
            }
            let found = pool
                .install(|| compact_lines::<T, usize>(&values[..].into(), &mask[..].into(), shape));
            assert!(found == (kept, counts), "{shape:?}");
        }
    }
    check(|bits| bits as u8);
    check(|bits| bits as u16);
    check(|bits| bits as u32);
    check(|bits| bits);
}

#[test]
fn slices_are_kept_and_restored() {
    let mut random = Random(7);
    let [outer, len, inner] = [70, 31, 64];
    let mask = random.mask(len, 30);
    let is_kept = |slice: usize| mask[slice % len] != 0;
    let of_slice = |(at, value): (usize, &u16)| is_kept(at / inner).then_some(*value);
    let values: Vec<u16> = (0..outer * len * inner).map(|at| at as u16).collect();
    let all = values.iter().enumerate().map(of_slice);
    let kept: Vec<u16> = all.clone().flatten().collect();
    let found = compact_rows(&values, &mask, [outer, inner], false);
    assert!(found == (kept.clone(), mask.iter().filter(|&&byte| byte != 0).count()));
    let restored: Vec<u16> = all.map(Option::unwrap_or_default).collect();
    assert!(expand_rows(&kept, &mask, outer, inner) == restored);
}

#[test]
fn blocks_of_keys() {
    let mut random = Random(31);
    let keys: Vec<i64> = (0..150_003)
        .map(|_| (random.next() % 302) as i64 - 1)
        .collect();
    let mut order: Vec<usize> = (0..keys.len())
        .filter(|&at| (0..300).contains(&keys[at]))
        .collect();
    order.sort_by_key(|&at| keys[at]);
    let mut ranks = vec![-1; keys.len()];
    (0..).zip(&order).for_each(|(rank, &at)| ranks[at] = rank);
    let offset = |key: i64| order.partition_point(|&at| keys[at] < key) as i32;
    let offsets: Vec<i32> = (0..=300).map(offset).collect();
    assert!(partition_ranks::<i64, i32>(&keys, 300) == (ranks, offsets.clone()));
    let values: Vec<u16> = (0..keys.len()).map(|at| at as u16 | 1).collect();
    let mut grouped: Vec<u16> = order.iter().map(|&at| values[at]).collect();
    grouped.resize(values.len(), 0);
    assert!(partition::<u16, i64, i32>(&values, &keys, 300) == (grouped, offsets));
    let nothing = (vec![0; values.len()], vec![0]);
    assert!(partition::<u16, i64, u32>(&values, &keys, 0) == nothing);
    let nowhere = (vec![-1; values.len()], vec![0]);
    assert!(partition_ranks::<i64, i32>(&keys, 0) == nowhere);
}

#[test]
fn scatters_and_gathers() {
    let mut random = Random(5);
    for len in [0, 1, 1000, (1 << 17) + 5] {
        // A permutation. Every seventh element has no destination: below zero, or too large.
        let destinations: Vec<i64> = (0..len)
            .map(|index: i64| match index % 14 {
                3 => -1 - index,
                10 => len + index,
                _ => len - 1 - index,
            })
            .collect();
        let values: Vec<u32> = destinations
            .iter()
            .map(|_| random.next() as u32 | 1)
            .collect();
        let (mut scattered, mut gathered) =
            (vec![0; destinations.len()], vec![0; destinations.len()]);
        for (index, &to) in destinations.iter().enumerate() {
            if (0..len).contains(&to) {
                scattered[to as usize] = values[index];
                gathered[index] = values[to as usize];
            }
        }
        assert!(scatter(&values, &destinations) == scattered);
        assert!(gather(&values, &destinations) == gathered);
    }
}

/// Memory that was used before, as the buffer cache has it.
#[test]
fn cleared_pages_are_zero() {
    for len in [0, 1000, 5 << 20] {
        let mut memory = vec![u32::MAX; len + 2];
        let (before, after) = huge_pages::clear(&mut as_slots(&mut memory)[1..=len]);
        let (before, after) = (before.len(), after.len());
        assert!(before + after <= len);
        if cfg!(target_os = "linux") && len > 1 << 20 {
            assert!(before + after <= 1 << 20, "{before} and {after} are left");
        }
        let (written, rest) = memory.split_at(1 + before);
        let (cleared, last) = rest.split_at(len - before - after);
        assert!(written.iter().chain(last).all(|&word| word == u32::MAX));
        assert!(cleared.iter().all(|&word| word == 0));
    }
}

//! Calls that are refused, and outputs that are left out.

use super::*;
use cubecl::prelude::*;
use cubecl_scan::ScanError;
use cubecl_scan::sort::{SortOutputs, sort, top_k};

#[test]
fn bits_that_keys_do_not_have() {
    let client = client();
    let (int, float) = (i32::elem_type_native(), f32::elem_type_native());
    for (dtype, bits) in [(int, 0), (int, 33), (float, 8)] {
        let (keys, output) = (upload(&client, &[1u32; 8]), sentinel(&client, 8));
        let options = SortOptions {
            bits: Some(bits),
            ..Default::default()
        };
        let outputs = SortOutputs {
            keys: Some(flat(&output, 8)),
            positions: None,
        };
        let refused = sort(
            &client,
            (flat(&keys, 8), dtype),
            outputs,
            [1, 8],
            options,
            launch(),
        );
        assert_eq!(refused, Err(ScanError::KeyBits { bits, dtype }));
        assert_eq!(read::<i32>(&client, output, 8), [i32::MIN + 7; 8]);
    }
}

#[test]
fn more_keys_than_a_line_has() {
    let client = client();
    let (keys, output) = (upload(&client, &[1i32; 8]), sentinel(&client, 10));
    let outputs = SortOutputs {
        keys: Some(flat(&output, 10)),
        positions: None,
    };
    let keys = (flat(&keys, 8), i32::elem_type_native());
    let refused = top_k(&client, keys, outputs, [2, 4], 5, launch());
    assert_eq!(refused, Err(ScanError::TopKTooLarge { k: 5, len: 4 }));
    assert_eq!(read::<i32>(&client, output, 10), [i32::MIN + 7; 10]);
}

/// Keys or positions alone, in a cube and in passes, and neither.
#[test]
fn outputs_that_are_not_asked_for() {
    let client = client();
    let int = i32::elem_type_native();
    let keys: Vec<i32> = (0..600).map(|i| mixed(i) as i32 % 90 - 40).collect();
    for (len, form) in [
        (600, ordered(SortOrder::Ascending)),
        (20, ordered(SortOrder::Ascending)),
        (600, SortForm::Largest(5)),
    ] {
        let (expected_keys, expected) = sorted(&keys, len, form);
        for (with_keys, with_positions) in [(true, false), (false, true), (false, false)] {
            let input = upload(&client, &keys);
            let [keys_out, positions] = [(); 2].map(|()| sentinel(&client, 600));
            let kept = expected.len();
            let outputs = SortOutputs {
                keys: with_keys.then(|| flat(&keys_out, kept)),
                positions: with_positions.then(|| (flat(&positions, kept), int)),
            };
            let (input, lines) = ((flat(&input, 600), int), [600 / len, len]);
            match form {
                SortForm::Whole(options) => {
                    sort(&client, input, outputs, lines, options, small_tile())
                }
                SortForm::Largest(k) => top_k(&client, input, outputs, lines, k, small_tile()),
            }
            .expect("supported");
            let untouched = vec![i32::MIN + 7; kept];
            let wanted = |written, expected: &[i32]| {
                if written {
                    expected.to_vec()
                } else {
                    untouched.clone()
                }
            };
            let found = read::<i32>(&client, keys_out, kept);
            assert_eq!(found, wanted(with_keys, &expected_keys), "{form:?}");
            let found = read::<i32>(&client, positions, kept);
            assert_eq!(found, wanted(with_positions, &expected), "{form:?}");
        }
    }
}

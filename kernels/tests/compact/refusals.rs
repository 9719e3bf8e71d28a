//! Calls that are refused.

use cubecl::prelude::*;
use cubecl_scan::ScanError;
use cubecl_scan::compact::{Emit, compact, expand};
use scan_testing::kernels::*;

#[test]
fn values_and_outputs_of_another_size_than_the_mask() {
    let client = client();
    let (bool, int) = (u32::elem_type_native(), i32::elem_type_native());
    let mask = upload(&client, &[1u32; 64]);
    let (values, output, count) = (
        sentinel(&client, 65),
        sentinel(&client, 65),
        sentinel(&client, 1),
    );
    let compacted = |values_len, output_len| {
        compact(
            &client,
            Some((flat(&values, values_len), int)),
            (flat(&mask, 64), bool),
            flat(&output, output_len),
            flat(&count, 1),
            int,
            Emit::Values,
            launch(),
        )
    };
    let expanded = expand(
        &client,
        flat(&values, 65),
        (flat(&mask, 64), bool),
        flat(&output, 65),
        int,
        launch(),
    );
    for (refused, operand, found) in [
        (compacted(63, 64), "values", 63),
        (compacted(64, 65), "output", 65),
        (expanded, "output", 65),
    ] {
        let expected = ScanError::ShapeMismatch {
            operand,
            expected: vec![64],
            found: vec![found],
        };
        assert_eq!(refused, Err(expected));
    }
    assert_eq!(read::<i32>(&client, output, 65), [i32::MIN + 7; 65]);
}

/// The kernel does not check bounds, and without values no buffer has the output's size.
#[test]
fn values_asked_for_but_not_given() {
    let client = client();
    let int = i32::elem_type_native();
    let (mask, output, count) = (
        upload(&client, &[1u32; 64]),
        sentinel(&client, 64),
        sentinel(&client, 1),
    );
    let refused = compact(
        &client,
        None,
        (flat(&mask, 64), u32::elem_type_native()),
        flat(&output, 64),
        flat(&count, 1),
        int,
        Emit::Values,
        launch(),
    );
    let expected = ScanError::ShapeMismatch {
        operand: "values",
        expected: vec![64],
        found: vec![],
    };
    assert_eq!(refused, Err(expected));
    assert_eq!(read::<i32>(&client, output, 64), [i32::MIN + 7; 64]);
}

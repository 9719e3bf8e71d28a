//! Impossible calls return a structured error, and the device continues to work.

use super::*;
use cubecl_scan::ScanError;

fn refused(shape: &[usize], axis: usize, launch: LaunchOptions) -> ScanError {
    let client = client();
    let view = View::contiguous(shape);
    let data = values(view.elements(), ScanOp::Sum);
    let options = ScanOptions::default();
    let error = device_scan(&client, &data, &view, axis, ScanOp::Sum, options, launch).unwrap_err();
    check(
        &client,
        &data,
        &view,
        0,
        ScanOp::Sum,
        options,
        super::launch(),
    );
    error
}

#[test]
fn axis_out_of_range() {
    let error = refused(&[4, 5], 2, launch());
    assert_eq!(error, ScanError::AxisOutOfRange { axis: 2, rank: 2 });
    assert_eq!(
        error.to_string(),
        "axis 2 is out of range for a tensor of rank 2"
    );
}

#[test]
fn a_row_longer_than_a_tile_for_single_cube() {
    let error = refused(&[1000], 0, small_tile(RoutineKind::SingleCube));
    assert!(
        matches!(&error, ScanError::Refused { routine: RoutineKind::SingleCube, reason } if reason.contains("1000")),
        "{error}"
    );
}

#[test]
fn columns_without_columns_and_rows_with_columns() {
    let error = refused(&[8], 0, small_tile(RoutineKind::Columns));
    assert!(
        matches!(
            error,
            ScanError::Refused {
                routine: RoutineKind::Columns,
                ..
            }
        ),
        "{error}"
    );
    let error = refused(&[8, 8], 0, small_tile(RoutineKind::SinglePass));
    assert!(
        matches!(
            error,
            ScanError::Refused {
                routine: RoutineKind::SinglePass,
                ..
            }
        ),
        "{error}"
    );
}

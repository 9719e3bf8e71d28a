//! Types of keys, and what they hold.

use super::*;

#[test]
fn tiny() {
    let client = client();
    for order in ORDERS {
        check_sort(
            &client,
            "tiny",
            &[3i32, -1, 2, 2, -7, 3],
            6,
            ordered(order),
            small_tile(),
        );
        check_sort(
            &client,
            "tiny",
            &[3f32, -1.0, f32::NAN, -0.0, 0.0, 3.0],
            3,
            ordered(order),
            launch(),
        );
    }
}

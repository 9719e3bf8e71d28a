//! Which adapter the Cube tests run on. `cargo xtask test` runs this first and repeats the line it prints.

mod common;

/// Printed on a line of its own, whatever the harness has written before it.
#[test]
fn adapter() {
    if let Some(cube) = common::devices::cube() {
        println!("\nadapter: {}", cube.adapter);
    }
}

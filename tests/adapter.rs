//! The adapter of the Cube tests. `cargo xtask test` runs this test first and repeats the line that it prints.

/// Prints the adapter on its own line, after whatever the harness has written.
#[test]
fn adapter() {
    if let Some(cube) = scan_testing::tensors::devices::cube() {
        println!("\nadapter: {}", cube.adapter);
    }
}

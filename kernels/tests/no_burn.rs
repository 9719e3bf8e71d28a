//! `cubecl-scan` is for every CubeCL program: none of its features brings a crate of Burn into the build.

use std::process::Command;

#[test]
fn cubecl_scan_does_not_depend_on_burn() {
    let sources = env!("CARGO_MANIFEST_DIR");
    if !std::path::Path::new(sources).exists() {
        scan_testing::unsupported("the sources are on the machine that built this");
        return;
    }
    let tree = Command::new(env!("CARGO"))
        .current_dir(sources)
        .args([
            "tree",
            "--locked",
            "-p",
            "cubecl-scan",
            "--all-features",
            "--target",
            "all",
        ])
        .args(["--edges", "normal,build", "--prefix", "none"])
        .output()
        .expect("cargo starts");
    let errors = String::from_utf8_lossy(&tree.stderr);
    assert!(tree.status.success(), "cargo tree failed: {errors}");

    let tree = String::from_utf8_lossy(&tree.stdout);
    let packages: Vec<&str> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    // These packages show that the tree was read, and read to its end.
    assert_eq!(packages.first(), Some(&"cubecl-scan"));
    for expected in ["cubecl", "cubecl-runtime", "cubecl-wgpu"] {
        assert!(
            packages.contains(&expected),
            "no {expected} among {packages:?}"
        );
    }
    let burn: Vec<&&str> = packages
        .iter()
        .filter(|name| name.starts_with("burn"))
        .collect();
    assert!(burn.is_empty(), "cubecl-scan depends on {burn:?}");
}

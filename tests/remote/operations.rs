//! The list of operations, and the document that names them.

use burn_scan::remote::OPERATIONS;

/// The operation without its kind.
fn key(id: &str) -> &str {
    let name = id
        .strip_prefix("burn-scan/")
        .expect("an operation of this crate");
    let mut kinds = ["float_", "int_", "bool_"].into_iter();
    kinds
        .find_map(|kind| name.strip_prefix(kind))
        .unwrap_or(name)
}

/// What stands in backticks.
fn code(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// docs/support.md names every operation. Operations exist for the dtypes of the methods that call them.
#[test]
fn are_those_of_the_documents() {
    let text = include_str!("../../docs/support.md");
    let named = code(text);
    for operation in OPERATIONS {
        let key = key(operation.id);
        assert!(
            named.contains(&key),
            "docs/support.md does not name `{key}`"
        );
    }
    let table = text.lines().filter(|line| line.starts_with("| `"));
    let rows: Vec<Vec<&str>> = table.map(|line| line.split(" | ").collect()).collect();
    let mut checked = 0;
    for row in rows.iter().filter(|row| row.len() == 6) {
        for called in code(row[1]) {
            let same: Vec<_> = OPERATIONS
                .iter()
                .filter(|it| key(it.id) == called)
                .collect();
            assert!(
                !same.is_empty(),
                "{}: there is no operation `{called}`",
                row[0]
            );
            for kind in row[2].split(", ") {
                let takes = |kind: &str| {
                    let mut kinds = same.iter().map(|it| it.tensors[0].to_lowercase());
                    kinds.any(|it| it == kind)
                };
                let is_kind = ["float", "int", "bool"].contains(&kind);
                assert!(!is_kind || takes(kind), "`{called}` does not take {kind}");
                checked += usize::from(is_kind);
            }
        }
    }
    assert!(
        checked > 40,
        "only {checked} dtypes of operations were checked"
    );
}

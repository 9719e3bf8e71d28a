//! The list of operations that client and server share.

use burn_scan::remote::{OPERATIONS, PROTOCOL};

/// The operations of protocol 4. A change of a row, an argument or an operation's number changes the protocol:
/// raise `PROTOCOL`, and record here what the test prints.
const RECORDED: (u64, &str) = (
    4,
    "\
burn-scan/float_scan: Float; dim usize, op ScanOp, options ScanOptions -> Float
burn-scan/int_scan: Int; dim usize, op ScanOp, options ScanOptions -> Int
burn-scan/float_scan_from: Float Float; dim usize, op ScanOp, options ScanOptions -> Float
burn-scan/int_scan_from: Int Int; dim usize, op ScanOp, options ScanOptions -> Int
burn-scan/float_linear_recurrence: Float Float; dim usize, options ScanOptions -> Float
burn-scan/float_linear_recurrence_from: Float Float Float; dim usize, options ScanOptions -> Float
burn-scan/float_reset_recurrence: Float Float; dim usize, options ScanOptions -> Float
burn-scan/float_recurrence_adjoint: Float Float Float; dim usize, reverse bool -> Float Float
burn-scan/float_recurrence_adjoint_from: Float Float Float Float; dim usize, reverse bool -> Float Float Float
burn-scan/float_segmented_scan: Float Bool; dim usize, op ScanOp, options ScanOptions -> Float
burn-scan/int_segmented_scan: Int Bool; dim usize, op ScanOp, options ScanOptions -> Int
burn-scan/float_extremum_with_indices: Float; dim usize, is_max bool, int_dtype IntDType -> Float Int
burn-scan/int_extremum_with_indices: Int; dim usize, is_max bool, int_dtype IntDType -> Int Int
burn-scan/float_segment_sums: Float Bool; dim usize, reverse bool -> Float
burn-scan/mask_indices_unpadded: Bool; int_dtype IntDType -> Int Int
burn-scan/mask_count: Bool; int_dtype IntDType -> Int
burn-scan/segment_ids: Int; len usize -> Int
burn-scan/segment_starts: Int; len usize, bool_dtype BoolDType -> Bool
burn-scan/float_segment_reduce: Float Int; op ScanOp -> Float
burn-scan/int_segment_reduce: Int Int; op ScanOp -> Int
burn-scan/partition_ranks: Int; num_keys usize, int_dtype IntDType -> Int Int
burn-scan/float_radix_sort: Float; dim usize, order SortOrder -> Float
burn-scan/int_radix_sort: Int; dim usize, order SortOrder -> Int
burn-scan/float_radix_argsort: Float; dim usize, order SortOrder, int_dtype IntDType -> Int
burn-scan/int_radix_argsort: Int; dim usize, order SortOrder, int_dtype IntDType -> Int
burn-scan/float_radix_sort_with_indices: Float; dim usize, order SortOrder, int_dtype IntDType -> Float Int
burn-scan/int_radix_sort_with_indices: Int; dim usize, order SortOrder, int_dtype IntDType -> Int Int
burn-scan/float_radix_topk: Float; k usize, dim usize, int_dtype IntDType -> Float Int
burn-scan/int_radix_topk: Int; k usize, dim usize, int_dtype IntDType -> Int Int
burn-scan/radix_sort_bits: Int; bits usize, order SortOrder, int_dtype IntDType -> Int Int
burn-scan/float_compact_padded: Float Bool; fill bool, int_dtype IntDType -> Float Int
burn-scan/float_front: Float; count usize -> Float
burn-scan/float_expand_by_mask: Float Bool;  -> Float
burn-scan/float_compact_dim_padded: Float Bool; dim usize, int_dtype IntDType -> Float Int
burn-scan/float_expand_dim: Float Bool; dim usize -> Float
burn-scan/float_compact_along: Float Bool; dim usize, int_dtype IntDType -> Float Int
burn-scan/float_repeat_rows: Float Int; total usize -> Float
burn-scan/float_run_lengths_padded: Float; fill bool, int_dtype IntDType -> Float Int Int
burn-scan/float_scatter_to: Float Int Int;  -> Float
burn-scan/float_gather_from: Float Int Int;  -> Float
burn-scan/float_partition: Float Int; num_keys usize, int_dtype IntDType -> Float Int
burn-scan/int_compact_padded: Int Bool; fill bool, int_dtype IntDType -> Int Int
burn-scan/int_front: Int; count usize -> Int
burn-scan/int_expand_by_mask: Int Bool;  -> Int
burn-scan/int_compact_dim_padded: Int Bool; dim usize, int_dtype IntDType -> Int Int
burn-scan/int_expand_dim: Int Bool; dim usize -> Int
burn-scan/int_compact_along: Int Bool; dim usize, int_dtype IntDType -> Int Int
burn-scan/int_repeat_rows: Int Int; total usize -> Int
burn-scan/int_run_lengths_padded: Int; fill bool, int_dtype IntDType -> Int Int Int
burn-scan/int_scatter_to: Int Int Int;  -> Int
burn-scan/int_gather_from: Int Int Int;  -> Int
burn-scan/int_partition: Int Int; num_keys usize, int_dtype IntDType -> Int Int
burn-scan/bool_compact_padded: Bool Bool; fill bool, int_dtype IntDType -> Bool Int
burn-scan/bool_front: Bool; count usize -> Bool
burn-scan/bool_expand_by_mask: Bool Bool;  -> Bool
burn-scan/bool_compact_dim_padded: Bool Bool; dim usize, int_dtype IntDType -> Bool Int
burn-scan/bool_expand_dim: Bool Bool; dim usize -> Bool
burn-scan/bool_compact_along: Bool Bool; dim usize, int_dtype IntDType -> Bool Int
burn-scan/bool_repeat_rows: Bool Int; total usize -> Bool
burn-scan/bool_run_lengths_padded: Bool; fill bool, int_dtype IntDType -> Bool Int Int
burn-scan/bool_scatter_to: Bool Int Int;  -> Bool
burn-scan/bool_gather_from: Bool Int Int;  -> Bool
burn-scan/bool_partition: Bool Int; num_keys usize, int_dtype IntDType -> Bool Int
",
);

#[test]
fn are_those_of_the_protocol() {
    let lines: Vec<String> = OPERATIONS
        .iter()
        .map(|operation| {
            let arguments = operation.arguments.iter();
            let arguments: Vec<_> = arguments.map(|(name, ty)| format!("{name} {ty}")).collect();
            format!(
                "{}: {}; {} -> {}\n",
                operation.id,
                operation.tensors.join(" "),
                arguments.join(", "),
                operation.results.join(" ")
            )
        })
        .collect();
    let found = lines.concat();
    assert!(
        (PROTOCOL, found.as_str()) == RECORDED,
        "protocol {PROTOCOL} has other operations than protocol {}:\n{found}",
        RECORDED.0
    );
}

#[test]
fn have_ids_of_their_own() {
    let mut ids: Vec<_> = OPERATIONS.iter().map(|operation| operation.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), OPERATIONS.len());
}

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

//! The version that client and server compare, and the operations that it stands for.

/// The version of the list of operations and of the encoding of arguments. Client and server must have the same.
///
/// It increases with every change of a row of [`OPERATIONS`](super::OPERATIONS) or of the code of an argument.
///
/// # Example
///
/// ```
/// assert_eq!(burn_scan::remote::PROTOCOL, 4);
/// ```
pub const PROTOCOL: u64 = 4;

#[cfg(test)]
mod tests {
    use super::PROTOCOL;
    use crate::remote::OPERATIONS;

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
    fn operations_are_those_of_the_protocol() {
        let lines: Vec<String> = OPERATIONS
            .iter()
            .map(|operation| {
                let arguments = operation.arguments.iter();
                let arguments: Vec<_> =
                    arguments.map(|(name, ty)| format!("{name} {ty}")).collect();
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
    fn operations_have_ids_of_their_own() {
        let mut ids: Vec<_> = OPERATIONS.iter().map(|operation| operation.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), OPERATIONS.len());
    }
}

//! The parts of a case's name: `OP/PLACE/DTYPE/AxB/REST`, as in `cumsum/flex/f32/1x16777216/dim1`.

/// The operations in the order of the page, with their titles there.
pub(crate) const OPS: [(&str, &str); 19] = [
    ("cumsum", "Cumulative sum: `inclusive_cumsum`"),
    (
        "compact",
        "Compaction: `compact_by_mask`, `compact_by_mask_padded`",
    ),
    ("partition", "Grouping: `partition_by_key`"),
    (
        "compact-along",
        "Compaction of lines: `compact_along_by_mask`",
    ),
    ("segment-reduce", "Totals of packed rows: `segment_reduce`"),
    ("repeat-by-lengths", "Repetition: `repeat_by_lengths`"),
    (
        "run-length-encode",
        "Run-length encoding: `run_length_encode`, `run_length_encode_padded`",
    ),
    ("sort", "Sorts: `radix_sort`"),
    ("argsort", "Positions in order: `radix_argsort`"),
    (
        "sort-pairs",
        "Sorts of keys with a payload: `radix_sort_by_key`",
    ),
    ("topk", "The largest: `radix_topk_with_indices`"),
    ("recurrence", "Linear recurrence: `linear_recurrence`"),
    ("gradient-sum", "Cumulative sum and its gradient"),
    ("gradient-prod", "Cumulative product and its gradient"),
    ("gradient-max", "Cumulative maximum and its gradient"),
    ("gradient-recurrence", "Linear recurrence and its gradients"),
    ("cumsum-installed", "`x.cumsum(dim)` after `install()`"),
    (
        "reverse-installed",
        "`flip`, `cumsum`, `flip` after `install()`",
    ),
    (
        "chain-installed",
        "`(x * a + b).cumsum(dim) * c + d` after `install()`",
    ),
];

/// The places where cases run, with their titles.
pub(crate) const PLACES: [(&str, &str); 2] = [("flex", "Flex"), ("cube", "Cube")];

pub(crate) fn is_known(op: &str) -> bool {
    OPS.iter().any(|(known, _)| *known == op)
}

/// Whether a place has an operation. `install()` takes over Burn's methods on Cube only.
pub(crate) fn exists(op: &str, place: &str) -> bool {
    place == "cube" || !op.ends_with("-installed")
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name<'a> {
    pub(crate) op: &'a str,
    pub(crate) place: &'a str,
    pub(crate) dtype: &'a str,
    pub(crate) shape: Vec<usize>,
    /// What the operation adds: `dim1`, `density0.5`, `keys256`.
    pub(crate) rest: &'a str,
}

impl<'a> Name<'a> {
    pub(crate) fn parse(case: &'a str) -> Option<Self> {
        let mut parts = case.split('/');
        let [op, place, dtype, shape] = std::array::from_fn(|_| parts.next().unwrap_or_default());
        let shape: Result<Vec<usize>, _> = shape.split('x').map(str::parse).collect();
        let name = Self {
            op,
            place,
            dtype,
            shape: shape.ok()?,
            rest: parts.next()?,
        };
        parts.next().is_none().then_some(name)
    }

    pub(crate) fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it is one row. Plots have its length on their horizontal axis.
    pub(crate) fn is_row(&self) -> bool {
        matches!(self.shape[..], [1, _])
    }

    /// The order of the page: f32 first, then by size.
    pub(crate) fn order(&self) -> impl Ord + use<> {
        let op = OPS.iter().position(|(op, _)| *op == self.op);
        let place = PLACES.iter().position(|(place, _)| *place == self.place);
        let dtype = (self.dtype != "f32", self.dtype.to_owned());
        let digits = self.rest.trim_start_matches(|c: char| !c.is_ascii_digit());
        let thousandths = digits.parse().map_or(0, |value: f64| (value * 1e3) as u64);
        (
            op.unwrap_or(OPS.len()),
            place.unwrap_or(PLACES.len()),
            dtype,
            self.elements(),
            self.shape.clone(),
            thousandths,
        )
    }

    /// The part of the name that differs inside a table: `f32 1 × 2^10 dim1`.
    pub(crate) fn label(&self) -> String {
        let shape: Vec<String> = self.shape.iter().map(|&size| size_label(size)).collect();
        format!("{} {} {}", self.dtype, shape.join(" × "), self.rest)
    }
}

/// `2^24` for a power of two with many digits.
fn size_label(size: usize) -> String {
    if size.is_power_of_two() && size > 999 {
        format!("2^{}", size.ilog2())
    } else {
        size.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_five_parts() {
        let name = Name::parse("cumsum/flex/f32/2x2097152/dim1").unwrap();
        assert_eq!((name.op, name.place, name.rest), ("cumsum", "flex", "dim1"));
        assert_eq!(
            (name.shape.as_slice(), name.elements()),
            (&[2, 1 << 21][..], 1 << 22)
        );
        assert_eq!(name.label(), "f32 2 × 2^21 dim1");
        assert!(!name.is_row());
        for other in [
            "scan",
            "cumsum/flex/f32/axb/dim1",
            "a/b/f32/1x2/dim1/more",
            "a/b/f32/1",
        ] {
            assert_eq!(Name::parse(other), None, "{other}");
        }
    }

    #[test]
    fn tables_go_by_operation_place_type_and_size() {
        let sorted = [
            "cumsum/flex/f32/1x1024/dim1",
            "cumsum/flex/f32/1x4096/dim1",
            "cumsum/flex/f16/1x1024/dim1",
            "cumsum/cube/f32/1x1024/dim1",
            "partition/flex/f32/1024/keys8",
            "partition/flex/f32/1024/keys256",
            "novel/flex/f32/1024/keys8",
        ];
        let names = sorted.map(|case| Name::parse(case).unwrap());
        assert!(names.is_sorted_by_key(|name| name.order()));
    }
}

//! The operators of scans. The CPU engine names them too, and is built without Burn where its tests run under valgrind.

/// What a scan accumulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "fusion", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum ScanOp {
    /// Addition. Integers wrap.
    Sum,
    /// Multiplication. Integers wrap.
    Prod,
    /// Running maximum. From a NaN on, every result is NaN.
    Max,
    /// Running minimum. From a NaN on, every result is NaN.
    Min,
    /// The logarithm of the sum of exponentials, for float tensors only. Stable for any range; −∞ where all elements so
    /// far are −∞.
    LogSumExp,
}

impl ScanOp {
    /// All operators. In a call to a remote device an operator's number is its place here, so new ones come last.
    #[cfg(feature = "remote")]
    pub(crate) const ALL: [Self; 5] =
        [Self::Sum, Self::Prod, Self::Max, Self::Min, Self::LogSumExp];

    /// The operator as the kernels name it; none if it does not fold single elements.
    #[cfg(feature = "cubecl-backend")]
    pub(crate) fn of_kernels(self) -> Option<cubecl_scan::ScanOp> {
        match self {
            Self::Sum => Some(cubecl_scan::ScanOp::Sum),
            Self::Prod => Some(cubecl_scan::ScanOp::Prod),
            Self::Max => Some(cubecl_scan::ScanOp::Max),
            Self::Min => Some(cubecl_scan::ScanOp::Min),
            Self::LogSumExp => None,
        }
    }
}

//! What a scan accumulates, and how.

/// What a scan accumulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "fusion", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum ScanOp {
    /// Addition. Integers wrap.
    Sum,
    /// Multiplication. Integers wrap.
    Prod,
    /// Running maximum; once a NaN was met every later result is NaN.
    Max,
    /// Running minimum; once a NaN was met every later result is NaN.
    Min,
}

/// How a scan runs along its dimension. The default is inclusive and forward.
///
/// ```
/// use burn_scan::ScanOptions;
///
/// let options = ScanOptions::default().exclusive().reverse();
/// assert_ne!(options, ScanOptions::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScanOptions {
    pub(crate) exclusive: bool,
    pub(crate) reverse: bool,
}

impl ScanOptions {
    /// `output[i]` leaves element `i` out; the first output is the identity of the operator: 0 for sums, 1 for products, the
    /// lowest value (−∞ for floats) for maxima, the highest (+∞) for minima.
    pub fn exclusive(self) -> Self {
        Self {
            exclusive: true,
            ..self
        }
    }

    /// From the last element towards the first.
    pub fn reverse(self) -> Self {
        Self {
            reverse: true,
            ..self
        }
    }

    /// The same scan in the other direction, which for sums is the adjoint.
    #[cfg(feature = "autodiff")]
    pub(crate) fn reversed(self) -> Self {
        Self {
            reverse: !self.reverse,
            ..self
        }
    }
}

//! The arguments of an operation as the scalars of Burn's `CustomOpIr`.
//!
//! ```text
//! scalars    protocol | argument | argument | …      one scalar each, of one kind each
//! ```
//!
//! Decoding trusts nothing: a scalar that is missing, superfluous, of another kind or meaningless is a [`Fault`].

use super::fault::Fault;
use super::protocol::PROTOCOL;
use crate::{ScanOp, ScanOptions, SortOrder};
use burn::tensor::{BoolDType, IntDType};
use burn_ir::ScalarIr;

/// An argument that is not a tensor.
pub(super) trait Wire: Sized {
    fn encode(&self) -> ScalarIr;

    /// Decodes the argument; `None` for a scalar that [`encode`](Self::encode) never makes.
    fn decode(scalar: ScalarIr) -> Option<Self>;
}

impl Wire for bool {
    fn encode(&self) -> ScalarIr {
        ScalarIr::Bool(*self)
    }

    fn decode(scalar: ScalarIr) -> Option<Self> {
        match scalar {
            ScalarIr::Bool(value) => Some(value),
            _ => None,
        }
    }
}

impl Wire for usize {
    fn encode(&self) -> ScalarIr {
        ScalarIr::UInt(*self as u64)
    }

    fn decode(scalar: ScalarIr) -> Option<Self> {
        match scalar {
            ScalarIr::UInt(value) => value.try_into().ok(),
            _ => None,
        }
    }
}

/// Enumerations travel as these numbers, which do not depend on the order of variants.
macro_rules! codes {
    ($Type:ident: $($Variant:ident = $code:literal),*) => {
        impl Wire for $Type {
            fn encode(&self) -> ScalarIr {
                ScalarIr::UInt(match self {
                    $($Type::$Variant => $code,)*
                })
            }

            fn decode(scalar: ScalarIr) -> Option<Self> {
                match scalar {
                    $(ScalarIr::UInt($code) => Some($Type::$Variant),)*
                    _ => None,
                }
            }
        }
    };
}

codes!(SortOrder: Ascending = 0, Descending = 1);
codes!(IntDType: I64 = 0, I32 = 1, I16 = 2, I8 = 3, U64 = 4, U32 = 5, U16 = 6, U8 = 7);
codes!(BoolDType: Native = 0, U8 = 1, U32 = 2);

/// The place of the operator in [`ScanOp::ALL`].
impl Wire for ScanOp {
    fn encode(&self) -> ScalarIr {
        let place = Self::ALL.iter().position(|op| op == self);
        ScalarIr::UInt(place.expect("ALL has every operator") as u64)
    }

    fn decode(scalar: ScalarIr) -> Option<Self> {
        let place = usize::decode(scalar)?;
        Self::ALL.get(place).copied()
    }
}

/// Bit 0: exclusive; bit 1: reverse.
impl Wire for ScanOptions {
    fn encode(&self) -> ScalarIr {
        ScalarIr::UInt(u64::from(self.exclusive) | u64::from(self.reverse) << 1)
    }

    fn decode(scalar: ScalarIr) -> Option<Self> {
        match scalar {
            ScalarIr::UInt(bits @ 0..4) => Some(Self {
                exclusive: bits & 1 != 0,
                reverse: bits & 2 != 0,
            }),
            _ => None,
        }
    }
}

/// The scalars of a call, read in order.
pub(super) struct Arguments<'a> {
    all: &'a [ScalarIr],
    read: usize,
}

impl<'a> Arguments<'a> {
    /// The scalars after the protocol number, which must be the number of this side.
    pub(super) fn of(all: &'a [ScalarIr]) -> Result<Self, Fault> {
        match all.first() {
            Some(&ScalarIr::UInt(PROTOCOL)) => Ok(Self { all, read: 1 }),
            Some(&ScalarIr::UInt(theirs)) => Err(Fault::Protocol { theirs }),
            _ => Err(Fault::NoProtocol),
        }
    }

    pub(super) fn next<T: Wire>(&mut self, name: &'static str) -> Result<T, Fault> {
        let scalar = *self.all.get(self.read).ok_or(Fault::Missing { name })?;
        self.read += 1;
        T::decode(scalar).ok_or(Fault::Argument { name, scalar })
    }

    /// All scalars have been read.
    pub(super) fn end(self) -> Result<(), Fault> {
        match self.all.len() - self.read {
            0 => Ok(()),
            more => Err(Fault::TooMany { more }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scalar() -> impl Strategy<Value = ScalarIr> {
        prop_oneof![
            (0u64..10).prop_map(ScalarIr::UInt),
            any::<u64>().prop_map(ScalarIr::UInt),
            any::<i64>().prop_map(ScalarIr::Int),
            any::<f64>().prop_map(ScalarIr::Float),
            any::<bool>().prop_map(ScalarIr::Bool),
        ]
    }

    /// A scalar that can be decoded is encoded to the same scalar.
    fn is_exact<T: Wire>(scalar: ScalarIr) -> bool {
        T::decode(scalar).is_none_or(|value| value.encode() == scalar)
    }

    proptest! {
        #[test]
        fn only_what_is_encoded_is_decoded(scalar in scalar()) {
            prop_assert!(is_exact::<bool>(scalar));
            prop_assert!(is_exact::<usize>(scalar));
            prop_assert!(is_exact::<ScanOp>(scalar));
            prop_assert!(is_exact::<ScanOptions>(scalar));
            prop_assert!(is_exact::<SortOrder>(scalar));
            prop_assert!(is_exact::<IntDType>(scalar));
            prop_assert!(is_exact::<BoolDType>(scalar));
        }

        #[test]
        fn reading_never_panics(scalars in prop::collection::vec(scalar(), 0..6)) {
            let read = |scalars| {
                let mut arguments = Arguments::of(scalars)?;
                let dim: usize = arguments.next("dim")?;
                let op: ScanOp = arguments.next("op")?;
                arguments.end()?;
                Ok::<_, Fault>((dim, op))
            };
            if let Ok((dim, op)) = read(&scalars) {
                prop_assert_eq!(scalars, [ScalarIr::UInt(PROTOCOL), dim.encode(), op.encode()]);
            }
        }
    }
}

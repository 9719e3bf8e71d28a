//! The reasons why a server does not run an operation.

use super::protocol::PROTOCOL;
use burn::tensor::Shape;
use burn_ir::{ScalarIr, TensorError};
use thiserror::Error;

/// The fault of a call. The text goes to the server's log.
#[derive(Debug, Error)]
pub(super) enum Fault {
    #[error(
        "the client speaks protocol {theirs} of burn-scan, this server protocol {PROTOCOL} (burn-scan {}): \
         build both with the same version",
        env!("CARGO_PKG_VERSION")
    )]
    Protocol { theirs: u64 },
    #[error("the call does not begin with a protocol number")]
    NoProtocol,
    #[error("the argument `{name}` is missing")]
    Missing { name: &'static str },
    #[error("{scalar:?} is not a value of the argument `{name}`")]
    Argument {
        name: &'static str,
        scalar: ScalarIr,
    },
    #[error("{more} arguments are too many")]
    TooMany { more: usize },
    #[error("there must be {expected} {what}, not {found}")]
    Count {
        what: &'static str,
        expected: usize,
        found: usize,
    },
    #[error("there is no tensor `{name}`")]
    NoTensor { name: &'static str },
    #[error("`{name}` is not a tensor of {kind} numbers")]
    Kind {
        name: &'static str,
        kind: &'static str,
    },
    #[error("a result has the shape {expected:?}; the client expects {found:?}")]
    Result { expected: Shape, found: Shape },
    #[error("{0}")]
    Rule(String),
    /// An earlier fault left this error in place of a tensor.
    #[error("{0}")]
    Inherited(TensorError),
    /// The backend refused.
    #[error("{0}")]
    Panic(String),
}

//! The version that client and server compare.

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

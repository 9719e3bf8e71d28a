//! The destinations of a stable grouping by key. [`digits`](super::digits) computes them.

use super::digits::{Digits, config::DigitConfig};
use crate::ScanError;
use crate::error::{check_outputs, check_types, expect_room};
use crate::scan::LaunchOptions;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// Writes the destination of each key in a stable grouping by keys `0..num_keys` into `destinations`, or −1 for a key
/// out of range. Writes where each group begins into `offsets`: `num_keys + 1` entries, of which the last is the number
/// of keys in range.
///
/// `destinations` is as long as the keys. All tensors are contiguous; `destinations` and `offsets` have the integer
/// type `index`. Nothing waits for the device.
///
/// # Errors
///
/// [`ScanError::UnsupportedType`] if the device cannot hold a type, [`ScanError::InvalidOutput`] and
/// [`ScanError::OverlappingMemory`] for outputs.
///
/// # Panics
///
/// If a tensor is too small.
pub fn partition_ranks(
    client: &Client,
    keys: (TensorBinding, ElemType),
    destinations: TensorBinding,
    offsets: TensorBinding,
    num_keys: usize,
    index: ElemType,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    let dtype = keys.1;
    check_types(client, [dtype, index])?;
    let n: usize = keys.0.shape.iter().product();
    expect_room("keys", &keys.0, n);
    expect_room("destinations", &destinations, n);
    expect_room("offsets", &offsets, num_keys + 1);
    check_outputs(
        &[("keys", &keys.0, dtype.size())],
        &[
            ("destinations", &destinations, index.size()),
            ("offsets", &offsets, index.size()),
        ],
    )?;
    let address_type = keys
        .0
        .required_address_type(1)
        .max(offsets.required_address_type(1));
    let digits = Digits {
        client,
        keys,
        destinations,
        offsets,
        num_keys,
        index,
        address_type,
        elements: n,
        config: DigitConfig::of_grouping(client, &launch, num_keys),
    };
    digits.launch()
}

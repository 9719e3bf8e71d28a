//! The slots of a stable grouping by key: by [`digits`], or by [`key_runs`] on devices that are no card.

use super::{digits, key_runs};
use crate::ScanError;
use crate::error::{check_outputs, check_types, expect_room};
use crate::scan::LaunchOptions;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// For each key its slot in a stable grouping by keys `0..num_keys`, or −1 for a key out of range, into `slots` (as long as the keys); and
/// where each group begins into `offsets` (`num_keys + 1` entries, the last being the number of keys in range). All tensors are
/// contiguous; `slots` and `offsets` have the integer type `index`. Nothing waits for the device. Options other than the default choose the
/// radix sort on every device.
///
/// # Errors
///
/// [`ScanError::UnsupportedType`] where the device cannot hold a type, [`ScanError::InvalidOutput`] and [`ScanError::OverlappingMemory`] of
/// outputs.
///
/// # Panics
///
/// If a tensor is too small.
pub fn key_slots(
    client: &Client,
    keys: (TensorBinding, ElemType),
    slots: TensorBinding,
    offsets: TensorBinding,
    num_keys: usize,
    index: ElemType,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    let dtype = keys.1;
    check_types(client, [dtype, index])?;
    let n: usize = keys.0.shape.iter().product();
    expect_room("keys", &keys.0, n);
    expect_room("slots", &slots, n);
    expect_room("offsets", &offsets, num_keys + 1);
    check_outputs(
        &[("keys", &keys.0, dtype.size())],
        &[
            ("slots", &slots, index.size()),
            ("offsets", &offsets, index.size()),
        ],
    )?;
    let address_type = keys
        .0
        .required_address_type(1)
        .max(offsets.required_address_type(1));
    let outputs = (slots, offsets);
    if key_runs::serves(client, n, num_keys, launch) {
        key_runs::key_slots(client, keys, outputs, num_keys, index, address_type)
    } else {
        digits::key_slots(
            client,
            keys,
            outputs,
            num_keys,
            index,
            address_type,
            &launch,
        )
    }
}

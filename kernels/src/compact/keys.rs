//! A stable grouping by key: the destinations of keys, or values in the order of their keys. [`digits`](super::digits)
//! computes them.

use super::digits::{Digits, config::DigitConfig};
use super::permute::{PermutationShape, scatter_ranks, zero_after};
use crate::ScanError;
use crate::error::{Operand, Typed, check_outputs, check_types};
use crate::scan::LaunchOptions;
use crate::scan::scratch::temporary_tensor;
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
    let offsets = (offsets, index);
    let written = ("destinations", &destinations, index.size());
    let digits = grouping(client, &keys, None, written, &offsets, num_keys, launch)?;
    digits.launch(offsets.0, destinations)
}

/// Groups values by their keys `0..num_keys`, in the order of the input: the values of key 0, those of key 1, and so
/// on. Zeros follow for values whose keys are out of range. `offsets` are those of [`partition_ranks`], with their
/// integer type.
///
/// `values` and `grouped` are as long as the keys. All tensors are contiguous. Nothing waits for the device.
///
/// # Errors
///
/// As [`partition_ranks`].
///
/// # Panics
///
/// If a tensor is too small.
pub fn partition(
    client: &Client,
    keys: (TensorBinding, ElemType),
    values: (TensorBinding, ElemType),
    grouped: TensorBinding,
    offsets: (TensorBinding, ElemType),
    num_keys: usize,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    let moved = Some(&values);
    let written = ("grouped values", &grouped, values.1.size());
    let digits = grouping(client, &keys, moved, written, &offsets, num_keys, launch)?;
    let ((values, dtype), (offsets, index)) = (values, offsets);
    let elements = digits.elements;
    let shape = PermutationShape {
        outer: 1,
        slices: elements,
        destinations: elements,
        inner: 1,
    };
    if digits.is_one_pass() && dtype.size() == size_of::<u32>() {
        digits.move_values(offsets.clone(), values, grouped.clone())?;
        zero_after(client, (offsets, index), grouped, dtype, shape);
        Ok(())
    } else {
        let destinations = temporary_tensor(client, [elements], index);
        digits.launch(offsets.clone(), destinations.clone())?;
        let list = (destinations, index);
        scatter_ranks(client, values, list, offsets, grouped, dtype, shape)
    }
}

/// What both groupings check. `written` is what they write in addition to offsets.
#[track_caller]
fn grouping<'c>(
    client: &'c Client,
    keys: &Typed,
    values: Option<&Typed>,
    (name, written, size): (&'static str, &TensorBinding, usize),
    offsets: &Typed,
    num_keys: usize,
    launch: LaunchOptions,
) -> Result<Digits<'c>, ScanError> {
    let index = offsets.1;
    let values_type = values.map(|(_, dtype)| *dtype);
    check_types(client, [keys.1, index].into_iter().chain(values_type))?;
    let n: usize = keys.0.shape.iter().product();
    let mut inputs: Vec<Operand> = vec![("keys", &keys.0, keys.1.size(), n)];
    inputs.extend(values.map(|(values, dtype)| ("values", values, dtype.size(), n)));
    let offsets_operand = ("offsets", &offsets.0, index.size(), num_keys + 1);
    let address_type = check_outputs(&inputs, &[(name, written, size, n), offsets_operand])?
        // The last tile's places are counted beyond its end.
        .max(keys.0.required_address_type(1));
    Ok(Digits {
        client,
        keys: keys.clone(),
        num_keys,
        index,
        address_type,
        elements: n,
        config: DigitConfig::of_grouping(client, &launch, num_keys),
    })
}

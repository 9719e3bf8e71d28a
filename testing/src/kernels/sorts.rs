//! Sorts on the device, and their expected results.

use super::flat;
use crate::Guarded;
use crate::reference::SortKey;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl_scan::scan::LaunchOptions;
use cubecl_scan::sort::{SortOptions, SortOutputs, sort, top_k};

/// Sorts lines of `len` on the device, or finds their `k` largest keys. Returns keys and positions. All buffers lie
/// between guards, `offset` bytes after an aligned position. The input must not change.
pub fn device_sort<T: CubeElement + Numeric>(
    client: &Client,
    keys: &[T],
    len: usize,
    form: SortForm,
    launch: LaunchOptions,
    offset: usize,
) -> (Vec<T>, Vec<i32>) {
    let lines = keys.len().checked_div(len).unwrap_or(1);
    let kept = match form {
        SortForm::Whole(_) => keys.len(),
        SortForm::Largest(k) => lines * k,
    };
    let (dtype, int) = (T::elem_type_native(), i32::elem_type_native());
    let keys_in = Guarded::new(client, keys, offset);
    let keys_out = Guarded::empty(client, kept * size_of::<T>(), offset);
    let positions = Guarded::empty(client, kept * size_of::<i32>(), offset);
    let input = (flat(&keys_in.handle(), keys.len()), dtype);
    let outputs = SortOutputs {
        keys: Some(flat(&keys_out.handle(), kept)),
        positions: Some((flat(&positions.handle(), kept), int)),
    };
    match form {
        SortForm::Whole(options) => sort(client, input, outputs, [lines, len], options, launch),
        SortForm::Largest(k) => top_k(client, input, outputs, [lines, len], k, launch),
    }
    .expect("supported");
    let after = keys_in.read::<T>(client);
    assert!(T::as_bytes(&after) == T::as_bytes(keys), "the keys changed");
    (keys_out.read(client), positions.read(client))
}

/// What a sort is asked for.
#[derive(Clone, Copy, Debug)]
pub enum SortForm {
    /// Whole lines.
    Whole(SortOptions),
    /// This number of the largest keys of each line.
    Largest(usize),
}

/// Compares [`device_sort`] with the oracle, bit for bit.
pub fn check_sort<T: CubeElement + Numeric + SortKey>(
    client: &Client,
    what: &str,
    keys: &[T],
    len: usize,
    form: SortForm,
    launch: LaunchOptions,
) {
    let (found_keys, found) = device_sort(client, keys, len, form, launch, 0);
    let (expected_keys, expected) = sorted(keys, len, form);
    let context = || {
        format!(
            "{what}, {} in lines of {len}, {form:?}, {launch:?}",
            keys.len()
        )
    };
    let wrong = (0..expected.len()).find(|&i| found[i] != expected[i]);
    if let Some(i) = wrong {
        panic!(
            "{}: position {} instead of {} at {i}, keys {:?} and {:?}",
            context(),
            found[i],
            expected[i],
            found_keys[i],
            expected_keys[i],
        );
    }
    assert!(
        T::as_bytes(&found_keys) == T::as_bytes(&expected_keys),
        "the bits of keys: {}",
        context()
    );
}

/// The expected keys and positions.
pub fn sorted<T: SortKey>(keys: &[T], len: usize, form: SortForm) -> (Vec<T>, Vec<i32>) {
    let (options, kept) = match form {
        SortForm::Whole(options) => (options, len),
        SortForm::Largest(k) => (largest_first(), k),
    };
    let positions = T::sort_positions(keys, len, options);
    let lines = positions.chunks(len.max(1)).enumerate();
    let fronts = lines.flat_map(|(line, order)| order[..kept].iter().map(move |at| (line, *at)));
    fronts
        .map(|(line, at)| (keys[line * len + at], at as i32))
        .unzip()
}

fn largest_first() -> SortOptions {
    SortOptions {
        order: cubecl_scan::sort::SortOrder::Descending,
        bits: None,
    }
}

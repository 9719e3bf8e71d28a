//! Grouping by key without a barrier: a counting sort. Each unit has a chunk of the keys. There is a counter for every
//! key and chunk.
//!
//! ```text
//! launch 1   unit: count the keys of its chunk           → counts [key, chunk], zero where a chunk lacks a key
//! scan       exclusive                                   → the destination of each chunk's first element of each key
//! launch 2   copy the first destination of each key      → offsets
//! launch 3   unit: walk its chunk again; a key's counter is the destination of its next element
//! ```
//!
//! One pass, whatever the number of keys; [`digits`](super::digits) takes one for each four bits of a key. But every
//! counter is in global memory, and neighbouring units read far apart. So this is faster only on software adapters: on
//! lavapipe, 2^20 keys below 256 take an eighth of the digits' time.

use super::offsets::copy_offsets;
use super::plan::offsets_of;
use crate::ScanError;
use crate::checked_index::is_below;
use crate::scan::problem::{elements_before, widest_vector};
use crate::scan::{LaunchOptions, cube_count, scratch, tuning::Tuning};
use cubecl::client::Client;
use cubecl::ir::{AddressType, ElemType};
use cubecl::prelude::*;

/// Units of a cube.
const UNITS: usize = 64;

/// The fewest keys of a chunk, which take a few times as long as starting a unit; and the most. No loop may come near
/// the 65,535 rounds after which some drivers end it.
const CHUNK: usize = 256;
const LONGEST_CHUNK: usize = 1 << 15;

/// Elements of a chunk for each key, so that counters are few compared with keys. On lavapipe, 2^22 keys below 256 take
/// 0.87 of the time with 4.
const ELEMENTS_PER_KEY: usize = 16;

/// Elements that are added to every chunk. With chunks of a power of two, the counters of a unit would share one set of
/// the cache, and so would the keys of neighbouring units. On lavapipe, 2^22 keys below 256 take 0.7 of the time
/// without.
const UNEVEN: usize = 16;

/// The most different keys.
const MAX_KEYS: usize = 1 << 12;

/// The key as an index, or `num_keys` if it is out of range.
#[cube]
pub(super) fn clamped<K: Numeric>(key: K, num_keys: u32) -> u32 {
    let narrow = u32::cast_from(key);
    let valid = is_below::<K, u32>(key, narrow, num_keys);
    select(valid, narrow, num_keys)
}

/// How keys are dealt to units, in vectors.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct KeysPerUnit {
    vectors: usize,
    chunk: usize,
    chunks: usize,
    num_keys: usize,
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn count_keys_kernel<K: Numeric, N: Size>(
    keys: &[Vector<K, N>],
    counts: &mut [u32],
    of: KeysPerUnit,
    #[define(K)] _dtype: ElemType,
) {
    if ABSOLUTE_POS < of.chunks {
        for key in 0..of.num_keys {
            counts[key * of.chunks + ABSOLUTE_POS] = 0u32;
        }
        let first = ABSOLUTE_POS * of.chunk;
        for step in 0..min(of.chunk, of.vectors - first) {
            let own = keys[first + step];
            #[unroll]
            for lane in 0..N::value().comptime() {
                let key = clamped::<K>(own.extract(lane), of.num_keys as u32) as usize;
                if key < of.num_keys {
                    counts[key * of.chunks + ABSOLUTE_POS] += 1u32;
                }
            }
        }
        // Behind the last counter, so that the scan ends with the number of keys in range.
        if ABSOLUTE_POS == 0 {
            counts[of.num_keys * of.chunks] = 0u32;
        }
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn place_keys_kernel<K: Numeric, I: Numeric, N: Size>(
    keys: &[Vector<K, N>],
    key_offsets: &mut [u32],
    destinations: &mut [Vector<I, N>],
    of: KeysPerUnit,
    #[define(K)] _dtype: ElemType,
    #[define(I)] _index: ElemType,
) {
    if ABSOLUTE_POS < of.chunks {
        let first = ABSOLUTE_POS * of.chunk;
        for step in 0..min(of.chunk, of.vectors - first) {
            let own = keys[first + step];
            let mut own_destinations = Vector::<I, N>::new(I::from_int(-1));
            #[unroll]
            for lane in 0..N::value().comptime() {
                let key = clamped::<K>(own.extract(lane), of.num_keys as u32) as usize;
                if key < of.num_keys {
                    let counter = key * of.chunks + ABSOLUTE_POS;
                    let next = key_offsets[counter];
                    key_offsets[counter] = next + 1u32;
                    own_destinations.insert(lane, I::cast_from(next));
                }
            }
            destinations[first + step] = own_destinations;
        }
    }
}

/// Whether this is the better way for the device and the call.
pub(super) fn serves(
    client: &Client,
    elements: usize,
    num_keys: usize,
    launch: LaunchOptions,
) -> bool {
    // A caller who tunes tiles wants tiles.
    launch == LaunchOptions::default()
        && Tuning::of(client, &launch).per_unit
        && (1..=MAX_KEYS).contains(&num_keys)
        && elements > 0
}

/// [`partition_ranks`](super::partition_ranks()) of keys that are [served](serves), after all checks.
pub(super) fn partition_ranks(
    client: &Client,
    (keys, dtype): (TensorBinding, ElemType),
    (destinations, offsets): (TensorBinding, TensorBinding),
    num_keys: usize,
    index: ElemType,
    address_type: AddressType,
) -> Result<(), ScanError> {
    let elements: usize = keys.shape.iter().product();
    let begin = |tensor: &TensorBinding, size| elements_before(tensor.handle.offset_start, size);
    let common_alignment =
        elements | begin(&keys, dtype.size()) | begin(&destinations, index.size());
    let widths = client.io_optimized_vector_sizes(dtype.size().max(index.size()));
    let lanes = widest_vector(widths, common_alignment);
    let vectors = elements / lanes;
    let chunk = (num_keys * ELEMENTS_PER_KEY).clamp(CHUNK, LONGEST_CHUNK) + UNEVEN;
    let chunk = chunk / lanes;
    let chunks = vectors.div_ceil(chunk);
    let counters = num_keys * chunks + 1;
    let words = || scratch::temporary(client, counters * size_of::<u32>());
    let (counts, key_offsets) = (words(), words());
    let of = || KeysPerUnitLaunch::new(vectors, chunk, chunks, num_keys);
    let cube_dim = CubeDim::new_1d(UNITS as u32);
    let cubes = |units: usize| cube_count(client, units.div_ceil(UNITS));
    // SAFETY: one counter per key and chunk, and one more; a chunk ends with the keys, and only keys in range have a
    // counter.
    unsafe {
        count_keys_kernel::launch_unchecked(
            client,
            cubes(chunks),
            cube_dim,
            address_type,
            lanes,
            keys.clone().into_buffer_arg(),
            BufferArg::from_raw_parts(counts.clone(), counters),
            of(),
            dtype,
        );
    }
    offsets_of(client, &counts, &key_offsets, counters)?;
    copy_offsets(
        client,
        &key_offsets,
        offsets,
        (num_keys, chunks),
        index,
        address_type,
    );
    // SAFETY: as above; there is a destination for each element.
    unsafe {
        place_keys_kernel::launch_unchecked(
            client,
            cubes(chunks),
            cube_dim,
            address_type,
            lanes,
            keys.into_buffer_arg(),
            BufferArg::from_raw_parts(key_offsets, counters),
            destinations.into_buffer_arg(),
            of(),
            dtype,
            index,
        );
    }
    Ok(())
}

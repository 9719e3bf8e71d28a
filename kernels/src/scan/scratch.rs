//! The words through which tiles communicate, kept from launch to launch.
//!
//! A launch recognises its own words by its epoch (see [`tile_state`](super::components::tile_state)). So the device
//! clears the buffer once per 65,535 launches, and does not allocate it for each call. There is one buffer for each
//! device and stream. Launches of one stream run one after the other, so they can share it.

use super::components::tile_state::{HEADER_WORDS, TileWordsLaunch, epoch_bits_of};
use super::scratch_cache::{self, Made, ScratchCache};
use super::{ScanOptions, clear, scan};
use crate::{ScanError, ScanOp, testing};
use cubecl::client::Client;
use cubecl::dry_run::RealRun;
use cubecl::ir::{ElemType, features::AtomicUsage};
use cubecl::prelude::*;
use cubecl::server::Handle;
use cubecl::std::tensor::TensorHandle;
use cubecl_common::device::ServiceId;
use cubecl_environment::stream::StreamId;
use std::sync::LazyLock;

type Key = (ServiceId, StreamId);

static CACHE: LazyLock<ScratchCache<Key, Handle>> = LazyLock::new(Default::default);

/// Why tiles cannot look back on this device, or in its present state. `None` if they can.
pub(crate) fn unsupported_reason(client: &Client) -> Option<&'static str> {
    let word = Type::atomic(u32::elem_type_native());
    let usage = client.properties().atomic_type_usage(word);
    if client.name().contains("spirv") {
        return Some(
            "drivers crash on such kernels from CubeCL's SPIR-V compiler: use WGSL, Burn's feature `wgpu`",
        );
    }
    unsupported_reason_of(|atomic| usage.contains(atomic), client.is_capturing())
}

fn unsupported_reason_of(
    offers: impl Fn(AtomicUsage) -> bool,
    is_capturing: bool,
) -> Option<&'static str> {
    let needed = [AtomicUsage::LoadStore, AtomicUsage::Add];
    if !needed.into_iter().all(offers) {
        Some("the device lacks 32-bit atomic load, store and add")
    } else if is_capturing {
        Some("a captured graph would replay the words of its first run")
    } else {
        None
    }
}

/// Why a buffer for this many words cannot be bound on this device. `None` if it can.
pub(crate) fn too_many_words(client: &Client, words: usize) -> Option<String> {
    let most = client.properties().memory.max_page_size;
    let bytes = (scratch_cache::rounded(HEADER_WORDS + words) * size_of::<u32>()) as u64;
    (bytes > most).then(|| {
        format!("its tiles communicate through {bytes} bytes, and the device binds {most} at most")
    })
}

/// A contiguous tensor through which one launch passes data to the next. Its buffer can be bound even if it has no
/// elements.
pub(crate) fn temporary_tensor<const D: usize>(
    client: &Client,
    shape: [usize; D],
    dtype: ElemType,
) -> TensorBinding {
    let bytes = (shape.iter().product::<usize>() * dtype.size()).max(64);
    let handle = match testing::given() {
        Some(scratch) => scratch.bytes(client, bytes),
        None => client.empty(bytes),
    };
    TensorHandle::new_contiguous(shape, handle, dtype).binding()
}

/// 32-bit words for the same purpose, at least one.
pub(crate) fn temporary_words(client: &Client, len: usize) -> TensorBinding {
    temporary_tensor(client, [len.max(1)], u32::elem_type_native())
}

/// The exclusive sums of the counts of each row.
pub(crate) fn prefixes_of(
    client: &Client,
    counts: &TensorBinding,
    prefixes: &TensorBinding,
    [rows, of_row]: [usize; 2],
) -> Result<(), ScanError> {
    let word = u32::elem_type_native();
    let in_rows = |words: &TensorBinding| TensorBinding {
        strides: [of_row, 1].into(),
        shape: [rows, of_row].into(),
        ..words.clone()
    };
    let (counts, prefixes) = (in_rows(counts), in_rows(prefixes));
    let options = ScanOptions {
        exclusive: true,
        reverse: false,
    };
    scan(client, counts, prefixes, 1, word, ScanOp::Sum, options)
}

/// A buffer of at least `words` words after its header for `[rows, tiles of a row]`, and the layout of the launch.
pub(crate) fn take(
    client: &Client,
    words: usize,
    [rows, per_row]: [usize; 2],
    spin_limit: u32,
) -> (BufferArg, TileWordsLaunch) {
    let words = words + HEADER_WORDS;
    let (handle, words, epoch) = if let Some(scratch) = testing::given() {
        let (handle, epoch) = scratch.words(client, HEADER_WORDS, words);
        (handle, words, epoch)
    } else {
        let key = (client.service_id(), stream_of(client));
        let scratch = CACHE.take(key, words, |words| cleared(client, words));
        (scratch.buffer, scratch.words, scratch.epoch)
    };
    // SAFETY: the handle was made with this many words.
    let arg = unsafe { BufferArg::from_raw_parts(handle, words) };
    let bits = epoch_bits_of(epoch);
    let layout = TileWordsLaunch::new(rows * per_row, per_row, bits, spin_limit);
    (arg, layout)
}

/// The stream of a launch by `client`: the one that the client is pinned to, or else the current one. A client tells
/// only the stream of an allocation, so this function makes an allocation. It does not wait for the device's thread.
fn stream_of(client: &Client) -> StreamId {
    client.empty(size_of::<u32>()).stream
}

/// This many words of zeros. The device's thread notes on the buffer whether allocation or the launch failed, and this
/// function asks for it: a buffer in the cache must really be cleared.
fn cleared(client: &Client, words: usize) -> Made<Handle> {
    let word = u32::elem_type_native();
    let handle = client.empty(words * word.size());
    let tensor = TensorHandle::new_contiguous([words], handle.clone(), word).binding();
    // What a dry run leaves in the cache is for later launches.
    let _real_run = RealRun::new();
    // SAFETY: the buffer was made with this many words.
    unsafe { clear(client, &(tensor, word), words) };
    match client.check([&handle]) {
        Ok(()) => Made::Cleared(handle),
        Err(_) => Made::Broken(handle),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_chained_by_loads_stores_and_additions() {
        assert_eq!(unsupported_reason_of(|_| true, false), None);
        for lacking in [AtomicUsage::LoadStore, AtomicUsage::Add] {
            let reason = unsupported_reason_of(|atomic| atomic != lacking, false);
            assert!(reason.expect("not enough").contains("atomic"));
        }
        let reason = unsupported_reason_of(|_| true, true);
        assert!(reason.expect("a replay").contains("captured"));
    }

    #[cfg(feature = "wgpu")]
    fn memory(client: &Client, words: usize) -> impl PartialEq + std::fmt::Debug + use<> {
        match take(client, words, [1, 1], 1).0 {
            BufferArg::Handle { handle } => handle.handle.memory.id(),
            BufferArg::Alias { .. } => unreachable!("made of a handle"),
        }
    }

    #[cfg(feature = "wgpu")]
    fn pinned(stream: StreamId) -> Client {
        let mut client = cubecl::Device::default().client();
        // SAFETY: nothing is launched with it.
        unsafe { client.set_stream(stream) };
        client
    }

    #[cfg(feature = "wgpu")]
    #[test]
    fn clients_pinned_to_other_streams_have_words_of_their_own() {
        let [one, other] = [StreamId::allocate(), StreamId::allocate()].map(pinned);
        let words = memory(&one, 1);
        assert_eq!(memory(&one, 1), words, "kept");
        assert_ne!(memory(&other, 1), words, "another stream of this thread");
        assert_ne!(memory(&cubecl::Device::default().client(), 1), words);
        let elsewhere = std::thread::scope(|scope| scope.spawn(|| memory(&one, 1)).join());
        assert_eq!(elsewhere.expect("no panic"), words, "not the thread");
    }
}

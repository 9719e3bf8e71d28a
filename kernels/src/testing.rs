//! What the tests of this crate and of `burn-scan` share: guard regions around buffers, the tuning in use, hashes of
//! results, and notes on tests that are skipped.
//!
//! ```text
//! buffer     │ sentinels │ data │ sentinels │
//! binding                ├─────────────────→┤
//! ```
//!
//! The binding includes the guard after the data. Drivers drop writes beyond a binding, so a binding that ended with
//! the data would hide an overrun.

use crate::scan::components::tile_state::{HALVES, block_words};
use crate::scan::{strategy::LaunchOptions, tuning::Tuning};
use cubecl::CubeElement;
use cubecl::client::Client;
use cubecl::server::Handle;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Write;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Mutex;

/// The layout and the sealing of words, for the model checker of the protocol. These functions of kernels run on the
/// host as well.
pub mod words {
    pub use crate::scan::components::tile_state::{
        FIRST_EPOCH, HALF_BITS, HALVES, HEADER_WORDS, LAST_EPOCH, aggregate_at, block_words,
        epoch_after, epoch_bits_of, fallback_at, foreign, half_of, is_sealed, joined, launch_words,
        prefix_at, seal,
    };
}

const SENTINEL: u8 = 0xa5;

/// The bytes of a guard: a full tile of the largest element, and a multiple of any device's alignment.
const GUARD: usize = 1 << 15;

static SENTINELS: [u8; GUARD] = [SENTINEL; GUARD];

/// Data between two guards.
#[derive(Clone, Debug)]
pub struct Guarded {
    whole: Handle,
    data: Range<usize>,
}

impl Guarded {
    /// `data`, `offset` bytes after an aligned position.
    pub fn new<T: CubeElement>(client: &Client, data: &[T], offset: usize) -> Self {
        Self::from_bytes(client, T::as_bytes(data), offset)
    }

    /// Room for `bytes` bytes, filled with sentinels.
    pub fn empty(client: &Client, bytes: usize, offset: usize) -> Self {
        Self::from_bytes(client, &vec![SENTINEL; bytes], offset)
    }

    fn from_bytes(client: &Client, data: &[u8], offset: usize) -> Self {
        let range = GUARD + offset..GUARD + offset + data.len();
        let mut bytes = vec![SENTINEL; (range.end + GUARD).next_multiple_of(GUARD)];
        bytes[range.clone()].copy_from_slice(data);
        Self {
            whole: client.create_from_slice(&bytes),
            data: range,
        }
    }

    /// The data as a kernel binds it.
    pub fn handle(&self) -> Handle {
        self.whole.clone().offset_start(self.data.start as u64)
    }

    /// The data now.
    ///
    /// # Panics
    ///
    /// If a guard has been overwritten.
    pub fn read<T: CubeElement + Clone>(&self, client: &Client) -> Vec<T> {
        let bytes = client.read_one(self.whole.clone()).expect("readable");
        let broken = |range: Range<usize>| {
            let intact = |guard: &[u8]| guard == &SENTINELS[..guard.len()];
            let guards = || bytes[range.clone()].chunks(GUARD);
            // Bytes are compared one by one only in a guard that is broken.
            let found = (!guards().all(intact)).then(|| range.clone());
            found.and_then(|mut range| range.find(|&at| bytes[at] != SENTINEL))
        };
        if let Some(at) = broken(0..self.data.start) {
            panic!("written {} bytes before the data", self.data.start - at);
        }
        if let Some(at) = broken(self.data.end..bytes.len()) {
            panic!("written {} bytes past the data", at - self.data.end);
        }
        T::from_bytes(&bytes[self.data.clone()]).to_vec()
    }
}

/// The epoch of every launch under [`watch`].
pub const EPOCH: u32 = 3;

struct Watch {
    stale: Rc<dyn Fn(usize) -> u32>,
    seen: Vec<Guarded>,
}

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// Runs `launches` with their scratch memory between guards, and returns that memory. `stale` gives each word of tiles
/// its content before the first launch, as an earlier launch might have left it.
pub fn watch(stale: impl Fn(usize) -> u32 + 'static, launches: impl FnOnce()) -> Vec<Guarded> {
    let stale = Rc::new(stale);
    let seen = Vec::new();
    WATCH.set(Some(Watch { stale, seen }));
    launches();
    WATCH.take().map_or_else(Vec::new, |watch| watch.seen)
}

/// Scratch memory between guards, if this thread is [watched](watch).
pub(crate) fn guarded_bytes(client: &Client, bytes: usize) -> Option<Handle> {
    guarded(|_| Guarded::empty(client, bytes, 0))
}

/// The words of tiles between guards, and the epoch, if this thread is [watched](watch).
pub(crate) fn guarded_words(client: &Client, header: usize, words: usize) -> Option<(Handle, u32)> {
    let state = |stale: Rc<dyn Fn(usize) -> u32>| {
        let values = (0..words - header).map(|word| stale(word));
        let words: Vec<u32> = std::iter::repeat_n(0, header).chain(values).collect();
        Guarded::new(client, &words, 0)
    };
    Some((guarded(state)?, EPOCH))
}

fn guarded(make: impl FnOnce(Rc<dyn Fn(usize) -> u32>) -> Guarded) -> Option<Handle> {
    WATCH.with_borrow_mut(|watch| {
        let watch = watch.as_mut()?;
        let guarded = make(watch.stale.clone());
        watch.seen.push(guarded.clone());
        Some(guarded.handle())
    })
}

/// Says once what a test skips. It writes to standard error itself, because the harness hides what a passing test
/// prints.
pub fn unsupported(what: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let is_new = SAID
        .lock()
        .is_ok_and(|mut said| said.insert(what.to_owned()));
    if is_new {
        let _ = std::io::stderr().write_all(format!("\nUnsupported: {what}\n").as_bytes());
    }
}

/// What determines the order of a float sum: the class of the device, the units of a cube, and the vectors of a unit.
pub fn tile_shape(client: &Client, launch: &LaunchOptions) -> (&'static str, usize, usize) {
    let tuning = Tuning::of(client, launch);
    let class = if tuning.plane {
        "planes"
    } else {
        "shared-memory"
    };
    (class, tuning.units, tuning.vectors)
}

/// For states of one word: which half of a block's prefix a word after the header is, or `None` if it is not of a
/// prefix.
pub fn prefix_half(
    client: &Client,
    launch: &LaunchOptions,
) -> impl Fn(usize) -> Option<usize> + use<> {
    let block = Tuning::of(client, launch).block;
    let prefix = 2 * HALVES * block;
    move |word| {
        (word % block_words(block, 1))
            .checked_sub(prefix)
            .filter(|half| *half < HALVES)
    }
}

/// FNV-1a of the bits, as results are recorded.
pub fn digest(values: &[f32]) -> u64 {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

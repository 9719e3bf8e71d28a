//! Guard regions around buffers.
//!
//! ```text
//! buffer     │ sentinels │ data │ sentinels │
//! binding                ├─────────────────→┤
//! ```
//!
//! The binding includes the guard after the data. Drivers drop writes beyond a binding, so a binding that ended with
//! the data would hide an overrun.

use cubecl::CubeElement;
use cubecl::client::Client;
use cubecl::server::Handle;
use cubecl_scan::testing::{Scratch, with_scratch};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

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

/// Scratch memory between guards.
struct Watched<F> {
    stale: F,
    seen: RefCell<Vec<Guarded>>,
}

impl<F> Watched<F> {
    fn note(&self, guarded: Guarded) -> Handle {
        let handle = guarded.handle();
        self.seen.borrow_mut().push(guarded);
        handle
    }
}

impl<F: Fn(usize) -> u32> Scratch for Watched<F> {
    fn bytes(&self, client: &Client, bytes: usize) -> Handle {
        self.note(Guarded::empty(client, bytes, 0))
    }

    fn words(&self, client: &Client, header: usize, words: usize) -> (Handle, u32) {
        let values = (0..words - header).map(&self.stale);
        let words: Vec<u32> = std::iter::repeat_n(0, header).chain(values).collect();
        (self.note(Guarded::new(client, &words, 0)), EPOCH)
    }
}

/// Runs `launches` with their scratch memory between guards, and returns that memory. `stale` gives each word of tiles
/// its content before the first launch, as an earlier launch might have left it.
pub fn watch(stale: impl Fn(usize) -> u32 + 'static, launches: impl FnOnce()) -> Vec<Guarded> {
    let seen = RefCell::default();
    let watched = Rc::new(Watched { stale, seen });
    with_scratch(watched.clone(), launches);
    watched.seen.take()
}

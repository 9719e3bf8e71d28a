//! What only tests reach: the layout of words, the tuning in use, and where launches take scratch memory from.

use crate::scan::components::tile_state::{HALVES, block_words};
use crate::scan::{strategy::LaunchOptions, tuning::Tuning};
use cubecl::client::Client;
use cubecl::server::Handle;
use std::cell::RefCell;
use std::rc::Rc;

/// The layout and the sealing of words, for the model checker of the protocol. These functions of kernels run on the
/// host as well.
pub mod words {
    pub use crate::scan::components::tile_state::{
        FIRST_EPOCH, HALF_BITS, HALVES, HEADER_WORDS, LAST_EPOCH, aggregate_at, block_words,
        epoch_after, epoch_bits_of, fallback_at, foreign, half_of, is_sealed, joined, launch_words,
        prefix_at, seal,
    };
}

/// Scratch memory that a test gives to launches.
pub trait Scratch {
    /// Room for `bytes` bytes.
    fn bytes(&self, client: &Client, bytes: usize) -> Handle;
    /// Words of which the first are a `header` of zeros, and the epoch of the launch.
    fn words(&self, client: &Client, header: usize, words: usize) -> (Handle, u32);
}

thread_local! {
    static GIVEN: RefCell<Option<Rc<dyn Scratch>>> = const { RefCell::new(None) };
}

/// Runs `launches` with scratch memory from `scratch`, on this thread.
pub fn with_scratch(scratch: Rc<dyn Scratch>, launches: impl FnOnce()) {
    GIVEN.set(Some(scratch));
    launches();
    GIVEN.set(None);
}

/// What gives this thread scratch memory, if a test does.
pub(crate) fn given() -> Option<Rc<dyn Scratch>> {
    GIVEN.with_borrow(Clone::clone)
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
    let block = Tuning::of(client, launch).lookback.block;
    let prefix = 2 * HALVES * block;
    move |word| {
        (word % block_words(block, 1))
            .checked_sub(prefix)
            .filter(|half| *half < HALVES)
    }
}

//! The hook into Burn's fusion. It runs Burn's own `cumsum`, `cumprod`, `cummax` and `cummin` on this crate's kernels.
//!
//! `docs/fusion.md` explains how Burn plans, what this hook does at each step, and its limits. In short:
//!
//! - On a fused device an operation is queued, not run. A *search* feeds the queue to *fusers*, one operation at a
//!   time, until all of them report `Closed`. The fuser that is ready with the best score above zero turns the
//!   operations that it took into one fused operation. Without such a fuser the head of the queue is *settled unfused*:
//!   each operation runs Burn's own kernel. The next search starts after it. Burn caches plans by the relative form of
//!   their operations, and replays them on other sizes.
//! - [`provider`] replaces Burn's fusers in its registry by one [`ScanFuser`](fuser), which [contains them](mirror).
//!   Without a scan it does what they would do. With one it *claims* the operations up to the scan.
//! - *The trap.* Burn settles the operation that closed the last fuser along with the head. In `(x + 1).cumsum(0)` the
//!   scan closes the element-wise fuser, and one element-wise operation scores zero. So both run unfused, and no search
//!   starts with the scan. A claim therefore contains what precedes the scan, unless a built-in fuser gains from it.
//! - *The other trap.* Independent operations form *blocks*, and the search goes on while a block is open. A closed
//!   block still receives operations. A sync runs unfused the operations that the block's best fuser does not take. So
//!   with several blocks a claim goes up to the last scan of its block, and is [planned](plan) inside as Burn would
//!   plan it.
//! - *Reversals.* `flip`, scan, `flip` along one axis is one reverse scan. Burn writes the gradient of `cumsum` in this
//!   way, and that of `cumprod` with slices of step −1. After a reversal the fuser waits for the next operation, where
//!   Burn would run the reversal at once. [`hold`] explains why such a wait changes no plan of a graph without scans.
//! - *Load and store.* A scan computes the element-wise operations around it in its own load and store.
//!   [`load_store`] plans them with Burn's trace engine, as Burn does around a reduction. [`fused`] runs them: the
//!   kernels of the scan take them as their [argument](args). A second plan without them serves the calls that do not
//!   suit (strided tensors, nothing to scan).

mod args;
mod fused;
mod fuser;
mod hold;
mod load_store;
mod mirror;
mod operation;
mod pattern;
mod plan;
mod provider;
#[cfg(test)]
mod sample;

pub(crate) use provider::{register, replace_builtins};

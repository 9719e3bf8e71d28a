//! The hook into Burn's fusion: Burn's own `cumsum`, `cumprod`, `cummax` and `cummin` on this crate's kernels.
//!
//! # How Burn plans
//!
//! On a fused device an operation is queued, not run. Every *fuser* of Burn's registry is fed the queue one operation
//! at a time until all of them report `Closed`; then the fuser that is ready with the best score above zero turns the
//! operations it took into one fused operation, and the search starts again behind them. With no such fuser the head
//! of the queue is settled *unfused*: each of its operations runs Burn's own kernel. Plans are cached by the relative
//! form of their operations and replayed on other sizes. [`provider`] adds one more fuser to that search.
//!
//! # The trap
//!
//! Settling takes along the operation that closed the last fuser. In `(x + 1).cumsum(0)` the addition opens Burn's
//! element-wise fuser and the scan closes it; one element-wise operation alone scores zero, so *both* are settled
//! unfused, and a fuser that waits for a scan at the head of a search never gets to see this one. The same happens
//! behind `ones()`, a bare `matmul`, a bare `sum_dim`.
//!
//! So [`ScanFuser`](fuser) carries a [copy of every built-in fuser](mirror) and is open exactly while one of them is:
//!
//! ```text
//! queue:       op  op  ..  op  CumSum                   (op..: whatever keeps a built-in fuser open)
//! the scan can load op..op?     yes: all are claimed together, with the built-in's score and 1
//! built-in pays (score > 0)?    yes: it takes its operations, the scan heads the next search, and is claimed there
//!                               no:  op..op and the scan are claimed together, with score 1
//! ```
//!
//! # The other trap
//!
//! Independent operations form *blocks*, and a search goes on while any block is open. A closed block is fed all the
//! same; what its best fuser does not take is its tail, and at a sync the tails run unfused. A scan in a tail would be
//! on Burn's kernel. In a search of several blocks a block is therefore claimed up to its last scan, with a score above
//! the built-in fusers', and [planned](plan) inside: built-in optimizations for what they gain from, the fallback for
//! the rest, exactly the work Burn would have done in searches of its own.
//!
//! A graph without scans is planned as if this fuser were absent, up to the wait described next.
//!
//! # Reversals
//!
//! `flip`, scan, `flip` along the scanned axis is one reverse scan: Burn's gradient of `cumsum` is written so, and its
//! gradient of `cumprod` with slices of step −1. To see the whole of it the fuser has to wait on a reversal for the
//! operation behind it, where Burn would have run the reversal at once; [`hold`] tells how the wait is kept from
//! changing the plan of a graph that only flips.
//!
//! # Load and store
//!
//! Element-wise operations right in front of a scan and right behind it are computed in its own load and store: a
//! [`chain`] is planned as one kernel's work with Burn's trace engine, as Burn itself does around a reduction, and
//! [run](fused) by the kernels of [`walk`]. The fuser stays open behind a claimed scan as long as the very next
//! operation of the stream still fits. Where a call turns out not to suit those kernels (strided tensors, nothing to scan),
//! it is run by a second plan without them, made along with the first.

mod chain;
mod fused;
mod fuser;
mod hold;
mod lines;
mod mirror;
mod operation;
mod pattern;
mod plan;
mod provider;
#[cfg(test)]
mod sample;
mod walk;

pub(crate) use provider::register;

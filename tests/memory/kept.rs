//! A small result holds little memory, however large its source, whether or not somebody waits for the count.

use burn::tensor::{Bool, Device, Int, Tensor, read_sync};
use burn_scan::prelude::*;

use crate::counted::measured;

const N: usize = 1 << 22;

/// What a result of a few elements may hold.
const LITTLE: usize = 64 << 10;

fn values() -> Tensor<1> {
    Tensor::ones([N], &Device::flex())
}

/// A mask with one true.
fn mask() -> Tensor<1, Bool> {
    let at = Tensor::<1, Int>::arange(0..N as i64, &Device::flex());
    at.equal_scalar(12_345)
}

/// The call gets its inputs, and nobody else holds them.
#[track_caller]
fn holds_little<R>(call: impl FnOnce() -> R) {
    let held = measured(call).held;
    assert!(held < LITTLE, "{held} bytes are held");
}

processes! {
    fn compacted_elements() {
        holds_little(|| values().compact_by_mask(mask()));
        holds_little(|| read_sync(values().compact_by_mask_async(mask())));
    }

    fn compacted_slices() {
        let rows = || values().reshape([N / 2, 2]);
        let mask = || mask().slice(0..N / 2);
        holds_little(|| rows().compact_dim_by_mask(mask(), 0));
        holds_little(|| read_sync(rows().compact_dim_by_mask_async(mask(), 0)));
    }

    fn positions() {
        holds_little(|| mask().compact_indices());
        holds_little(|| read_sync(mask().compact_indices_async()));
        holds_little(|| mask().compact_argwhere());
        holds_little(|| read_sync(mask().compact_argwhere_async()));
    }

    fn results_of_a_given_size() {
        let all = || mask().bool_not();
        holds_little(|| values().compact_by_mask_into(mask(), 3));
        holds_little(|| values().compact_by_mask_into(all(), 3));
        holds_little(|| mask().compact_indices_padded(3, -1));
        holds_little(|| mask().compact_argwhere_padded(3, -1));
    }

    fn states_of_chunks() {
        holds_little(|| {
            let mut sums = RunningScan::new(0, ScanOp::Sum, ScanOptions::default());
            sums.next(values());
            sums
        });
        holds_little(|| {
            let mut largest = RunningScan::new(0, ScanOp::Max, ScanOptions::default());
            largest.next(values().int());
            largest
        });
        holds_little(|| {
            let mut recurrence = RunningRecurrence::new(0);
            recurrence.next(values(), values());
            recurrence
        });
    }

    fn states_of_recurrences() {
        let options = RecurrenceOptions::default;
        holds_little(|| values().linear_recurrence_with_state(values(), 0, options()).1);
    }

    fn gradients_of_broadcasts() {
        let device = Device::flex().autodiff();
        holds_little(|| {
            let decay = Tensor::<1>::ones([1], &device).require_grad();
            let states = Tensor::ones([N], &device).linear_recurrence(decay.clone(), 0);
            decay.grad(&states.sum().backward())
        });
    }

    fn runs() {
        holds_little(|| values().run_length_encode());
        holds_little(|| read_sync(values().run_length_encode_async()));
    }

    /// This shows that a view would be noticed.
    fn a_view_holds_its_buffer() {
        assert!(measured(|| values().slice(0..1)).held > N);
    }
}

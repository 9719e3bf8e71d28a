//! Burn writes some gradients with reversed scans. They run on this crate's kernels, although no model mentions
//! this crate.

use crate::fusion_support::{Host, factors, floats, hooked_device, planned};
use cubecl_scan::ScanOp;

processes! {
    /// The gradient of a sum of prefix sums counts, for each element, the prefixes that contain it.
    fn cumsum_backward_is_one_reverse_scan() {
        let Some(device) = hooked_device() else {
            return;
        };
        let x = floats(&device.autodiff(), [200]).require_grad();
        let ((), forward_and_backward) = planned(&x.device(), || ());
        assert_eq!(forward_and_backward, "");

        for _ in 0..2 {
            let (y, forward) = planned(&x.device(), || (x.clone() * 2.0).cumsum(0));
            assert_eq!(forward, "Scan(MulScalar CumSum)");
            let (gradients, backward) = planned(&x.device(), || y.backward());
            assert_eq!(backward, "Scan(Ones Flip CumSum Flip) _(MulScalar)");

            let gradient = x.grad(&gradients).expect("x is tracked");
            let expected = Host::of(x.clone().inner())
                .map(|_| 1.0)
                .cumsum(0)
                .flip(0)
                .map(|v| v * 2.0);
            Host::of(gradient).assert_close(&expected);
        }
    }
}

processes! {
    fn cumsum_backward_with_a_weighted_loss() {
        let Some(device) = hooked_device() else {
            return;
        };
        let x = floats(&device.clone().autodiff(), [9, 50]).require_grad();
        let w = factors(&device.autodiff(), [9, 50]);
        let y = (x.clone().cumsum(1) * w.clone()).sum();
        let (gradients, backward) = planned(&x.device(), || y.backward());
        let scans = backward.matches("Flip CumSum Flip").count();
        assert_eq!(
            (scans, backward.matches("Flip").count()),
            (1, 2),
            "{backward}"
        );

        let expected = Host::of(w.inner()).flip(1).cumsum(1).flip(1);
        Host::of(x.grad(&gradients).expect("x is tracked")).assert_close(&expected);
    }
}

processes! {
    /// This crate claims every scan of the gradient, and every pair of slices is inside one of its claims.
    fn cumprod_backward_reverses_inside_the_scan() {
        let Some(device) = hooked_device() else {
            return;
        };
        let x = factors(&device.autodiff(), [30]).require_grad();
        let y = x.clone().cumprod(0).sum();
        let (gradients, backward) = planned(&x.device(), || y.backward());
        assert_eq!(backward.matches("Cum").count(), 4, "{backward}");
        assert_eq!(
            backward.matches("Slice CumSum Slice)").count(),
            2,
            "{backward}"
        );
        for block in backward
            .split_inclusive(") ")
            .filter(|block| block.contains("Cum"))
        {
            assert!(block.starts_with("Scan("), "{block} in {backward}");
        }

        let host = Host::of(x.clone().inner());
        let products = host.clone().scan(0, ScanOp::Prod);
        let expected = products
            .flip(0)
            .cumsum(0)
            .flip(0)
            .zip(&host, |sum, v| sum / v);
        Host::of(x.grad(&gradients).expect("x is tracked")).assert_close(&expected);
    }
}

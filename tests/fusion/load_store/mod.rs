//! Element-wise operations in the load and the store of a scan. The tests check which operations go there, and
//! compare the values with plain loops, for lines of every layout and split, and for every call that declines
//! the plan.

mod bits;
mod types;

use crate::fusion_support::{Host, factors, floats, hooked_device, planned};
use burn::tensor::{Device, Tensor, s};
use cubecl_scan::ScanOp;

/// Plans `graph`, replays it, and compares plan and values both times.
#[track_caller]
fn check<const D: usize>(
    expected_plan: &str,
    device: &Device,
    graph: impl Fn() -> Tensor<D>,
    expected: &Host,
) {
    for _ in 0..2 {
        let (output, plan) = planned(device, &graph);
        assert_eq!(plan, expected_plan);
        Host::of(output).assert_close(expected);
    }
}

const BOTH_SIDES: &str = "Scan(MulScalar AddScalar CumSum MulScalar AddScalar)";

#[track_caller]
fn check_both_sides<const D: usize>(device: &Device, x: Tensor<D>, dim: usize) {
    let host = Host::of(x.clone());
    let expected = (host.map(|v| v * 2.0 + 0.5).cumsum(dim)).map(|v| v * 3.0 + 4.0);
    let graph = || (x.clone() * 2.0 + 0.5).cumsum(dim) * 3.0 + 4.0;
    check(BOTH_SIDES, device, graph, &expected);
}

/// The bias, repeated to the shape of the tensor that it is added to.
fn expanded<const D: usize>(bias: &Tensor<D>, shape: [usize; D]) -> Host {
    Host::of(bias.clone().expand(shape))
}

#[test]
fn every_layout_of_lines() {
    let Some(device) = hooked_device() else {
        return;
    };
    for len in [1, 3, 250, 1009, 5000, 40_000] {
        check_both_sides(&device, floats(&device, [len]), 0);
        check_both_sides(&device, floats(&device, [len, 4]), 0);
    }
    for shape in [
        [3, 5000],
        [3, 5001],
        [700, 36],
        [701, 37],
        [16, 4096],
        [2500, 8],
        [3000, 1],
        [1, 8],
        [1, 1],
    ] {
        for dim in [0, 1] {
            check_both_sides(&device, floats(&device, shape), dim);
        }
    }
    for dim in [0, 1, 2] {
        check_both_sides(&device, floats(&device, [5, 140, 12]), dim);
        check_both_sides(&device, floats(&device, [140, 5, 1]), dim);
    }
}

/// Long columns are split even where there are enough of them: some drivers end long loops.
#[test]
fn very_long_columns() {
    let Some(device) = hooked_device() else {
        return;
    };
    check_both_sides(&device, floats(&device, [70_000, 4]), 0);
}

#[test]
fn every_operator() {
    let Some(device) = hooked_device() else {
        return;
    };
    for (shape, dim) in [([3, 3000, 2], 1), ([900, 2, 12], 0)] {
        let x = floats(&device, shape);
        let host = || Host::of(x.clone()).map(|v| v * -2.0);
        let plan = |op| format!("Scan(MulScalar {op} AddScalar)");
        let max = || (x.clone() * -2.0).cummax(dim) + 1.0;
        check(
            &plan("CumMax"),
            &device,
            max,
            &host().scan(dim, ScanOp::Max).map(|v| v + 1.0),
        );
        let min = || (x.clone() * -2.0).cummin(dim) + 1.0;
        check(
            &plan("CumMin"),
            &device,
            min,
            &host().scan(dim, ScanOp::Min).map(|v| v + 1.0),
        );
    }
    let x = factors(&device, [60, 4]);
    let expected = (Host::of(x.clone()).map(|v| v * 1.5).scan(0, ScanOp::Prod)).map(|v| v + 1.0);
    let prod = || (x.clone() * 1.5).cumprod(0) + 1.0;
    check(
        "Scan(MulScalar CumProd AddScalar)",
        &device,
        prod,
        &expected,
    );
}

#[test]
fn operands_on_both_sides() {
    let Some(device) = hooked_device() else {
        return;
    };
    for shape in [[4200, 3], [800, 20], [7, 6]] {
        let [x, w, v] = [2.0, 3.0, 5.0].map(|scale| floats(&device, shape) * scale + 0.25);
        let [hx, hw, hv] = [&x, &w, &v].map(|tensor| Host::of(tensor.clone()));
        let expected = hx.zip(&hw, |a, b| a * b).cumsum(0).zip(&hv, |a, b| a - b);
        let graph = || (x.clone() * w.clone()).cumsum(0) - v.clone();
        check("Scan(Mul CumSum Sub)", &device, graph, &expected);
    }
}

#[test]
fn a_bias_is_broadcast() {
    let Some(device) = hooked_device() else {
        return;
    };
    let shape = [300, 24];
    let x = floats(&device, shape);
    for bias in [[1, 24], [300, 1], [1, 1]] {
        let [before, after] = [0.5, 2.0].map(|scale| floats(&device, bias) * scale);
        let biased = Host::of(x.clone()).zip(&expanded(&before, shape), |a, b| a + b);
        let expected = biased.cumsum(0).zip(&expanded(&after, shape), |a, b| a + b);
        let graph = || (x.clone() + before.clone()).cumsum(0) + after.clone();
        check("Scan(Add CumSum Add)", &device, graph, &expected);
    }
}

#[test]
fn intermediate_results_can_be_kept() {
    let Some(device) = hooked_device() else {
        return;
    };
    for shape in [[4200, 3], [800, 20]] {
        let x = floats(&device, shape);
        let scaled = Host::of(x.clone()).map(|v| v * 2.0);
        let sums = scaled.clone().map(|v| v + 1.0).cumsum(0);
        for _ in 0..2 {
            let ((a, b, c, d), plan) = planned(&device, || {
                let a = x.clone() * 2.0;
                let b = (a.clone() + 1.0).cumsum(0);
                let c = b.clone() * 3.0;
                let d = b.clone() - 4.0;
                (a, b, c, d)
            });
            assert_eq!(plan, "Scan(MulScalar AddScalar CumSum MulScalar SubScalar)");
            Host::of(a).assert_close(&scaled);
            Host::of(b).assert_close(&sums);
            Host::of(c).assert_close(&sums.clone().map(|v| v * 3.0));
            Host::of(d).assert_close(&sums.clone().map(|v| v - 4.0));
        }
    }
}

/// Units write while others still read: the store leaves to the next kernel what the load has read or made.
#[test]
fn the_store_reads_nothing_from_the_load() {
    let Some(device) = hooked_device() else {
        return;
    };
    let x = floats(&device, [3000, 2]);
    let host = || Host::of(x.clone());
    let graph = || {
        let y = x.clone() * 2.0 + 1.0;
        y.clone().cumsum(0) * y * 0.5
    };
    let y = host().map(|v| v * 2.0 + 1.0);
    let expected = y.clone().cumsum(0).zip(&y, |a, b| a * b * 0.5);
    check(
        "Scan(MulScalar AddScalar CumSum) ElementWise(Mul MulScalar)",
        &device,
        graph,
        &expected,
    );

    let graph = || (x.clone().cumsum(0) + x.clone()) * 0.5;
    let expected = host().cumsum(0).zip(&host(), |a, b| (a + b) * 0.5);
    check(
        "Scan(CumSum) ElementWise(Add MulScalar)",
        &device,
        graph,
        &expected,
    );
}

#[test]
fn costly_inputs_are_computed_once_before_the_scan() {
    let Some(device) = hooked_device() else {
        return;
    };
    let [x, w, v] = [2.0, 3.0, 5.0].map(|scale| floats(&device, [2000, 2]) * scale);
    let [hx, hw, hv] = [&x, &w, &v].map(|tensor| Host::of(tensor.clone()));
    let product = hx.clone().zip(&hw, |a, b| a * b).zip(&hv, |a, b| a * b);
    let three = || (x.clone() * w.clone() * v.clone()).cumsum(0) + 1.0;
    let expected = product.cumsum(0).map(|v| v + 1.0);
    check(
        "ElementWise(Mul Mul) Scan(CumSum AddScalar)",
        &device,
        three,
        &expected,
    );

    let costly = || x.clone().tanh().exp().sin().cumsum(0) + 1.0;
    let expected = hx.map(|v| v.tanh().exp().sin()).cumsum(0).map(|v| v + 1.0);
    check(
        "ElementWise(Tanh Exp Sin) Scan(CumSum AddScalar)",
        &device,
        costly,
        &expected,
    );
}

/// Rows are read once, so nothing is computed twice.
#[test]
fn a_load_of_rows_may_cost_more() {
    let Some(device) = hooked_device() else {
        return;
    };
    let [x, w, v] = [2.0, 3.0, 5.0].map(|scale| floats(&device, [3, 5000]) * scale);
    let [hx, hw, hv] = [&x, &w, &v].map(|tensor| Host::of(tensor.clone()));
    let product = hx.clone().zip(&hw, |a, b| a * b).zip(&hv, |a, b| a * b);
    let three = || (x.clone() * w.clone() * v.clone()).cumsum(1) + 1.0;
    let expected = product.cumsum(1).map(|v| v + 1.0);
    check("Scan(Mul Mul CumSum AddScalar)", &device, three, &expected);

    let costly = || x.clone().tanh().exp().sin().cumsum(1) + 1.0;
    let expected = hx.map(|v| v.tanh().exp().sin()).cumsum(1).map(|v| v + 1.0);
    check(
        "Scan(Tanh Exp Sin CumSum AddScalar)",
        &device,
        costly,
        &expected,
    );
}

/// WebGPU promises eight buffers in a kernel: more operands than a kernel may bind are left to the next one.
#[test]
fn more_operands_than_a_kernel_can_bind() {
    let Some(device) = hooked_device() else {
        return;
    };
    let operands: Vec<Tensor<2>> = (0..40)
        .map(|i| floats(&device, [2, 600]) + i as f32)
        .collect();
    let mut expected = Host::of(operands[0].clone()).cumsum(1);
    for operand in &operands[1..] {
        expected = expected.zip(&Host::of(operand.clone()), |a, b| a + b);
    }
    for _ in 0..2 {
        let (output, plan) = planned(&device, || {
            let (first, others) = operands.split_first().expect("not empty");
            let scanned = first.clone().cumsum(1);
            others
                .iter()
                .fold(scanned, |sum, other| sum + other.clone())
        });
        assert!(plan.starts_with("Scan(CumSum Add"), "{plan}");
        assert!(plan.matches("Add").count() == 39, "{plan}");
        Host::of(output).assert_close(&expected);
    }
}

/// The fusion engine would read them element by element, which is slower than a copy.
#[test]
fn strided_tensors_are_declined() {
    let Some(device) = hooked_device() else {
        return;
    };
    let x = floats(&device, [90, 70]).transpose();
    device.sync().expect("the device syncs");
    check_both_sides(&device, x.clone(), 0);
    check_both_sides(&device, x.clone(), 1);
    let operand = floats(&device, [70, 90]);
    let expected = Host::of(operand.clone())
        .cumsum(0)
        .zip(&Host::of(x.clone()), |a, b| a + b);
    check(
        "Scan(CumSum Add)",
        &device,
        || operand.clone().cumsum(0) + x.clone(),
        &expected,
    );
}

#[test]
fn slices_are_read_where_they_begin() {
    let Some(device) = hooked_device() else {
        return;
    };
    let whole = floats(&device, [41, 30]);
    for rows in [s![1..41, ..], s![3..5, ..]] {
        let x = whole.clone().slice(rows);
        device.sync().expect("the device syncs");
        check_both_sides(&device, x.clone(), 0);
        check_both_sides(&device, x, 1);
    }
}

#[test]
fn replayed_with_other_sizes() {
    let Some(device) = hooked_device() else {
        return;
    };
    for len in [64, 5000, 1, 2, 4096, 65] {
        check_both_sides(&device, floats(&device, [len, 3]), 0);
        check_both_sides(&device, floats(&device, [3, len]), 1);
    }
}

#[test]
fn replayed_on_nothing() {
    let Some(device) = hooked_device() else {
        return;
    };
    check_both_sides(&device, floats(&device, [5, 3]), 0);
    let x = Tensor::<2>::empty([0, 3], &device);
    device.sync().expect("the device syncs");
    let (output, plan) = planned(&device, || (x.clone() * 2.0 + 0.5).cumsum(0) * 3.0 + 4.0);
    assert_eq!(plan, BOTH_SIDES);
    assert_eq!(output.dims(), [0, 3]);
}

#[test]
fn chains_of_scans() {
    let Some(device) = hooked_device() else {
        return;
    };
    let x = floats(&device, [60, 300, 4]);
    let host = Host::of(x.clone());
    let graph = || (((x.clone() * 0.5).cumsum(1) * 0.01).cumsum(0) + 1.0).cummax(1) * 2.0;
    let expected = host.map(|v| v * 0.5).cumsum(1).map(|v| v * 0.01).cumsum(0);
    let expected = expected
        .map(|v| v + 1.0)
        .scan(1, ScanOp::Max)
        .map(|v| v * 2.0);
    check(
        "Scan(MulScalar CumSum MulScalar CumSum AddScalar CumMax MulScalar)",
        &device,
        graph,
        &expected,
    );
}

//! The kernel that runs a scan, at any place in a graph. The values agree with a sequential loop.
//!
//! Values cannot show the plan, so the whole plan is asserted. `Scan(A B)` is a claim of this crate: this
//! crate's kernels run its last cumulative operation, and Burn's run the operations in front of it. `_(..)` ran
//! unfused.

use crate::fusion_support::{Host, factors, floats, hooked_device, ints, planned};
use burn::tensor::{Device, Int, Tensor, s};
use cubecl_scan::ScanOp;

/// Plans `graph` twice and compares plan and values both times. The second time replays a cached plan.
#[track_caller]
fn check<const D: usize>(
    expected_plan: &str,
    device: &Device,
    graph: impl Fn() -> Tensor<D>,
    expected: impl Fn() -> Host,
) {
    for _ in 0..2 {
        let (output, plan) = planned(device, &graph);
        assert_eq!(plan, expected_plan);
        Host::of(output).assert_close(&expected());
    }
}

#[track_caller]
fn check_int<const D: usize>(
    expected_plan: &str,
    device: &Device,
    graph: impl Fn() -> Tensor<D, Int>,
    expected: impl Fn() -> Host,
) {
    for _ in 0..2 {
        let (output, plan) = planned(device, &graph);
        assert_eq!(plan, expected_plan);
        assert_eq!(Host::of_int(output), expected());
    }
}

/// One test per pattern: `x` is the input, prepared and synced before the plan is recorded.
macro_rules! patterns {
    ($($name:ident($x:ident: $input:expr) => $plan:literal, $graph:expr, $expected:expr;)*) => {$(
        #[test]
        fn $name() {
            let Some(device) = hooked_device() else { return };
            let $x = ($input)(&device);
            check($plan, &device, || $graph, || {
                let $x = Host::of($x.clone());
                $expected
            });
        }
    )*};
}

macro_rules! int_patterns {
    ($($name:ident($x:ident: $input:expr) => $plan:literal, $graph:expr, $expected:expr;)*) => {$(
        #[test]
        fn $name() {
            let Some(device) = hooked_device() else { return };
            let $x = ($input)(&device);
            check_int($plan, &device, || $graph, || {
                let $x = Host::of_int($x.clone());
                $expected
            });
        }
    )*};
}

patterns! {
    lone_cumsum(x: |d| floats(d, [300])) => "Scan(CumSum)",
        x.clone().cumsum(0), x.cumsum(0);
    lone_cumprod(x: |d| factors(d, [40])) => "Scan(CumProd)",
        x.clone().cumprod(0), x.scan(0, ScanOp::Prod);
    lone_cummax(x: |d| floats(d, [300])) => "Scan(CumMax)",
        x.clone().cummax(0), x.scan(0, ScanOp::Max);
    lone_cummin(x: |d| floats(d, [300])) => "Scan(CumMin)",
        x.clone().cummin(0), x.scan(0, ScanOp::Min);
    middle_axis(x: |d| floats(d, [3, 25, 7])) => "Scan(CumSum)",
        x.clone().cumsum(1), x.cumsum(1);

    // The traps: a head that scores zero is settled together with the operation that closed it.
    after_one_element_wise(x: |d| floats(d, [301])) => "Scan(AddScalar CumSum)",
        (x.clone() + 1.0).cumsum(0), x.map(|v| v + 1.0).cumsum(0);
    after_ones(x: |d| floats(d, [302])) => "Scan(Ones CumSum)",
        Tensor::<1>::ones([302], &x.device()).cumsum(0), x.map(|_| 1.0).cumsum(0);
    after_a_reshaped_element_wise(x: |d| floats(d, [240])) => "_(AddScalar Reshape) Scan(CumSum)",
        (x.clone() + 1.0).reshape([12, 20]).cumsum(1),
        Host { shape: vec![12, 20], ..x.map(|v| v + 1.0) }.cumsum(1);
    after_a_transposed_element_wise(x: |d| floats(d, [25, 13])) => "_(AddScalar SwapDims) Scan(CumSum)",
        (x.clone() + 1.0).transpose().cumsum(1), transpose(&x.map(|v| v + 1.0)).cumsum(1);
    after_a_reduced_element_wise(x: |d| floats(d, [32, 8])) => "Scan(AddScalar SumDim CumSum)",
        (x.clone() + 1.0).sum_dim(1).cumsum(0), sum_rows(&x.map(|v| v + 1.0)).cumsum(0);
    after_a_bare_reduce(x: |d| floats(d, [30, 8])) => "_(SumDim) Scan(CumSum)",
        x.clone().sum_dim(1).cumsum(0), sum_rows(&x).cumsum(0);
    after_a_cast(x: |d| floats(d, [303])) => "_(GreaterElem IntoFloat) Scan(CumSum)",
        x.clone().greater_elem(0.0).float().cumsum(0), x.map(|v| f64::from(v > 0.0)).cumsum(0);

    // The load and the store of a scan compute the element-wise operations around it.
    after_a_chain(x: |d| floats(d, [304, 2])) => "Scan(MulScalar AddScalar CumSum)",
        (x.clone() * 2.0 + 1.0).cumsum(0), x.map(|v| v * 2.0 + 1.0).cumsum(0);
    after_a_long_chain(x: |d| floats(d, [305, 2])) => "Scan(MulScalar Exp AddScalar Sqrt CumSum)",
        ((x.clone() * 2.0).exp() + 1.0).sqrt().cumsum(0),
        x.map(|v| ((v * 2.0).exp() + 1.0).sqrt()).cumsum(0);
    after_a_chain_and_a_reduce(x: |d| floats(d, [31, 8])) => "ElementWise(MulScalar AddScalar) _(SumDim) Scan(CumSum)",
        (x.clone() * 2.0 + 1.0).sum_dim(1).cumsum(0), sum_rows(&x.map(|v| v * 2.0 + 1.0)).cumsum(0);
    before_a_chain(x: |d| floats(d, [306, 2])) => "Scan(CumSum MulScalar AddScalar)",
        x.clone().cumsum(0) * 2.0 + 1.0, x.cumsum(0).map(|v| v * 2.0 + 1.0);
    between_chains(x: |d| floats(d, [307, 2]))
        => "Scan(MulScalar AddScalar CumSum MulScalar AddScalar)",
        (x.clone() * 2.0 + 1.0).cumsum(0) * 3.0 + 4.0,
        x.map(|v| v * 2.0 + 1.0).cumsum(0).map(|v| v * 3.0 + 4.0);

    // Along the last axis a scan has neither a load nor a store.
    along_rows_after_a_chain(x: |d| floats(d, [318])) => "Scan(MulScalar AddScalar CumSum)",
        (x.clone() * 2.0 + 1.0).cumsum(0), x.map(|v| v * 2.0 + 1.0).cumsum(0);
    along_rows_before_a_chain(x: |d| floats(d, [319])) => "Scan(CumSum MulScalar AddScalar)",
        x.clone().cumsum(0) * 2.0 + 1.0, x.cumsum(0).map(|v| v * 2.0 + 1.0);
    along_rows_before_one_element_wise(x: |d| floats(d, [4, 80])) => "Scan(CumSum AddScalar)",
        x.clone().cumsum(1) + 1.0, x.cumsum(1).map(|v| v + 1.0);

    // Views and movements.
    after_a_reshape(x: |d| floats(d, [20, 12])) => "_(Reshape) Scan(CumSum)",
        x.clone().reshape([12, 20]).cumsum(1), Host { shape: vec![12, 20], ..x }.cumsum(1);
    after_a_slice(x: |d| floats(d, [40, 6])) => "_(Slice) Scan(CumSum)",
        x.clone().slice(s![3..33, ..]).cumsum(0), slice_rows(&x, 3, 33).cumsum(0);
    after_a_transpose(x: |d| floats(d, [21, 13])) => "_(SwapDims) Scan(CumSum)",
        x.clone().transpose().cumsum(1), transpose(&x).cumsum(1);
    after_an_expand(x: |d| floats(d, [1, 14])) => "_(Expand) Scan(CumSum)",
        x.clone().expand([9, 14]).cumsum(0), repeat_rows(&x, 9).cumsum(0);
    after_a_flip(x: |d| floats(d, [308])) => "Scan(Flip CumSum)",
        x.clone().flip([0]).cumsum(0), x.flip(0).cumsum(0);
    after_a_flip_of_another_axis(x: |d| floats(d, [22, 9])) => "Scan(Flip CumSum)",
        x.clone().flip([1]).cumsum(0), x.flip(1).cumsum(0);

    // Several scans.
    twice_in_a_row(x: |d| floats(d, [120, 2])) => "Scan(CumSum CumSum)",
        x.clone().cumsum(0).cumsum(0), x.cumsum(0).cumsum(0);
    of_two_kinds(x: |d| floats(d, [309, 2])) => "Scan(CumMax AddScalar CumSum)",
        (x.clone().cummax(0) + 1.0).cumsum(0), x.scan(0, ScanOp::Max).map(|v| v + 1.0).cumsum(0);
    along_both_axes(x: |d| floats(d, [17, 19])) => "Scan(CumSum CumSum)",
        x.clone().cumsum(0).cumsum(1), x.cumsum(0).cumsum(1);
    two_branches(x: |d| floats(d, [310, 2])) => "Scan(CumSum CumMax Add)",
        x.clone().cumsum(0) + x.clone().cummax(0),
        x.clone().cumsum(0).zip(&x.scan(0, ScanOp::Max), |a, b| a + b);

    // Several consumers.
    input_used_again(x: |d| floats(d, [311, 2])) => "Scan(AddScalar CumSum) ElementWise(Mul AddScalar)",
        { let y = x.clone() + 1.0; y.clone().cumsum(0) * y + 2.0 },
        { let y = x.map(|v| v + 1.0); y.clone().cumsum(0).zip(&y, |a, b| a * b + 2.0) };
    output_used_twice(x: |d| floats(d, [312, 2])) => "Scan(CumSum MulScalar Exp Add)",
        { let y = x.clone().cumsum(0); (y.clone() * 0.01).exp() + y },
        x.cumsum(0).map(|v| (v * 0.01).exp() + v);

    // Reversals: one reverse scan takes the place of three kernels.
    flipped_scan(x: |d| floats(d, [313])) => "Scan(Flip CumSum Flip)",
        x.clone().flip([0]).cumsum(0).flip([0]), x.flip(0).cumsum(0).flip(0);
    flipped_cummax(x: |d| floats(d, [5, 60])) => "Scan(Flip CumMax Flip)",
        x.clone().flip([1]).cummax(1).flip([1]), x.flip(1).scan(1, ScanOp::Max).flip(1);
    flipped_scan_after_one_element_wise(x: |d| floats(d, [314])) => "Scan(MulScalar Flip CumSum Flip)",
        (x.clone() * 2.0).flip([0]).cumsum(0).flip([0]), x.map(|v| v * 2.0).flip(0).cumsum(0).flip(0);
    flipped_scan_between_chains(x: |d| floats(d, [315]))
        => "ElementWise(MulScalar AddScalar) Scan(Flip CumSum Flip) ElementWise(MulScalar AddScalar)",
        (x.clone() * 2.0 + 1.0).flip([0]).cumsum(0).flip([0]) * 2.0 + 1.0,
        x.map(|v| v * 2.0 + 1.0).flip(0).cumsum(0).flip(0).map(|v| v * 2.0 + 1.0);
    scan_reversed_by_slices(x: |d| floats(d, [40, 4])) => "Scan(Slice CumSum Slice)",
        x.clone().slice(s![..;-1, ..]).cumsum(0).slice(s![..;-1, ..]), x.flip(0).cumsum(0).flip(0);
    flip_there_slice_back(x: |d| floats(d, [41, 4])) => "Scan(Flip CumSum Slice)",
        x.clone().flip([0]).cumsum(0).slice(s![..;-1, ..]), x.flip(0).cumsum(0).flip(0);

    // Operations that look like a reversal around a scan and are not.
    flips_of_another_axis(x: |d| floats(d, [23, 9])) => "Scan(Flip CumSum) _(Flip)",
        x.clone().flip([1]).cumsum(0).flip([1]), x.cumsum(0);
    flipped_back_along_another_axis(x: |d| floats(d, [24, 9])) => "Scan(Flip CumSum) _(Flip)",
        x.clone().flip([0]).cumsum(0).flip([1]), x.flip(0).cumsum(0).flip(1);
    slices_of_another_axis(x: |d| floats(d, [42, 4])) => "Scan(Slice CumSum Slice)",
        x.clone().slice(s![.., ..;-1]).cumsum(0).slice(s![.., ..;-1]), x.cumsum(0);
    flipped_input_used_again(x: |d| floats(d, [316])) => "Scan(Flip CumSum) _(Flip) _(Add)",
        { let y = x.clone().flip([0]); y.clone().cumsum(0).flip([0]) + y },
        { let y = x.flip(0); y.clone().cumsum(0).flip(0).zip(&y, |a, b| a + b) };
    scan_used_before_it_is_flipped_back(x: |d| floats(d, [317])) => "Scan(Flip CumSum) _(Flip) _(Add)",
        { let y = x.clone().flip([0]).cumsum(0); y.clone().flip([0]) + y },
        { let y = x.flip(0).cumsum(0); y.clone().flip(0).zip(&y, |a, b| a + b) };
}

int_patterns! {
    lone_int_cumsum(x: |d| ints(d, [300])) => "Scan(CumSum)", x.clone().cumsum(0), x.cumsum(0);
    lone_int_cumprod(x: |d| ints(d, [5])) => "Scan(CumProd)", x.clone().cumprod(0), x.scan(0, ScanOp::Prod);
    lone_int_cummax(x: |d| ints(d, [300])) => "Scan(CumMax)", x.clone().cummax(0), x.scan(0, ScanOp::Max);
    lone_int_cummin(x: |d| ints(d, [300])) => "Scan(CumMin)", x.clone().cummin(0), x.scan(0, ScanOp::Min);
    int_after_one_element_wise(x: |d| ints(d, [301])) => "Scan(AddScalar CumSum)",
        (x.clone() + 1).cumsum(0), x.map(|v| v + 1.0).cumsum(0);
    int_of_a_mask(x: |d| ints(d, [302])) => "_(GreaterElem IntoInt) Scan(CumSum)",
        x.clone().greater_elem(0).int().cumsum(0), x.map(|v| f64::from(v > 0.0)).cumsum(0);
    flipped_int_scan(x: |d| ints(d, [303])) => "Scan(Flip CumSum Flip)",
        x.clone().flip([0]).cumsum(0).flip([0]), x.flip(0).cumsum(0).flip(0);
}

#[test]
fn after_a_bare_matmul() {
    let Some(device) = hooked_device() else {
        return;
    };
    let (a, b) = (floats(&device, [12, 8]), floats(&device, [8, 20]));
    check(
        "Scan(Matmul CumSum)",
        &device,
        || a.clone().matmul(b.clone()).cumsum(1),
        || matmul(&Host::of(a.clone()), &Host::of(b.clone())).cumsum(1),
    );
}

#[test]
fn after_a_fused_matmul() {
    let Some(device) = hooked_device() else {
        return;
    };
    let (a, b) = (floats(&device, [13, 8]), floats(&device, [8, 21]));
    let graph = || (a.clone().matmul(b.clone()) + 1.0).cumsum(1);
    check(
        "Matmul(Matmul AddScalar) Scan(CumSum)",
        &device,
        graph,
        || {
            matmul(&Host::of(a.clone()), &Host::of(b.clone()))
                .map(|v| v + 1.0)
                .cumsum(1)
        },
    );
}

#[test]
fn after_a_sort() {
    let Some(device) = hooked_device() else {
        return;
    };
    let x = floats(&device, [64]);
    let (output, plan) = planned(&device, || x.clone().sort(0).cumsum(0));
    // Burn sorts on the host and uploads the result.
    assert_eq!(plan, "_(Init) Scan(CumSum)");
    let mut sorted = Host::of(x);
    sorted.values.sort_by(f64::total_cmp);
    Host::of(output).assert_close(&sorted.cumsum(0));
}

/// The other trap: with a second block open, the sync runs the tail of a block unfused, and the scan with it,
/// unless the claim contains it. The element-wise kernel in front of the scan runs inside the claim.
#[test]
fn with_an_open_block() {
    let Some(device) = hooked_device() else {
        return;
    };
    let (x, y) = (floats(&device, [50, 3]), floats(&device, [50, 3]));
    let host = Host::of(x.clone());
    for _ in 0..2 {
        let ((_open, output), plan) = planned(&device, || {
            let open = y.clone() * 2.0;
            let scanned = (x.clone() * 2.0 + 1.0).cumsum(0);
            (open, (scanned * 2.0 + 1.0).cumsum(0))
        });
        assert_eq!(
            plan,
            "_(MulScalar) Scan(MulScalar AddScalar CumSum MulScalar AddScalar CumSum)"
        );
        let affine = |v| v * 2.0 + 1.0;
        let expected = host.clone().map(affine).cumsum(0).map(affine).cumsum(0);
        Host::of(output).assert_close(&expected);
    }
}

/// A cached plan is replayed on other sizes, and on slices that no longer reverse.
#[test]
fn replayed_with_other_sizes() {
    let Some(device) = hooked_device() else {
        return;
    };
    for len in [64, 65, 500, 2, 1] {
        let x = floats(&device, [len, 3]);
        let host = Host::of(x.clone());
        let (output, plan) = planned(&device, || (x.clone() + 1.0).cumsum(0).flip([0]));
        assert_eq!(plan, "Scan(AddScalar CumSum) _(Flip)", "{len} rows");
        Host::of(output).assert_close(&host.map(|v| v + 1.0).cumsum(0).flip(0));
    }
}

#[test]
fn replayed_with_other_slices() {
    let Some(device) = hooked_device() else {
        return;
    };
    let x = floats(&device, [30, 3]);
    let host = Host::of(x.clone());
    let reversed = || s![..;-1, ..];
    let whole = || s![0..30, ..];
    let (there_and_back, there_only, neither) = (
        (reversed(), reversed()),
        (reversed(), whole()),
        (whole(), whole()),
    );
    for ((prologue, epilogue), expected) in [
        (there_and_back, host.clone().flip(0).cumsum(0).flip(0)),
        (there_only, host.clone().flip(0).cumsum(0)),
        (neither, host.cumsum(0)),
    ] {
        let output = x.clone().slice(prologue).cumsum(0).slice(epilogue);
        Host::of(output).assert_close(&expected);
    }
}

fn sum_rows(x: &Host) -> Host {
    let values = x
        .values
        .chunks(x.shape[1])
        .map(|row| row.iter().sum())
        .collect();
    Host {
        shape: vec![x.shape[0], 1],
        values,
    }
}

fn slice_rows(x: &Host, start: usize, end: usize) -> Host {
    let width = x.shape[1];
    Host {
        shape: vec![end - start, width],
        values: x.values[start * width..end * width].to_vec(),
    }
}

fn repeat_rows(x: &Host, times: usize) -> Host {
    Host {
        shape: vec![times, x.shape[1]],
        values: x.values.repeat(times),
    }
}

fn transpose(x: &Host) -> Host {
    let [rows, columns] = x.shape[..] else {
        unreachable!("a matrix")
    };
    let values = (0..rows * columns)
        .map(|i| x.values[(i % rows) * columns + i / rows])
        .collect();
    Host {
        shape: vec![columns, rows],
        values,
    }
}

fn matmul(a: &Host, b: &Host) -> Host {
    let (rows, inner, columns) = (a.shape[0], a.shape[1], b.shape[1]);
    let dot = |row: usize, column: usize| -> f64 {
        (0..inner)
            .map(|k| a.values[row * inner + k] * b.values[k * columns + column])
            .sum()
    };
    let values = (0..rows * columns)
        .map(|i| dot(i / columns, i % columns))
        .collect();
    Host {
        shape: vec![rows, columns],
        values,
    }
}

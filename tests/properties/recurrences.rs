//! Recurrences, segments, positions and carries: against the loop, and against laws that tie them to plain
//! scans.
//!
//! Values and decays are −1, 0 and 1, so that every result is exact in any order.

use std::sync::{Mutex, PoisonError};

use burn::tensor::{Bool, Device, Int, Tensor};
use burn_scan::prelude::*;
use proptest::prelude::*;
use scan_testing::tensors::devices::is_flex;
use scan_testing::tensors::element::hash;
use scan_testing::tensors::{
    assert_same, axis, host, mask, options, oracle, split_by_lengths, tensor,
};

use crate::drawn::{Density, Drawn, densities, dim_of, dims, tensors};
use crate::for_all;

on_every_device![recurrences, segments, positions, chunks, bits_repeat];

#[derive(Clone, Debug)]
struct Case {
    input: Drawn,
    dim: i64,
    reverse: bool,
    density: Density,
    /// The seed of the chunks' lengths and of their operator.
    seed: usize,
}

fn cases() -> impl Strategy<Value = Case> {
    let drawn = (
        tensors(3),
        dims(),
        any::<bool>(),
        densities(),
        0..1000_usize,
    );
    drawn.prop_map(|(input, dim, reverse, density, seed)| Case {
        input,
        dim,
        reverse,
        density,
        seed,
    })
}

/// Runs `$check::<rank>` for every case.
macro_rules! of_any_rank {
    ($check:ident, $device:expr) => {
        for_all($device, cases(), |case| match case.input.shape.len() {
            1 => $check::<1>(&case, $device),
            2 => $check::<2>(&case, $device),
            _ => $check::<3>(&case, $device),
        })
    };
}

fn small(n: usize, salt: usize) -> Vec<f32> {
    (0..n).map(|i| (hash(i + salt) % 3) as f32 - 1.0).collect()
}

impl Case {
    /// The tensor, seen through its views.
    fn values<const D: usize>(&self, device: &Device) -> Tensor<D> {
        let base = small(self.input.shape.iter().product(), 0);
        self.input
            .view(tensor::<f32, D>(&base, self.input.shape(), device))
    }

    /// More numbers in the shape of `like`.
    fn decay<const D: usize>(&self, like: &Tensor<D>, device: &Device) -> Tensor<D> {
        let n = like.dims().iter().product();
        tensor::<f32, D>(&small(n, 77), like.dims(), device)
    }

    fn starts<const D: usize>(&self, like: &Tensor<D>, device: &Device) -> Tensor<D, Bool> {
        let n: usize = like.dims().iter().product();
        let starts = if n == 0 { vec![] } else { self.density.mask(n) };
        mask(&starts, like.dims(), device)
    }

    /// The lengths of the chunks of a line of this length.
    fn chunk_lengths(&self, mut len: usize) -> Vec<usize> {
        let longest = len.div_ceil(3);
        let mut lengths = Vec::new();
        while len > 0 {
            let length = len.min(1 + hash(self.seed + lengths.len()) % longest);
            lengths.push(length);
            len -= length;
        }
        lengths
    }
}

/// `h[t] = a[t]·h[t−1] + x[t]` along the middle.
fn walked(x: &[f32], a: &[f32], [outer, len, inner]: [usize; 3], reverse: bool) -> Vec<f32> {
    let mut found = x.to_vec();
    for line in 0..outer * inner {
        let mut h = 0.0;
        for step in 0..len {
            let i = if reverse { len - 1 - step } else { step };
            let at = (line / inner * len + i) * inner + line % inner;
            h = a[at] * h + x[at];
            found[at] = h;
        }
    }
    found
}

fn recurrences(device: &Device) {
    of_any_rank!(check_recurrence, device);
}

/// With element-wise operations around the recurrence, which a fused device computes in separate kernels.
fn check_recurrence<const D: usize>(case: &Case, device: &Device) {
    let x = case.values::<D>(device);
    let a = case.decay(&x, device);
    let (dim, written) = dim_of(case.dim, D);
    let way = RecurrenceOptions::default();
    let way = if case.reverse { way.reverse() } else { way };
    let lines = axis(&x.dims(), dim);
    let [xs, decays] = [&x, &a].map(|it| host::<f32, D>(it.clone()));
    let run = |x: Tensor<D>, a: Tensor<D>| {
        host::<f32, D>(x.linear_recurrence_with(a, written, way.clone()))
    };

    let expected = walked(&xs, &decays, lines, case.reverse);
    assert_same(&run(x.clone(), a.clone()), &expected, || "the loop".into());

    let doubled: Vec<f32> = xs.iter().map(|x| 2.0 * x + 1.0).collect();
    let negated: Vec<f32> = decays.iter().map(|a| -a).collect();
    let around = (x.clone() * 2.0 + 1.0).linear_recurrence_with(a.neg(), written, way.clone());
    let around = around.clone() * 3.0 - around;
    let expected = walked(&doubled, &negated, lines, case.reverse);
    let expected: Vec<f32> = expected.iter().map(|h| 2.0 * h).collect();
    assert_same(&host::<f32, D>(around), &expected, || {
        "fused neighbours".into()
    });

    let sums = x
        .clone()
        .scan(written, ScanOp::Sum, options((false, case.reverse)));
    let found = run(x.clone(), x.clone().ones_like());
    assert_same(&found, &host::<f32, D>(sums), || "decays of 1".into());
    let found = run(x.clone(), x.clone().zeros_like());
    assert_same(&found, &xs, || "decays of 0".into());
}

fn segments(device: &Device) {
    of_any_rank!(check_segments, device);
}

fn check_segments<const D: usize>(case: &Case, device: &Device) {
    let x = case.values::<D>(device);
    let (dim, written) = dim_of(case.dim, D);
    let sums = |starts: Tensor<D, Bool>, reverse| {
        let way = options((false, reverse));
        host::<f32, D>(x.clone().segmented_scan(starts, written, ScanOp::Sum, way))
    };
    let starts = case.starts(&x, device);

    // A start is a decay of 0.
    let is_start = host::<bool, D>(starts.clone());
    let decays: Vec<f32> = is_start
        .iter()
        .map(|&is_start| f32::from(!is_start))
        .collect();
    let values = host::<f32, D>(x.clone());
    let expected = walked(&values, &decays, axis(&x.dims(), dim), false);
    assert_same(&sums(starts, false), &expected, || "decays of 0".into());

    let n = x.dims().iter().product();
    let whole = sums(mask(&vec![false; n], x.dims(), device), case.reverse);
    let plain = x
        .clone()
        .scan(written, ScanOp::Sum, options((false, case.reverse)));
    assert_same(&whole, &host::<f32, D>(plain), || "no starts".into());
    let single = sums(mask(&vec![true; n], x.dims(), device), case.reverse);
    assert_same(&single, &values, || "all starts".into());
}

fn positions(device: &Device) {
    of_any_rank!(check_positions, device);
}

/// A position picks its value, which is the running maximum. Of equal values it picks the last.
fn check_positions<const D: usize>(case: &Case, device: &Device) {
    let x = case.values::<D>(device);
    let (dim, written) = dim_of(case.dim, D);
    let (maxima, positions) = x.clone().cummax_with_indices(written);
    let xs = host::<f32, D>(x.clone());
    let maxima = host::<f32, D>(maxima);
    let expected = oracle::scan(&xs, &x.dims(), dim, ScanOp::Max, (false, false));
    assert_same(&maxima, &expected, || "the running maximum".into());
    let [_, len, inner] = axis(&x.dims(), dim);
    let positions: Vec<i32> = positions.try_into_vec_as().expect("the device is read");
    for (at, &position) in positions.iter().enumerate() {
        let (row, picked) = (at / inner % len.max(1), position as usize);
        let place = |row: usize| (at / inner / len * len + row) * inner + at % inner;
        assert!(
            picked <= row && xs[place(picked)] == maxima[at],
            "{at}: {picked}"
        );
        let later = (picked + 1..=row).find(|&later| xs[place(later)] == maxima[at]);
        assert_eq!(later, None, "{at}: {picked} is not the last");
    }
}

fn chunks(device: &Device) {
    of_any_rank!(check_chunks, device);
}

/// Chunks of any lengths give the results of the whole.
fn check_chunks<const D: usize>(case: &Case, device: &Device) {
    let x = case.values::<D>(device);
    let a = case.decay(&x, device);
    let (dim, written) = dim_of(case.dim, D);
    let shape = x.dims();
    if shape.contains(&0) {
        return;
    }
    let lengths = case.chunk_lengths(shape[dim]);

    let mut running = RunningRecurrence::<D>::new(written);
    let split = |it: &Tensor<D>| it.clone().split_with_sizes(lengths.clone(), dim);
    let chunks = split(&x).into_iter().zip(split(&a));
    let found: Vec<_> = chunks.map(|(x, a)| running.next(x, a)).collect();
    let whole = host::<f32, D>(x.clone().linear_recurrence(a, written));
    let expected = split_by_lengths(&whole, &shape, dim, &lengths);
    assert_eq!(found.len(), expected.len(), "chunks of {lengths:?}");
    for (i, (found, expected)) in found.into_iter().zip(expected).enumerate() {
        assert_same(&host::<f32, D>(found), &expected, || {
            format!("a recurrence, chunk {i} of {lengths:?}")
        });
    }

    let integers: Tensor<D, Int> = x.int();
    let op = [ScanOp::Sum, ScanOp::Min][case.seed % 2];
    let way = options((case.reverse, false));
    let mut running = RunningScan::<D, Int>::new(written, op, way);
    let chunks = integers.clone().split_with_sizes(lengths.clone(), dim);
    let found: Vec<_> = chunks.into_iter().map(|x| running.next(x)).collect();
    let read = |it: Tensor<D, Int>| it.try_into_vec_as::<i64>().expect("the device is read");
    let whole = read(integers.scan(written, op, way));
    let found: Vec<_> = found.into_iter().map(read).collect();
    let expected = split_by_lengths(&whole, &shape, dim, &lengths);
    assert_eq!(found, expected, "{op:?} {way:?}, chunks of {lengths:?}");
}

/// The bits of results and of gradients are the same each time, under any load of the machine.
fn bits_repeat(device: &Device) {
    // One device at a time. burn-autodiff cleans up the graphs of all threads, and burn-fusion 0.22.1 may lose a tensor
    // whose last but one owner another thread drops while an operation takes it.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let runs = if cfg!(feature = "heavy") {
        1000
    } else if is_flex(device) {
        50
    } else {
        20
    };
    let uneven = |n: usize, salt: usize| -> Vec<f32> {
        (0..n)
            .map(|i| (hash(i + salt) % 2001) as f32 / 1013.0 - 0.98)
            .collect()
    };
    let device = device.clone().autodiff();
    for (shape, dim) in [([1, 5000], 1), ([700, 9], 0)] {
        let leaf = |salt| {
            let values = uneven(shape.iter().product(), salt);
            tensor::<f32, 2>(&values, shape, &device).require_grad()
        };
        let (x, a) = (leaf(0), leaf(5));
        let n = shape.iter().product();
        let starts = mask(
            &(0..n).map(|i| hash(i) % 50 == 0).collect::<Vec<_>>(),
            shape,
            &device,
        );
        let rows = Tensor::<1, Int>::from_data([0, shape[0] / 3, shape[0]], &device);
        let way = ScanOptions::default();
        let bits = || {
            let h = x.clone().linear_recurrence(a.clone(), dim);
            let gradients = h.clone().backward();
            let of = |leaf: &Tensor<2>| leaf.grad(&gradients).expect("tracked");
            let segments = x
                .clone()
                .segmented_scan(starts.clone(), dim, ScanOp::Sum, way);
            let logs = x.clone().logcumsumexp(dim);
            let totals = x.clone().segment_reduce(rows.clone(), ScanOp::Sum);
            let (maxima, positions) = (x.clone() * h.clone()).cummax_with_indices(dim);
            let plain = [h, segments, logs, totals, maxima, positions.float()];
            let mut all: Vec<_> = plain.into_iter().map(Tensor::inner).collect();
            all.extend([of(&x), of(&a)]);
            let all = Tensor::cat(all, 0);
            let bits = host::<f32, 2>(all).into_iter().map(f32::to_bits);
            bits.collect::<Vec<u32>>()
        };
        let first = bits();
        for run in 1..runs {
            assert!(bits() == first, "run {run} of {shape:?} has other bits");
        }
    }
}

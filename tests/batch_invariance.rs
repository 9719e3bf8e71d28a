//! A line has the same bits whatever its neighbours: on the CPU always, on other devices if the program asks for it.
//! The setting is one per process. Sums of the data round.

use burn::tensor::{Device, FloatDType, Tensor};
use burn_scan::prelude::*;
use scan_testing::on_every_device;
use scan_testing::tensors::devices::is_flex;
use scan_testing::tensors::element::hash;
use scan_testing::tensors::{host, tensor, unsupported};

on_every_device![equal_lines_have_equal_bits];

/// Half of the precision of f32.
const E: f32 = 1.0 / (1u32 << 24) as f32;

fn drawn(n: usize) -> Vec<f32> {
    (0..n).map(|i| (hash(i) % (1 << 20)) as f32 / 7.0).collect()
}

/// A computation along a dimension.
type Along<'a> = (String, Box<dyn Fn(Tensor<2>, usize) -> Tensor<2> + 'a>);

fn equal_lines_have_equal_bits(device: &Device) {
    burn_scan::backends::set_batch_invariance(true);
    // The CPU walks rows of up to 48 elements abreast, which the kernels treat as those of 49. A software driver takes
    // seconds for each computation of 2^18 elements, so only one takes them there. Lines of 2^14 take several tiles as
    // rows, and several blocks of tiles as columns.
    let lens = if is_flex(device) {
        vec![48, 49, 1024, 5000, 1 << 18]
    } else {
        vec![49, 1024, 5000, 1 << 14]
    };
    if !is_flex(device) {
        let sum = scan(ScanOp::Sum, FloatDType::F32, ScanOptions::default());
        equal_lines(&drawn(1 << 18), &sum, device);
    }
    let short = vec![1., E, E, 0.];
    for line in std::iter::once(short).chain(lens.into_iter().map(drawn)) {
        // Factors are near 1, so that no product leaves the range of a half.
        let near: Vec<f32> = line.iter().map(|x| 1.0 + x % 1.0 / 65_536.0).collect();
        // The longest lines take a software driver seconds.
        let takes_all = is_flex(device) || line.len() <= 5000;
        for options in [ScanOptions::default(), ScanOptions::default().reverse()] {
            equal_lines(&line, &scan(ScanOp::Sum, FloatDType::F32, options), device);
            // Each of these has its own kernels, which a Cube device compiles first.
            if !is_flex(device) && options != ScanOptions::default() {
                continue;
            }
            // Maxima and minima do not round, and a Cube device compiles their kernels first.
            let rounds = |op: &ScanOp| is_flex(device) || !matches!(op, ScanOp::Max | ScanOp::Min);
            for op in OPS.into_iter().filter(rounds) {
                equal_lines(&near, &scan(op, FloatDType::F32, options), device);
                if takes_all || op == ScanOp::Sum {
                    equal_lines(&near, &segmented(op, options), device);
                }
                for dtype in [FloatDType::F16, FloatDType::BF16] {
                    let is_asked = if is_flex(device) {
                        line.len() <= 5000
                    } else {
                        op == ScanOp::Sum && line.len() == 49
                    };
                    if is_asked && device.supports_dtype(dtype) {
                        equal_lines(&near, &scan(op, dtype, options), device);
                    } else if is_asked {
                        unsupported(&format!("{dtype:?} on {device:?}"));
                    }
                }
            }
        }
        for reverse in [false, true] {
            if takes_all || !reverse {
                equal_lines(&near, &recurrence(reverse), device);
            }
        }
    }
}

const OPS: [ScanOp; 5] = [
    ScanOp::Sum,
    ScanOp::Prod,
    ScanOp::Max,
    ScanOp::Min,
    ScanOp::LogSumExp,
];

fn scan<'a>(op: ScanOp, dtype: FloatDType, options: ScanOptions) -> Along<'a> {
    let along = move |x: Tensor<2>, dim| {
        let x = x.cast(dtype).scan(dim, op, options);
        x.cast(FloatDType::F32)
    };
    (format!("{op:?} of {dtype:?}, {options:?}"), Box::new(along))
}

fn segmented<'a>(op: ScanOp, options: ScanOptions) -> Along<'a> {
    let along = move |x: Tensor<2>, dim| {
        let starts = x.clone().equal_elem(0.0);
        x.segmented_scan(starts, dim, op, options)
    };
    (format!("segmented {op:?}, {options:?}"), Box::new(along))
}

fn recurrence<'a>(reverse: bool) -> Along<'a> {
    let along = move |x: Tensor<2>, dim| {
        let options = RecurrenceOptions::default();
        let options = if reverse { options.reverse() } else { options };
        let decay = x.clone().recip();
        x.linear_recurrence_with(decay, dim, options)
    };
    (format!("recurrence, reverse {reverse}"), Box::new(along))
}

/// Takes the line alone and among equal ones, as rows and as columns.
fn equal_lines(line: &[f32], (what, along): &Along<'_>, device: &Device) {
    let len = line.len();
    let of =
        |data: &[f32], shape, dim| -> Vec<f32> { host(along(tensor(data, shape, device), dim)) };
    let with_neighbours = |count: usize| -> Vec<f32> {
        let repeated = line.iter().flat_map(|&x| vec![x; count]);
        repeated.collect()
    };
    let row = of(line, [1, len], 1);
    let two = of(&with_neighbours(2), [len, 2], 0);
    let column: Vec<f32> = two.iter().copied().step_by(2).collect();
    // A Cube device has kernels for each width of rows, and sums take all of its routines.
    let takes_all = is_flex(device) || what.starts_with("Sum of F32");
    let counts = match len {
        4 if !is_flex(device) => vec![2, 17],
        0..=49 if takes_all => (2..=17).collect(),
        0..=49 => vec![2, 7, 16, 17],
        50..=5000 if takes_all => vec![2, 5, 9, 17],
        50..=5000 => vec![2, 17],
        _ if takes_all => vec![9],
        _ => vec![3],
    };
    for count in counts {
        let what = format!("{count} lines of {len}, {what}");
        let rows = of(&line.repeat(count), [count, len], 1);
        assert!(rows.chunks(len).all(|found| found == row), "rows: {what}");
        let columns = of(&with_neighbours(count), [len, count], 0);
        let is_same = columns
            .chunks(count)
            .zip(&column)
            .all(|(found, expected)| found.iter().all(|found| found == expected));
        assert!(is_same, "columns: {what}");
    }
}

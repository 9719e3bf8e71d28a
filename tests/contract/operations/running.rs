//! A scan chunk by chunk gives the same results as a scan of the whole.

use burn::tensor::{Device, Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::hash;
use scan_testing::tensors::{OPS, axis, host, sampled, tensor};

use super::recurrence::{assert_close, expected};

on_every_device![integers_bit_for_bit, floats, recurrences, after_a_reset];

/// Lengths that add up to `len`: none, one and many elements.
fn chunk_lengths(len: usize, salt: usize) -> Vec<usize> {
    let mut chunk_lengths = vec![0];
    let mut rest = len;
    while rest > 0 {
        let length = (hash(chunk_lengths.len() + salt) % 300).min(rest);
        chunk_lengths.push(length);
        rest -= length;
    }
    chunk_lengths
}

/// The joined results of `next` for each chunk along `dim`.
fn by_chunks<const D: usize, K: burn::tensor::kind::Basic>(
    whole: &Tensor<D, K>,
    dim: usize,
    chunk_lengths: &[usize],
    mut next: impl FnMut(Tensor<D, K>, usize) -> Tensor<D, K>,
) -> Tensor<D, K> {
    let mut first = 0;
    let mut results = Vec::new();
    for &len in chunk_lengths {
        let mut ends = whole.dims().map(|size| 0..size);
        ends[dim] = first..first + len;
        let found = next(whole.clone().slice(ends), first);
        if len > 0 {
            results.push(found);
        }
        first += len;
    }
    Tensor::cat(results, dim)
}

fn integers_bit_for_bit(device: &Device) {
    let shape = [3, 1000, 2];
    let values: Vec<i32> = (0..6000).map(|i| (hash(i) % 1000) as i32 - 500).collect();
    let whole = tensor::<i32, 3>(&values, shape, device);
    for (salt, op) in OPS.into_iter().enumerate() {
        let both = [ScanOptions::default(), ScanOptions::default().exclusive()];
        for options in sampled(both, device, salt, 2) {
            let mut running = RunningScan::<3, Int>::new(1, op, options);
            let found = by_chunks(&whole, 1, &chunk_lengths(1000, salt), |chunk, _| {
                running.next(chunk)
            });
            let expected = whole.clone().scan(1, op, options);
            assert_eq!(
                host::<i32, 3>(found),
                host::<i32, 3>(expected),
                "{op:?} {options:?}"
            );
        }
    }
}

fn floats(device: &Device) {
    let values: Vec<f32> = (0..4000)
        .map(|i| (hash(i) % 2001) as f32 / 100.0 - 10.0)
        .collect();
    let whole = tensor::<f32, 2>(&values, [4000, 1], device);
    for op in [ScanOp::Sum, ScanOp::Max, ScanOp::LogSumExp] {
        let mut running = RunningScan::new(0, op, ScanOptions::default());
        let found = by_chunks(&whole, 0, &chunk_lengths(4000, 9), |chunk, _| {
            running.next(chunk)
        });
        let expected = host::<f32, 2>(whole.clone().scan(0, op, ScanOptions::default()));
        let expected: Vec<_> = expected.iter().map(|&y| (y.into(), 20_000.0)).collect();
        assert_close(&host::<f32, 2>(found), &expected, 1e-6, || {
            format!("{op:?}")
        });
    }
}

fn recurrences(device: &Device) {
    let shape = [2, 900, 3];
    let values: Vec<f32> = (0..5400)
        .map(|i| (hash(i) % 2001) as f32 / 1000.0 - 1.0)
        .collect();
    let decays: Vec<f32> = (0..5400)
        .map(|i| (hash(i + 5) % 2001) as f32 / 1000.0 - 1.0)
        .collect();
    let whole = tensor::<f32, 3>(&values, shape, device);
    let decay = tensor::<f32, 3>(&decays, shape, device);
    let mut running = RunningRecurrence::new(-2);
    assert!(running.state().is_none());
    let found = by_chunks(&whole, 1, &chunk_lengths(900, 4), |chunk, first| {
        let len = chunk.dims()[1];
        running.next(chunk, decay.clone().slice([0..2, first..first + len, 0..3]))
    });
    let wide = |narrow: &[f32]| narrow.iter().map(|&x| x.into()).collect::<Vec<f64>>();
    let expected = expected(&wide(&values), &wide(&decays), None, axis(&shape, 1), false);
    let found = host::<f32, 3>(found);
    assert_close(&found, &expected, 1e-5, || "chunks".to_owned());
    let state = running.state().expect("there were elements");
    assert_eq!(state.dims(), [2, 1, 3]);
    let last = [&found[899 * 3..900 * 3], &found[5397..]].concat();
    assert_eq!(host::<f32, 3>(state), last);
}

fn after_a_reset(device: &Device) {
    let chunk = || tensor::<i32, 1>(&[1, 2], [2], device);
    let mut running = RunningScan::new(0, ScanOp::Sum, ScanOptions::default());
    running.next(chunk());
    running.reset();
    assert_eq!(host::<i32, 1>(running.next(chunk())), [1, 3]);
}

//! Rows, runs and lines: laws that tie them to one another, to scans and to compaction.

use burn::tensor::{Device, Int, Tensor};
use burn_scan::prelude::*;
use proptest::prelude::*;
use scan_testing::tensors::element::{hash, numbered};
use scan_testing::tensors::{assert_same, host, host_indices, mask, tensor};

use crate::drawn::{Density, densities};
use crate::for_all;

on_every_device![rows, runs, lines];

#[derive(Clone, Debug)]
struct Rows {
    count: usize,
    /// The largest length of most rows, and the exact length of one row.
    most: usize,
    giant: usize,
    seed: usize,
}

fn row_cases() -> impl Strategy<Value = Rows> {
    let drawn = (0..300_usize, 0..20_usize, 0..20_000_usize, 0..1000_usize);
    drawn.prop_map(|(count, most, giant, seed)| Rows {
        count,
        most,
        giant,
        seed,
    })
}

impl Rows {
    fn lengths(&self) -> Vec<usize> {
        let drawn = |i: usize| hash(i + self.seed) % (self.most + 1);
        let mut lengths: Vec<usize> = (0..self.count).map(drawn).collect();
        if let Some(length) = lengths.get_mut(self.seed % self.count.max(1)) {
            *length = self.giant;
        }
        lengths
    }
}

fn ints(values: &[usize], device: &Device) -> Tensor<1, Int> {
    let values: Vec<i32> = values.iter().map(|&value| value as i32).collect();
    tensor::<i32, 1>(&values, [values.len()], device)
}

fn rows(device: &Device) {
    for_all(device, row_cases(), |case| {
        let lengths = case.lengths();
        let total: usize = lengths.iter().sum();
        let offsets = ints(&lengths, device).lengths_to_offsets();
        let ids = host_indices(offsets.clone().offsets_to_segment_ids(total));
        assert!(ids.is_sorted(), "segment ids never decrease");
        let mut counts = vec![0; lengths.len()];
        ids.iter().for_each(|&id| counts[id] += 1);
        assert_eq!(counts, lengths, "segment ids count to lengths");

        let values: Vec<i32> = (0..total).map(|i| hash(i) as i32).collect();
        let x = tensor::<i32, 1>(&values, [total], device);
        let sums = x.clone().segment_reduce(offsets.clone(), ScanOp::Sum);
        let sums = host::<i32, 1>(sums);
        let before = host::<i32, 1>(x.exclusive_cumsum(0));
        let upto = |at: usize| match before.get(at) {
            Some(sum) => *sum,
            None => (before.last().zip(values.last())).map_or(0, |(a, b)| a.wrapping_add(*b)),
        };
        let offsets = host_indices(offsets);
        let expected: Vec<i32> = (offsets.windows(2))
            .map(|row| upto(row[1]).wrapping_sub(upto(row[0])))
            .collect();
        assert_same(&sums, &expected, || "sums of rows".to_string());

        let rows: Vec<i32> = numbered(lengths.len());
        let rows = tensor::<i32, 1>(&rows, [lengths.len()], device);
        let repeated = rows.clone().repeat_by_lengths(ints(&lengths, device));
        let (rows, repeated) = (host::<i32, 1>(rows), host::<i32, 1>(repeated));
        assert!(
            ids.iter().map(|&id| rows[id]).eq(repeated),
            "repetition fetches by id"
        );
    });
}

fn runs(device: &Device) {
    let cases = (0..20_000_usize, 1..40_usize, 0..1000_usize);
    for_all(device, cases, |(n, length, seed)| {
        let mut run = seed;
        let values: Vec<f32> = (0..n)
            .map(|i| {
                run += usize::from(hash(i + seed) % length == 0);
                (hash(run) % 5) as f32
            })
            .collect();
        let x = tensor::<f32, 1>(&values, [n], device);
        let (runs, lengths) = x.run_length_encode();
        let heads = host::<f32, 1>(runs.clone());
        assert!(
            heads.windows(2).all(|pair| pair[0] != pair[1]),
            "neighbouring runs differ"
        );
        let decoded = host::<f32, 1>(runs.repeat_by_lengths(lengths));
        assert_same(&decoded, &values, || "decode(encode(x)) = x".to_string());
    });
}

#[derive(Clone, Debug)]
struct Lines {
    shape: [usize; 2],
    density: Density,
}

fn lines(device: &Device) {
    let cases = ((0..40_usize, 0..700_usize), densities());
    let cases = cases.prop_map(|((rows, columns), density)| Lines {
        shape: [rows, columns],
        density,
    });
    for_all(device, cases, |Lines { shape, density }| {
        let n = shape[0] * shape[1];
        let kept = mask(&density.mask(n), shape, device);
        let x = tensor::<i32, 2>(&numbered(n), shape, device);
        let (left, counts) = x.clone().compact_along_by_mask(kept.clone(), 1);
        let counts = host_indices(counts);
        assert_eq!(
            counts,
            host_indices(kept.clone().int().sum_dim(1)),
            "counts"
        );
        // The survivors of all lines, one line after the other, are the survivors of the whole tensor.
        let flat: Vec<i32> = (host::<i32, 2>(left.clone())
            .chunks(shape[1].max(1))
            .zip(&counts))
        .flat_map(|(line, &count)| line[..count].to_vec())
        .collect();
        let whole = host::<i32, 1>(x.clone().compact_by_mask(kept.clone()));
        assert_same(&flat, &whole, || "the survivors of all lines".to_string());
        // Columns of the transposed tensor are rows.
        let (top, _) = x
            .swap_dims(0, 1)
            .compact_along_by_mask(kept.swap_dims(0, 1), 0);
        let top = host::<i32, 2>(top.swap_dims(0, 1));
        assert_same(&top, &host::<i32, 2>(left), || "transposed".to_string());
    });
}

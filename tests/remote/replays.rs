//! Graphs that a server has kept, replayed with other shapes, operators, dimensions, flags and lengths.
//!
//! A client sends a sequence of operations once. For the next such sequence the server gets only the numbers,
//! and puts them in place of the first ones.

use std::collections::HashMap;

use burn::server::telemetry::{TelemetryEvent, TelemetryProbe};
use burn::tensor::{Device, Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::hash;
use scan_testing::tensors::{OPS, WAYS, options, tensor};

use crate::servers::{at, connect, flex, serve};

/// All results of one round, as bits.
type Bits = Vec<Vec<u32>>;

fn bits<const D: usize>(tensor: Tensor<D>) -> Vec<u32> {
    tensor.into_data().iter::<f32>().map(f32::to_bits).collect()
}

fn ints<const D: usize>(tensor: Tensor<D, Int>) -> Vec<u32> {
    tensor.into_data().iter::<u32>().collect()
}

/// One sequence of operations. Its numbers depend on the round.
fn round(device: &Device, round: usize) -> Bits {
    let shape = [[9, 14], [9, 14], [30, 5], [3, 70], [14, 9], [1, 8]][round % 6];
    let (n, dim) = (shape[0] * shape[1], round % 2);
    let (op, way) = (OPS[round % 4], options(WAYS[round / 2 % 4]));
    let values: Vec<f32> = (0..n).map(|i| (hash(i + round) % 5) as f32 * 0.5).collect();
    let x = tensor::<f32, 2>(&values, shape, device);
    let y = (x.clone() + 1.0).scan(dim, op, way);
    let options = RecurrenceOptions::default();
    let options = if round.is_multiple_of(3) {
        options.reverse()
    } else {
        options
    };
    let z = x
        .clone()
        .linear_recurrence_with(x.clone() * 0.25, 1 - dim, options);
    let mask = x.clone().greater_elem(0.5 + (round % 3) as f32 * 0.5);
    let (kept, count) = (x.clone() * 2.0).compact_by_mask_padded(mask.clone());
    let (lines, counts) = x.clone().compact_along_by_mask(mask.clone(), dim);
    let lengths = x.reshape([n]).int();
    let repeated = kept
        .clone()
        .repeat_by_lengths_into(lengths.clone(), n + 3 * round);
    let offsets = lengths.clone().lengths_to_offsets();
    let ids = offsets.offsets_to_segment_ids(2 * n + round);
    let (grouped, begins) = lengths.partition_by_key(ids.clone().slice(0..n), 1 + round);
    let trues = mask.count_true();
    vec![
        bits(y + 1.0),
        bits(z),
        bits(kept),
        ints(count),
        bits(lines),
        ints(counts),
        bits(repeated),
        ints(ids),
        ints(grouped),
        ints(begins),
        ints(trues),
    ]
}

#[test]
fn other_numbers_in_a_kept_graph() {
    let (probe, mut events) = TelemetryProbe::channel(1 << 16);
    let device = connect(&at(serve(flex().with_telemetry(probe))));
    for i in (0..36).chain(0..12) {
        assert!(
            round(&device, i) == round(&Device::flex(), i),
            "round {i} differs from the local device"
        );
    }
    device.sync().expect("the server answers");
    let (mut all, mut executed) = (Vec::new(), HashMap::<_, usize>::new());
    events.drain_into(&mut all);
    for event in all {
        if let TelemetryEvent::GraphExecuted { graph, .. } = *event {
            *executed.entry(graph).or_default() += 1;
        }
    }
    let most = executed.values().max().copied().unwrap_or_default();
    assert!(most > 10, "no graph was replayed often: {executed:?}");
}

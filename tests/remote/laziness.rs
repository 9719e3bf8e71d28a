//! Reads over the network: the padded forms read nothing back, and the exact forms one number.
//!
//! The server reports every read.

use std::sync::Arc;

use burn::server::telemetry::{OpClass, TelemetryEvent, TelemetryProbe, TelemetrySubscription};
use burn::tensor::{Bool, Device, Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::numbered;
use scan_testing::tensors::views::half;
use scan_testing::tensors::{mask, tensor};

use crate::servers::{at, connect, flex, serve};

const N: usize = 1000;

struct Session {
    device: Device,
    events: TelemetrySubscription,
    values: Tensor<2>,
    kept: Tensor<2, Bool>,
    flat: Tensor<1, Int>,
    row: Tensor<1, Bool>,
}

impl Session {
    /// A session that has started, with its tensors on the server.
    fn new() -> Self {
        let (probe, events) = TelemetryProbe::channel(1 << 16);
        let device = connect(&at(serve(flex().with_telemetry(probe))));
        let kept: Vec<bool> = (0..N).map(half).collect();
        let flat = tensor::<i32, 1>(&numbered(N), [N], &device);
        drop(flat.clone().inclusive_cumsum(0));
        let mut session = Self {
            values: tensor::<f32, 2>(&numbered(N), [N / 10, 10], &device),
            kept: mask(&kept, [N / 10, 10], &device),
            row: mask(&kept, [N], &device),
            device,
            events,
            flat,
        };
        let greeting = session.seen();
        assert_eq!(reads(&greeting), 1, "the first operation greets");
        session
    }

    /// Everything that the server did since the last call.
    fn seen(&mut self) -> Vec<Arc<TelemetryEvent>> {
        self.device.sync().expect("the server answers");
        let mut events = Vec::new();
        self.events.drain_into(&mut events);
        events
    }
}

fn reads(events: &[Arc<TelemetryEvent>]) -> usize {
    let is_read = |event: &&Arc<TelemetryEvent>| matches!(***event, TelemetryEvent::Read { .. });
    events.iter().filter(is_read).count()
}

/// The number of this crate's operations that ran.
fn custom(events: &[Arc<TelemetryEvent>]) -> usize {
    let of = |event: &Arc<TelemetryEvent>| match &**event {
        TelemetryEvent::Op { kind, .. } => usize::from(*kind == OpClass::Custom),
        TelemetryEvent::GraphRegistered { ops, .. } => {
            ops.iter().filter(|op| op.kind == OpClass::Custom).count()
        }
        _ => 0,
    };
    events.iter().map(of).sum()
}

#[test]
fn padded_forms_read_nothing() {
    let mut session = Session::new();
    let (values, kept) = (|| session.values.clone(), || session.kept.clone());
    let (flat, row) = (|| session.flat.clone(), || session.row.clone());
    let scanned = values().scan(0, ScanOp::Sum, ScanOptions::default());
    let walked = values().linear_recurrence(values(), 1);
    let extrema = values().cummax_with_indices(1);
    let segments = values().segmented_scan(kept(), 0, ScanOp::Max, ScanOptions::default());
    let packed = values().compact_by_mask_padded(kept());
    let slices = flat().compact_dim_by_mask_padded(row(), 0);
    let lines = values().compact_along_by_mask(kept(), 1);
    let spread = flat().expand_by_mask(row());
    let grouped = flat().partition_by_key(flat().remainder_scalar(7), 7);
    let count = row().count_true();
    let runs = flat().run_length_encode_padded();
    let repeated = flat().repeat_by_lengths_into(flat().remainder_scalar(3), 2 * N);
    let offsets = flat().remainder_scalar(3).lengths_to_offsets();
    let ids = offsets.clone().offsets_to_segment_ids(N);
    let starts = offsets.clone().offsets_to_starts(N);
    let totals = repeated.clone().segment_reduce(offsets, ScanOp::Sum);
    let order = SortOrder::Descending;
    let sorted = values().radix_sort_with_indices(0, order);
    let largest = values().radix_topk(3, 1);
    let by_key = flat().radix_sort_by_key(row().int(), order);
    let by_bits = row().radix_sort_by_key_bits(flat(), 8, order);
    let positions = kept().compact_indices_padded(N / 2, -1);
    let rows = kept().compact_argwhere_padded(2 * N, -1);
    let first = values().compact_by_mask_into(kept(), 2 * N);

    let seen = session.seen();
    assert_eq!(reads(&seen), 0);
    let run = custom(&seen);
    assert!(run >= 26, "{run} operations have run");
    drop((scanned, walked, extrema, segments, packed, slices, lines));
    drop((spread, grouped, count, runs, repeated, ids, starts, totals));
    drop((sorted, largest, by_key, by_bits, positions, rows, first));
}

/// The name of an exact form, and the form.
type Exact = (&'static str, fn(&Session));

#[test]
fn exact_forms_read_one_number() {
    let mut session = Session::new();
    let exact: [Exact; 6] = [
        ("compact_by_mask", |s| {
            drop(s.values.clone().compact_by_mask(s.kept.clone()));
        }),
        ("compact_dim_by_mask", |s| {
            drop(s.flat.clone().compact_dim_by_mask(s.row.clone(), 0));
        }),
        ("compact_indices", |s| {
            drop(s.kept.clone().compact_indices());
        }),
        ("compact_argwhere", |s| {
            drop(s.kept.clone().compact_argwhere());
        }),
        ("run_length_encode", |s| {
            drop(s.flat.clone().run_length_encode());
        }),
        ("repeat_by_lengths", |s| {
            let lengths = s.flat.clone().remainder_scalar(3);
            drop(s.flat.clone().repeat_by_lengths(lengths));
        }),
    ];
    for (name, run) in exact {
        run(&session);
        assert_eq!(reads(&session.seen()), 1, "{name}");
    }
}

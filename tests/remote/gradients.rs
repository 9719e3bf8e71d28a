//! Gradients through a remote device have the same bits as on the local device, which `tests/gradients`
//! compares with exact adjoints.

use burn::tensor::{Bool, Device, Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::element::hash;
use scan_testing::tensors::{OPS, WAYS, options, tensor};

on_every_device![are_those_of_the_local_device, of_several_inputs];

const SHAPE: [usize; 2] = [12, 17];
const N: usize = SHAPE[0] * SHAPE[1];

fn values(shift: usize) -> Vec<f32> {
    let number = |i| (hash(i + shift) % 64) as f32 / 64.0 + 0.25;
    (0..N).map(number).collect()
}

fn input(device: &Device, shift: usize) -> Tensor<2> {
    let device = device.clone().autodiff();
    tensor::<f32, 2>(&values(shift), SHAPE, &device).require_grad()
}

fn ints(device: &Device, modulus: usize) -> Tensor<1, Int> {
    let values: Vec<i32> = (0..N).map(|i| (hash(i) % modulus) as i32).collect();
    tensor::<i32, 1>(&values, [N], &device.clone().autodiff())
}

fn kept<const D: usize>(shape: [usize; D], device: &Device) -> Tensor<D, Bool> {
    let n = shape.iter().product();
    let mask: Vec<bool> = (0..n).map(|i| hash(i) & 16 != 0).collect();
    tensor::<bool, D>(&mask, shape, &device.clone().autodiff())
}

/// The gradients of the sum of the results, each with its own weight.
fn gradients<const R: usize>(inputs: &[Tensor<2>], result: Tensor<R>) -> Vec<Vec<u32>> {
    let n = result.shape().num_elements();
    let weights: Vec<f32> = (0..n).map(|i| (hash(i + 5) % 9) as f32 - 4.0).collect();
    let weights = tensor::<f32, 1>(&weights, [n], &result.device());
    let gradients = (result.reshape([n]) * weights).sum().backward();
    let bits = |input: &Tensor<2>| {
        let gradient = input.grad(&gradients).expect("the input has a gradient");
        gradient
            .into_data()
            .iter::<f32>()
            .map(f32::to_bits)
            .collect()
    };
    inputs.iter().map(bits).collect()
}

fn all(device: &Device) -> Vec<(String, Vec<Vec<u32>>)> {
    let of = |name: &str, op: &dyn Fn(Tensor<2>) -> Tensor<1>| {
        let x = input(device, 0);
        let result = op(x.clone());
        (name.to_string(), gradients(&[x], result))
    };
    let flat = |x: Tensor<2>| x.reshape([N]);
    let mut found = Vec::new();
    for (op, (dim, way)) in OPS.into_iter().chain([ScanOp::LogSumExp]).flat_map(|op| {
        let ways = WAYS.into_iter().enumerate();
        ways.map(move |(i, way)| (op, (i % 2, options(way))))
    }) {
        found.push(of(&format!("{op:?} {way:?}"), &|x| {
            flat(x.scan(dim, op, way))
        }));
    }
    let default = ScanOptions::default();
    found.extend([
        of("segmented_scan", &|x| {
            flat(x.segmented_scan(kept(SHAPE, device), 1, ScanOp::Sum, default))
        }),
        of("cummax_with_indices", &|x| flat(x.cummax_with_indices(0).0)),
        of("compact_by_mask", &|x| {
            x.compact_by_mask(kept(SHAPE, device))
        }),
        of("compact_by_mask_padded", &|x| {
            x.compact_by_mask_padded(kept(SHAPE, device)).0
        }),
        of("compact_dim_by_mask", &|x| {
            let compact = x.compact_dim_by_mask(kept([SHAPE[1]], device), 1);
            let n = compact.shape().num_elements();
            compact.reshape([n])
        }),
        of("compact_along_by_mask", &|x| {
            flat(x.compact_along_by_mask(kept(SHAPE, device), 0).0)
        }),
        of("expand_by_mask", &|x| {
            let expanded = flat(x).expand_by_mask(kept([30, 20], device));
            expanded.reshape([600])
        }),
        of("partition_by_key", &|x| {
            flat(x).partition_by_key(ints(device, 6), 5).0
        }),
        of("run_length_encode", &|x| flat(x).run_length_encode().0),
        of("repeat_by_lengths", &|x| {
            flat(x).repeat_by_lengths(ints(device, 4))
        }),
        of("radix_sort", &|x| {
            flat(x.radix_sort(0, SortOrder::Descending))
        }),
        of("radix_topk", &|x| {
            let largest = x.radix_topk(5, 1);
            let n = largest.shape().num_elements();
            largest.reshape([n])
        }),
        of("radix_sort_by_key", &|x| {
            let by = ints(device, 9);
            flat(x).radix_sort_by_key(by, SortOrder::Ascending).0
        }),
        of("compact_by_mask_into", &|x| {
            x.compact_by_mask_into(kept(SHAPE, device), N + 7).0
        }),
        of("segment_reduce", &|x| {
            let lengths = ints(device, 3).lengths_to_offsets();
            flat(x).segment_reduce(lengths, ScanOp::Sum)
        }),
    ]);
    found
}

fn are_those_of_the_local_device(device: &Device) {
    let (found, expected) = (all(device), all(&Device::flex()));
    for (found, expected) in found.into_iter().zip(expected) {
        assert!(found == expected, "{}", found.0);
    }
}

/// Every float argument has a gradient.
fn several(device: &Device) -> Vec<Vec<Vec<u32>>> {
    let first = |x: &Tensor<2>| x.clone().slice([0..1, 0..SHAPE[1]]);
    let [x, decay, state] = [0, 1, 2].map(|shift| input(device, 1000 * shift));
    let options = RecurrenceOptions::default()
        .initial(first(&state))
        .reverse();
    let walked = x.clone().linear_recurrence_with(decay.clone(), 0, options);
    let [y, initial] = [3, 4].map(|shift| input(device, 1000 * shift));
    let exclusive = ScanOptions::default().exclusive();
    let scanned = y
        .clone()
        .scan_from(first(&initial), 0, ScanOp::Prod, exclusive);
    vec![
        gradients(&[x, decay, state], walked),
        gradients(&[y, initial], scanned),
    ]
}

fn of_several_inputs(device: &Device) {
    assert!(several(device) == several(&Device::flex()));
}

//! Where outputs may lie: contiguous, and in memory that no other tensor of the call uses. For every public
//! operation of the device level, each output is tried at each other tensor's memory.

use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::server::Handle;
use cubecl_scan::compact::{
    Emit, PermutationShape, compact, expand, gather, partition_ranks, run_lengths, scatter,
};
use cubecl_scan::monoid::{ArgExtremum, Extremum, LinearRecurrence};
use cubecl_scan::scan::{ScanOptions, ScanTensors, scan, scan_operator};
use cubecl_scan::segments::segment_sums;
use cubecl_scan::sort::{SortOptions, SortOutputs, sort, top_k};
use cubecl_scan::{ScanError, ScanOp};
use scan_testing::kernels::*;

/// Elements of every tensor except counts: half a KiB, a multiple of the alignment that devices want for a
/// binding.
const LEN: usize = 128;

/// The content of a tensor that no operation has written to.
const UNTOUCHED: i32 = 1;

/// An operation on tensors of integers, and the name of each tensor. The outputs come last.
struct Operation {
    name: &'static str,
    inputs: &'static [&'static str],
    outputs: &'static [&'static str],
    launch: fn(&Client, Vec<TensorBinding>) -> Result<(), ScanError>,
}

impl Operation {
    fn names(&self) -> Vec<&'static str> {
        [self.inputs, self.outputs].concat()
    }
}

fn int(tensor: TensorBinding) -> (TensorBinding, ElemType) {
    (tensor, i32::elem_type_native())
}

fn taken<const N: usize>(tensors: Vec<TensorBinding>) -> [TensorBinding; N] {
    tensors.try_into().expect("as many as have names")
}

fn compacted(
    client: &Client,
    values: Option<TensorBinding>,
    [mask, output, count]: [TensorBinding; 3],
    emit: Emit,
) -> Result<(), ScanError> {
    let index = i32::elem_type_native();
    compact(
        client,
        values.map(int),
        int(mask),
        output,
        count,
        index,
        emit,
        launch(),
    )
}

fn sorting(tensors: Vec<TensorBinding>) -> ((TensorBinding, ElemType), SortOutputs) {
    let [keys, sorted, positions] = taken(tensors);
    let outputs = SortOutputs {
        keys: Some(sorted),
        positions: Some(int(positions)),
    };
    (int(keys), outputs)
}

const MOVE: PermutationShape = PermutationShape {
    outer: 1,
    slices: LEN,
    destinations: LEN,
    inner: 1,
};

const OPERATIONS: [Operation; 14] = [
    Operation {
        name: "scan",
        inputs: &["input"],
        outputs: &["output"],
        launch: |client, tensors| {
            let [input, output] = taken(tensors);
            let (dtype, options) = (i32::elem_type_native(), ScanOptions::default());
            scan(client, input, output, 0, dtype, ScanOp::Sum, options)
        },
    },
    Operation {
        name: "recurrence",
        inputs: &["input", "input"],
        outputs: &["output"],
        launch: |client, tensors| {
            let [values, decays, output] = taken(tensors);
            let dtype = i32::elem_type_native();
            let tensors = ScanTensors::new(vec![values, decays], vec![output], 0, dtype);
            let options = ScanOptions::default();
            scan_operator::<LinearRecurrence>(client, tensors, (), options, launch())
        },
    },
    Operation {
        name: "maxima and where they are",
        inputs: &["input"],
        outputs: &["output", "positions"],
        launch: |client, tensors| {
            let [input, output, positions] = taken(tensors);
            let dtype = i32::elem_type_native();
            let tensors = ScanTensors::new(vec![input], vec![output], 0, dtype);
            let (tensors, options) = (tensors.positions(positions, dtype), ScanOptions::default());
            scan_operator::<ArgExtremum>(client, tensors, Extremum::Max, options, launch())
        },
    },
    Operation {
        name: "segment sums",
        inputs: &["input", "starts"],
        outputs: &["output"],
        launch: |client, tensors| {
            let [values, heads, output] = taken(tensors);
            let dtype = i32::elem_type_native();
            segment_sums(client, values, int(heads), output, 0, dtype, false)
        },
    },
    Operation {
        name: "compaction of values",
        inputs: &["values", "mask"],
        outputs: &["output", "count"],
        launch: |client, mut tensors| {
            let values = tensors.remove(0);
            compacted(client, Some(values), taken(tensors), Emit::Values)
        },
    },
    Operation {
        name: "positions",
        inputs: &["mask"],
        outputs: &["output", "count"],
        launch: |client, tensors| compacted(client, None, taken(tensors), Emit::Indices),
    },
    Operation {
        name: "destinations",
        inputs: &["mask"],
        outputs: &["output", "count"],
        launch: |client, tensors| compacted(client, None, taken(tensors), Emit::Destinations),
    },
    Operation {
        name: "runs",
        inputs: &["values"],
        outputs: &["output", "lengths", "count"],
        launch: |client, tensors| {
            let [values, output, lengths, count] = taken(tensors);
            let (index, emit) = (i32::elem_type_native(), Emit::Values);
            let values = int(values);
            run_lengths(
                client,
                values,
                output,
                lengths,
                count,
                index,
                emit,
                launch(),
            )
        },
    },
    Operation {
        name: "expansion",
        inputs: &["packed", "mask"],
        outputs: &["output"],
        launch: |client, tensors| {
            let [packed, mask, output] = taken(tensors);
            let dtype = i32::elem_type_native();
            expand(client, packed, int(mask), output, dtype, launch())
        },
    },
    Operation {
        name: "grouping",
        inputs: &["keys"],
        outputs: &["destinations", "offsets"],
        launch: |client, tensors| {
            let [keys, destinations, offsets] = taken(tensors);
            let index = i32::elem_type_native();
            partition_ranks(
                client,
                int(keys),
                destinations,
                offsets,
                LEN - 1,
                index,
                launch(),
            )
        },
    },
    Operation {
        name: "fetching slices",
        inputs: &["destinations", "list of destinations"],
        outputs: &["slices"],
        launch: |client, tensors| {
            let [destinations, list, slices] = taken(tensors);
            gather(
                client,
                destinations,
                int(list),
                slices,
                i32::elem_type_native(),
                MOVE,
            )
        },
    },
    Operation {
        name: "placing slices",
        inputs: &["slices", "list of destinations"],
        outputs: &["destinations"],
        launch: |client, tensors| {
            let [slices, list, destinations] = taken(tensors);
            let dtype = i32::elem_type_native();
            scatter(client, slices, int(list), destinations, dtype, MOVE)
        },
    },
    Operation {
        name: "sort",
        inputs: &["keys"],
        outputs: &["sorted keys", "positions"],
        launch: |client, tensors| {
            let (keys, outputs) = sorting(tensors);
            let options = SortOptions::default();
            sort(client, keys, outputs, [1, LEN], options, launch())
        },
    },
    Operation {
        name: "largest keys",
        inputs: &["keys"],
        outputs: &["sorted keys", "positions"],
        launch: |client, tensors| {
            let (keys, outputs) = sorting(tensors);
            top_k(client, keys, outputs, [1, LEN], LEN, launch())
        },
    },
];

/// A buffer for `tensors` tensors.
fn buffer(client: &Client, tensors: usize) -> Handle {
    upload(client, &vec![UNTOUCHED; tensors * LEN])
}

/// `LEN` elements from element `first` of a buffer, or one element for a count.
fn placed(buffer: &Handle, first: usize, name: &str) -> TensorBinding {
    let len = if name == "count" { 1 } else { LEN };
    let begin = (first * size_of::<i32>()) as u64;
    flat(&buffer.clone().offset_start(begin), len)
}

#[test]
fn an_output_shares_no_memory() {
    let client = client();
    for operation in OPERATIONS {
        let names = operation.names();
        for output in operation.inputs.len()..names.len() {
            for other in 0..output {
                let last = if names[other] == "count" { 0 } else { LEN - 1 };
                // The same tensor. The output's first element at the other's last. The output's last at the other's
                // first.
                let within = if names[output] == "count" { 0 } else { LEN - 1 };
                for (output_at, other_at) in [(0, 0), (last, 0), (0, within)] {
                    let buffers: Vec<Handle> = names.iter().map(|_| buffer(&client, 2)).collect();
                    let shared = &buffers[other];
                    let at = |operand: usize| match operand {
                        _ if operand == output => placed(shared, output_at, names[operand]),
                        _ if operand == other => placed(shared, other_at, names[operand]),
                        _ => placed(&buffers[operand], 0, names[operand]),
                    };
                    let tensors = (0..names.len()).map(at).collect();
                    let refused = (operation.launch)(&client, tensors);
                    let expected = ScanError::OverlappingMemory {
                        output: names[output],
                        other: names[other],
                    };
                    assert_eq!(
                        refused,
                        Err(expected),
                        "{} at {output_at} and {other_at}",
                        operation.name
                    );
                    for buffer in buffers {
                        let found = read::<i32>(&client, buffer, 2 * LEN);
                        assert_eq!(found, [UNTOUCHED; 2 * LEN], "{}", operation.name);
                    }
                }
            }
        }
    }
}

#[test]
fn an_output_is_contiguous() {
    let client = client();
    for operation in OPERATIONS {
        let names = operation.names();
        for output in operation.inputs.len()..names.len() {
            if names[output] == "count" {
                continue; // A single element is.
            }
            let buffers: Vec<Handle> = names.iter().map(|_| buffer(&client, 2)).collect();
            let mut tensors: Vec<_> = (0..names.len())
                .map(|operand| placed(&buffers[operand], 0, names[operand]))
                .collect();
            tensors[output].strides = [2].into();
            let refused = (operation.launch)(&client, tensors);
            assert_eq!(
                refused,
                Err(ScanError::InvalidOutput),
                "{} into {}",
                operation.name,
                names[output]
            );
            let found = read::<i32>(&client, buffers[output].clone(), 2 * LEN);
            assert_eq!(found, [UNTOUCHED; 2 * LEN], "{}", operation.name);
        }
    }
}

/// Neighbouring tensors in one buffer are served like tensors in buffers of their own.
#[test]
fn neighbours_share_no_memory() {
    let client = client();
    for operation in OPERATIONS {
        let names = operation.names();
        let together = buffer(&client, names.len());
        let apart: Vec<Handle> = names.iter().map(|_| buffer(&client, 1)).collect();
        let place = |at: &dyn Fn(usize) -> TensorBinding| (0..names.len()).map(at).collect();
        let neighbours = place(&|at| placed(&together, at * LEN, names[at]));
        (operation.launch)(&client, neighbours).expect("neighbours are apart");
        let strangers = place(&|at| placed(&apart[at], 0, names[at]));
        (operation.launch)(&client, strangers).expect("supported");
        let found = read::<i32>(&client, together, names.len() * LEN);
        let expected: Vec<i32> = apart
            .into_iter()
            .flat_map(|buffer| read::<i32>(&client, buffer, LEN))
            .collect();
        assert_eq!(found, expected, "{}", operation.name);
    }
}

/// Inputs are only read, so one tensor may be two inputs.
#[test]
fn inputs_may_share_memory() {
    let client = client();
    let (both, output) = (buffer(&client, 1), sentinel(&client, LEN));
    let count = sentinel(&client, 1);
    let tensors = [&both, &both, &output].map(|handle| flat(handle, LEN));
    let [values, mask, to] = tensors;
    compacted(
        &client,
        Some(values),
        [mask, to, flat(&count, 1)],
        Emit::Values,
    )
    .expect("nothing is written where something is read");
    assert_eq!(read::<i32>(&client, output, LEN), [UNTOUCHED; LEN]);
    assert_eq!(read::<i32>(&client, count, 1), [LEN as i32]);
}

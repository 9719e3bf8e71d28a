//! The kernels that a GPU runs at its own tuning, on tensors of real size: compiled, never run.
//!
//! The groups named [`CONTIGUOUS`] have full tiles of contiguous memory. There every access should be as wide
//! as the GPU's widest.

use super::record::{case, compiled_only};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl_scan::ScanOp;
use cubecl_scan::compact::{
    Emit, PermutationShape, compact, expand, gather, partition, partition_ranks, scatter_ranks,
};
use cubecl_scan::monoid::{
    ArgExtremum, Extremum, Fold, LinearRecurrence, LogSumExp, Operator, Segmented,
};
use cubecl_scan::scan::{
    LaunchOptions, RoutineKind, ScanOptions, ScanTensors, Strategy, scan_operator, scan_with,
};
use cubecl_scan::sort::{SortOptions, SortOutputs, sort, top_k};
use scan_testing::kernels::{View, flat, tensor};

const CONTIGUOUS: &str = "contiguous";
const OTHER: &str = "other";

pub fn record(client: &Client) {
    compiled_only(|| record_all(client));
}

fn record_all(client: &Client) {
    let forward = ScanOptions::default();
    for elem in [
        f32::elem_type_native(),
        half::f16::elem_type_native(),
        half::bf16::elem_type_native(),
        i32::elem_type_native(),
        i64::elem_type_native(),
        f64::elem_type_native(),
    ] {
        for (routine, shape) in [
            (RoutineKind::SinglePass, [1, 1 << 24]),
            (RoutineKind::ReduceThenScan, [1, 1 << 24]),
            (RoutineKind::SingleCube, [1 << 14, 1024]),
            (RoutineKind::Columns, [1 << 12, 1 << 12]),
            (RoutineKind::ColumnTiles, [1 << 12, 1 << 12]),
            (RoutineKind::ColumnTiles, [1 << 20, 8]),
        ] {
            scan(
                client,
                CONTIGUOUS,
                (routine, shape),
                elem,
                ScanOp::Sum,
                forward,
            );
        }
    }
    let float = f32::elem_type_native();
    let single_pass = (RoutineKind::SinglePass, [1, 1 << 24]);
    for op in [ScanOp::Prod, ScanOp::Max] {
        scan(client, CONTIGUOUS, single_pass, float, op, forward);
    }
    let last_to_first = ScanOptions {
        exclusive: true,
        reverse: true,
    };
    scan(
        client,
        CONTIGUOUS,
        single_pass,
        float,
        ScanOp::Sum,
        last_to_first,
    );
    for (routine, shape) in [
        (RoutineKind::SinglePass, [84, 50_257]),
        (RoutineKind::SingleCube, [1 << 18, 20]),
        (RoutineKind::Columns, [1 << 22, 2]),
    ] {
        scan(client, OTHER, (routine, shape), float, ScanOp::Sum, forward);
    }
    operator::<LinearRecurrence>(client, (), 2);
    operator::<LogSumExp>(client, (), 1);
    operator::<ArgExtremum>(client, Extremum::Max, 1);
    operator::<Segmented<Fold>>(client, ScanOp::Sum, 1);
    selections(client);
    bytes(client);
    sorts(client);
}

/// Device memory that is described and never touched.
fn room(client: &Client, shape: &[usize], elem: ElemType) -> TensorBinding {
    let view = View::contiguous(shape);
    tensor(client.empty(view.elements() * elem.size()), &view)
}

fn nothing() -> Vec<(cubecl::server::Handle, Vec<i32>)> {
    Vec::new()
}

/// Columns lie along the first axis, rows along the second.
fn axis_of(routine: RoutineKind) -> usize {
    usize::from(!matches!(
        routine,
        RoutineKind::Columns | RoutineKind::ColumnTiles
    ))
}

fn forced(routine: RoutineKind) -> LaunchOptions {
    LaunchOptions {
        strategy: Strategy::Forced(routine),
        ..Default::default()
    }
}

fn scan(
    client: &Client,
    group: &str,
    (routine, shape): (RoutineKind, [usize; 2]),
    elem: ElemType,
    op: ScanOp,
    options: ScanOptions,
) {
    let axis = axis_of(routine);
    let name = format!(
        "{routine:?} of {elem:?} {shape:?} along {axis}, {op:?}{}{}",
        if options.exclusive { " exclusive" } else { "" },
        if options.reverse { " reverse" } else { "" },
    );
    case(client, group, &name, || {
        let [input, output] = [(); 2].map(|()| room(client, &shape, elem));
        scan_with(
            client,
            input,
            output,
            axis,
            elem,
            op,
            options,
            forced(routine),
        )
        .expect("supported");
        nothing()
    });
}

fn operator<O: Operator>(client: &Client, op: O::Config, inputs: usize) {
    let elem = f32::elem_type_native();
    for (routine, shape) in [
        (RoutineKind::SinglePass, [1, 1 << 24]),
        (RoutineKind::Columns, [1 << 12, 1 << 12]),
        (RoutineKind::ColumnTiles, [1 << 12, 1 << 12]),
    ] {
        let axis = axis_of(routine);
        let parts = std::any::type_name::<O>().split('<');
        let kinds: Vec<_> = parts.filter_map(|part| part.rsplit("::").next()).collect();
        let name = format!("{routine:?} of {}", kinds.join("<"));
        case(client, CONTIGUOUS, &name, || {
            let many = |count| (0..count).map(|_| room(client, &shape, elem)).collect();
            let mut tensors = ScanTensors::new(many(inputs), many(O::OUTPUTS), axis, elem);
            if O::STARTS {
                let flag = u32::elem_type_native();
                tensors = tensors.segmented(room(client, &shape, flag), flag, false);
            }
            if O::POSITIONS {
                let int = i32::elem_type_native();
                tensors = tensors.positions(room(client, &shape, int), int);
            }
            let options = ScanOptions::default();
            scan_operator::<O>(client, tensors, op, options, forced(routine)).expect("supported");
            nothing()
        });
    }
}

fn selections(client: &Client) {
    let n = 1 << 24;
    let (float, int) = (f32::elem_type_native(), i32::elem_type_native());
    let flag = u32::elem_type_native();
    let launch = LaunchOptions::default();
    for emit in [Emit::Values, Emit::Indices, Emit::Destinations] {
        case(
            client,
            CONTIGUOUS,
            &format!("compaction to {emit:?}"),
            || {
                compact(
                    client,
                    (emit == Emit::Values).then(|| (room(client, &[n], float), float)),
                    (room(client, &[n], flag), flag),
                    room(client, &[n], if emit == Emit::Values { float } else { int }),
                    room(client, &[1], int),
                    int,
                    emit,
                    launch,
                )
                .expect("supported");
                nothing()
            },
        );
    }
    case(client, OTHER, "expansion", || {
        expand(
            client,
            room(client, &[n], float),
            (room(client, &[n], flag), flag),
            room(client, &[n], float),
            float,
            launch,
        )
        .expect("supported");
        nothing()
    });
    for keys in [200, 60_000] {
        case(client, OTHER, &format!("{keys} keys"), || {
            let (destinations, offsets) = (room(client, &[n], int), room(client, &[keys + 1], int));
            let input = (room(client, &[n], int), int);
            partition_ranks(client, input, destinations, offsets, keys, int, launch)
                .expect("supported");
            nothing()
        });
        case(client, OTHER, &format!("values of {keys} keys"), || {
            let (grouped, offsets) = (room(client, &[n], float), room(client, &[keys + 1], int));
            let [input, values] = [int, float].map(|dtype| (room(client, &[n], dtype), dtype));
            partition(client, input, values, grouped, (offsets, int), keys, launch)
                .expect("supported");
            nothing()
        });
    }
    for (slices, inner) in [(1 << 18, 64), (1 << 24, 1)] {
        let shape = PermutationShape {
            outer: 1,
            slices,
            destinations: slices,
            inner,
        };
        case(
            client,
            OTHER,
            &format!("moves of {inner} by destinations"),
            || {
                let list = || (flat(&client.empty(4 * slices), slices), int);
                let [from, to] = [(); 2].map(|()| room(client, &[n], float));
                let taken = flat(&client.empty(4), 1);
                scatter_ranks(client, from, list(), taken, to, float, shape).expect("supported");
                let [from, to] = [(); 2].map(|()| room(client, &[n], float));
                gather(client, from, list(), to, float, shape).expect("supported");
                nothing()
            },
        );
    }
}

/// Vectors of 16 bytes with a state or a position for each byte: these kernels ask for the most shared memory.
fn bytes(client: &Client) {
    let (byte, flag) = (i8::elem_type_native(), u8::elem_type_native());
    let shape = [1 << 20, 16];
    case(client, OTHER, "segments of bytes in columns", || {
        let [input, output, starts] = [byte, byte, flag].map(|elem| room(client, &shape, elem));
        let tensors = ScanTensors::new(vec![input], vec![output], 0, byte);
        let tensors = tensors.segmented(starts, flag, false);
        let (options, launch) = (ScanOptions::default(), forced(RoutineKind::ColumnTiles));
        scan_operator::<Segmented<Fold>>(client, tensors, ScanOp::Sum, options, launch)
            .expect("supported");
        nothing()
    });
    let (n, position) = (1 << 24, i64::elem_type_native());
    case(client, OTHER, "positions of 64 bits of bytes", || {
        let mask = (room(client, &[n], flag), flag);
        let [output, count] = [n, 1].map(|len| room(client, &[len], position));
        let launch = LaunchOptions::default();
        compact(
            client,
            None,
            mask,
            output,
            count,
            position,
            Emit::Indices,
            launch,
        )
        .expect("supported");
        nothing()
    });
}

/// Keys alone: in tiles that look back, in tiles that are counted, in a cube, and the largest.
fn sorts(client: &Client) {
    let (word, float) = (u32::elem_type_native(), f32::elem_type_native());
    let long = [16, 1 << 20];
    let back = LaunchOptions::default();
    let counted = forced(RoutineKind::ReduceThenScan);
    let outputs = |elem, kept, has_positions: bool| SortOutputs {
        keys: Some(room(client, &[kept], elem)),
        positions: has_positions.then(|| (room(client, &[kept], word), word)),
    };
    for (name, shape, launch) in [
        ("tiles that look back", long, back),
        ("tiles that are counted", long, counted),
        ("a cube", [1 << 14, 1024], back),
    ] {
        for (elem, has_positions) in [
            (word, false),
            (float, true),
            (i64::elem_type_native(), true),
        ] {
            let with = if has_positions {
                ", with positions"
            } else {
                ""
            };
            let name = format!("sort of {elem:?} {shape:?} in {name}{with}");
            case(client, CONTIGUOUS, &name, || {
                let keys = (room(client, &shape, elem), elem);
                let outputs = outputs(elem, shape[0] * shape[1], has_positions);
                sort(client, keys, outputs, shape, SortOptions::default(), launch)
                    .expect("supported");
                nothing()
            });
        }
    }
    case(
        client,
        CONTIGUOUS,
        "the largest 64 of [16, 1048576]",
        || {
            let keys = (room(client, &long, float), float);
            let outputs = outputs(float, 16 * 64, true);
            top_k(client, keys, outputs, long, 64, back).expect("supported");
            nothing()
        },
    );
}

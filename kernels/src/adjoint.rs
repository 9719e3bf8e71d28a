//! The gradient of a linear recurrence `h[t] = decay[t]·h[t−1] + value[t]`, in two launches.
//!
//! ```text
//! g[t] = flow[t] + decay[t+1]·g[t+1]       what flows back to values: a scan the other way, with its own operator
//! g[t]·h[t−1]                              what flows back to decays       } the second launch: each unit a vector,
//! decay[0]·g[0]                            what flows back to initial ones } and a share of the lines
//! ```

use crate::ScanError;
use crate::error::check_outputs;
use crate::monoid::RecurrenceAdjoint;
use crate::operator::accumulator_of;
use crate::scan::components::rows::{RowsView, RowsViewLaunch, outer_dims};
use crate::scan::problem::{Lines, lanes_of};
use crate::scan::{
    ELEMENTWISE_UNITS, LaunchOptions, ScanOptions, ScanTensors, cube_count, scan_operator,
};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;

/// What a gradient is computed from, and where it is written. All tensors have the shape of the recurrence, except that
/// initial values have size 1 along the axis.
#[derive(Clone, Debug)]
pub struct RecurrenceGradients {
    /// What flows back to each result. Any strides.
    pub flow: TensorBinding,
    /// The decays. Any strides.
    pub decay: TensorBinding,
    /// The results, contiguous.
    pub results: TensorBinding,
    /// Receives what flows back to values, contiguous.
    pub of_values: TensorBinding,
    /// Receives what flows back to decays, contiguous.
    pub of_decay: TensorBinding,
    /// The initial values of lines, if not 0, and the output for what flows back to them. Both contiguous.
    pub initial: Option<[TensorBinding; 2]>,
}

/// The vectors of a tensor around the axis.
#[derive(CubeType, CubeLaunch)]
struct Steps {
    /// Vectors of one step of all columns; 1 where vectors lie along the axis.
    across: usize,
    /// Vectors of all steps of these columns; those of a row where vectors lie along the axis.
    block: FastDivmod<usize>,
    /// Where the first step of the recurrence lies in a block.
    first: usize,
    vectors: usize,
    /// Units of all cubes.
    units: usize,
}

/// Where each line begins, and how far from there its first step is.
#[derive(CubeType, CubeLaunch)]
struct Firsts {
    /// The decays, then what flows back.
    lines: RowsView,
    count: usize,
    to_decay: usize,
    to_flow: usize,
}

/// The element before each lane of a vector along a row, or the one after it. `neighbour` is the vector on that side.
#[cube]
fn moved<A: Numeric, N: Size>(
    own: Vector<A, N>,
    neighbour: Vector<A, N>,
    #[comptime] before: bool,
) -> Vector<A, N> {
    let lanes = N::value().comptime();
    let mut moved = Vector::<A, N>::new(A::from_int(0));
    #[unroll]
    for lane in 0..lanes {
        let value = if comptime!(before && lane == 0) {
            neighbour.extract(comptime!(lanes - 1))
        } else if comptime!(before) {
            own.extract(comptime!(lane - 1))
        } else if comptime!(lane + 1 == lanes) {
            neighbour.extract(0usize)
        } else {
            own.extract(comptime!(lane + 1))
        };
        moved.insert(lane, value);
    }
    moved
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn recurrence_flows_kernel<T: Numeric, A: Numeric, N: Size>(
    flows: &[Vector<T, N>],
    results: &[Vector<T, N>],
    of_decay: &mut [Vector<T, N>],
    decay: &Sequence<&'static [T]>,
    flow_elements: &Sequence<&'static [T]>,
    initial: &Sequence<&'static [T]>,
    of_initial: &mut Sequence<&'static mut [T]>,
    steps: &Steps,
    firsts: &Firsts,
    #[comptime] in_rows: bool,
    #[comptime] reverse: bool,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    let lanes = N::value().comptime();
    let at = ABSOLUTE_POS;
    if at < steps.vectors {
        let (outer, of_block) = steps.block.div_mod(at);
        let across = steps.across;
        let mut is_first = of_block < across;
        let mut neighbour = at - select(is_first, 0, across);
        if comptime!(reverse) {
            is_first = of_block >= steps.first;
            neighbour = at + select(is_first, 0, across);
        }
        let mut before = Vector::<A, N>::cast_from(results[neighbour]);
        if is_first {
            before = Vector::new(A::from_int(0));
            #[unroll]
            for _ in 0..initial.len().comptime() {
                #[unroll]
                for lane in 0..lanes {
                    let line = if comptime!(in_rows) {
                        outer
                    } else {
                        (outer * across + of_block - steps.first) * lanes + lane
                    };
                    before.insert(lane, A::cast_from(initial[0][line]));
                }
            }
        }
        if comptime!(in_rows) {
            let own = Vector::<A, N>::cast_from(results[at]);
            before = moved::<A, N>(own, before, comptime!(!reverse));
        }
        let flow = Vector::<A, N>::cast_from(flows[at]);
        of_decay[at] = Vector::cast_from(flow * before);
    }
    #[unroll]
    for _ in 0..initial.len().comptime() {
        let mut line = ABSOLUTE_POS;
        while line < firsts.count {
            let row = firsts.lines.row(line);
            let decay = A::cast_from(decay[0][row.inputs[0] + firsts.to_decay]);
            let flow = A::cast_from(flow_elements[0][row.inputs[1] + firsts.to_flow]);
            let output = &mut of_initial[0];
            output[line] = T::cast_from(decay * flow);
            line += steps.units;
        }
    }
}

/// The gradients of a linear recurrence along `axis` with respect to values, decays and initial values. `reverse` says
/// whether the recurrence ran in reverse. `launch` is for the scan.
///
/// Half-precision floats are computed in f32. Nothing waits for the device.
///
/// # Errors
///
/// See [`ScanError`]. A routine that `launch` forces may be refused. Nothing was launched then.
///
/// # Panics
///
/// If a tensor is smaller than the recurrence.
pub fn recurrence_adjoint(
    client: &Client,
    tensors: RecurrenceGradients,
    axis: usize,
    dtype: ElemType,
    reverse: bool,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    let shape = &tensors.flow.shape;
    let (elements, size) = (shape.iter().product::<usize>(), dtype.size());
    let lines = elements
        .checked_div(shape.get(axis).copied().unwrap_or(1))
        .unwrap_or(0);
    let mut read = vec![
        ("flow", &tensors.flow, size, 0),
        ("decay", &tensors.decay, size, 0),
        ("results", &tensors.results, size, elements),
    ];
    let mut written = vec![
        ("gradient of values", &tensors.of_values, size, 0),
        ("gradient of decays", &tensors.of_decay, size, elements),
    ];
    if let Some([initial, of_initial]) = &tensors.initial {
        read.push(("initial value", initial, size, lines));
        written.push(("gradient of initial values", of_initial, size, lines));
    }
    let address_type = check_outputs(&read, &written)?;
    let inputs = vec![tensors.flow.clone(), tensors.decay.clone()];
    let scan = ScanTensors::new(inputs, vec![tensors.of_values.clone()], axis, dtype);
    let options = ScanOptions {
        exclusive: false,
        reverse: !reverse,
    };
    scan_operator::<RecurrenceAdjoint>(client, scan, (), options, launch)?;
    if !tensors.flow.shape.contains(&0) {
        launch_flows(client, tensors, axis, dtype, reverse, address_type);
    }
    Ok(())
}

/// The second launch: what flows back to decays and initial values, after the scan. There is at least one element.
fn launch_flows(
    client: &Client,
    tensors: RecurrenceGradients,
    axis: usize,
    dtype: ElemType,
    reverse: bool,
    address_type: AddressType,
) {
    let RecurrenceGradients {
        flow,
        decay,
        results,
        of_values,
        of_decay,
        initial,
    } = tensors;
    let (shape, size) = (flow.shape, dtype.size());
    let inner: usize = shape[axis + 1..].iter().product();
    let in_rows = inner == 1;
    let len = if in_rows { shape[axis] } else { inner };
    let in_vectors = [&of_values, &results, &of_decay].map(|tensor| (tensor, size));
    let lanes = lanes_of(client, len, &in_vectors);
    let vectors = shape.iter().product::<usize>() / lanes;
    let cubes = vectors.div_ceil(ELEMENTWISE_UNITS);
    let [across, along] = if in_rows {
        [1, shape[axis] / lanes]
    } else {
        [inner / lanes, shape[axis]]
    };
    let first = if reverse { (along - 1) * across } else { 0 };
    let steps = StepsLaunch::new(
        across,
        across * along,
        first,
        vectors,
        cubes * ELEMENTWISE_UNITS,
    );
    let firsts = firsts([decay.clone(), of_values.clone()], axis, reverse);
    let (mut decays, mut flows) = (SequenceArg::new(), SequenceArg::new());
    let (mut initials, mut of_initials) = (SequenceArg::new(), SequenceArg::new());
    if let Some([initial, of_initial]) = initial {
        decays.push(decay.into_buffer_arg());
        flows.push(of_values.clone().into_buffer_arg());
        initials.push(initial.into_buffer_arg());
        of_initials.push(of_initial.into_buffer_arg());
    }
    // SAFETY: all tensors were checked to have these elements, and the decays those that their strides reach; units
    // past them do nothing.
    unsafe {
        recurrence_flows_kernel::launch_unchecked(
            client,
            cube_count(client, cubes),
            CubeDim::new_1d(ELEMENTWISE_UNITS as u32),
            address_type,
            lanes,
            of_values.into_buffer_arg(),
            results.into_buffer_arg(),
            of_decay.into_buffer_arg(),
            decays,
            flows,
            initials,
            of_initials,
            steps,
            firsts,
            in_rows,
            reverse,
            dtype,
            accumulator_of(dtype),
        );
    }
}

/// Where the first steps lie in the decays and in the flow. Both tensors have the shape of the recurrence.
fn firsts(tensors: [TensorBinding; 2], axis: usize, reverse: bool) -> FirstsLaunch {
    let Lines { axis, outer, inner } = Lines::of(&tensors, axis);
    let across = [outer, inner].concat();
    let first = if reverse { axis.size - 1 } else { 0 };
    FirstsLaunch::new(
        RowsViewLaunch::new(outer_dims(&across, 2, 1), 1, 1),
        across.iter().map(|dim| dim.size).product(),
        first * axis.strides[0],
        first * axis.strides[1],
    )
}

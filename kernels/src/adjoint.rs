//! The gradient of a linear recurrence `h[t] = decay[t]·h[t−1] + value[t]`, in two launches.
//!
//! ```text
//! u[t] = decay[t]·(flow[t] + u[t+1])      a scan the other way, by [`RecurrenceAdjoint`]; u[0] flows back to the initial value
//! g[t] = flow[t] + u[t+1]                 what flows back to values  } the second launch,
//! g[t]·h[t−1]                             what flows back to decays  } a vector a unit
//! ```

use crate::ScanError;
use crate::error::{check_outputs, check_types, expect_room};
use crate::monoid::RecurrenceAdjoint;
use crate::operator::accumulator_of;
use crate::scan::problem::{elements_before, widest};
use crate::scan::{LaunchOptions, ScanOptions, ScanTensors, cube_count, scan_operator};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::FastDivmod;
use cubecl::std::tensor::{into_contiguous, is_contiguous};

/// Units of a cube of the second launch; as of CubeCL's element-wise kernels on GPUs.
const UNITS: usize = 128;

/// What a gradient is made from, and where it goes. All tensors have the shape of the recurrence but the initial ones, which have size 1 along
/// the axis.
#[derive(Clone, Debug)]
pub struct RecurrenceGradients {
    /// What flows back to each result. Any strides; copied where they are not contiguous.
    pub flow: TensorBinding,
    /// The decays. Any strides.
    pub decay: TensorBinding,
    /// The results, contiguous.
    pub results: TensorBinding,
    /// Room for what flows back to values, contiguous.
    pub of_values: TensorBinding,
    /// Room for what flows back to decays, contiguous.
    pub of_decay: TensorBinding,
    /// What lines began with, if not 0, and room for what flows back to it; both contiguous.
    pub initial: Option<[TensorBinding; 2]>,
}

/// The vectors of a tensor around the axis.
#[derive(CubeType, CubeLaunch)]
struct Steps {
    /// Vectors of one step of all columns; 1 where vectors lie along the axis.
    across: FastDivmod<usize>,
    across_len: usize,
    /// Steps, or the vectors of a row.
    along: FastDivmod<usize>,
    along_len: usize,
    vectors: usize,
}

/// Each lane of `own` moved by one, and into the gap the lane of its neighbour that lies there.
#[cube]
fn moved<A: Numeric, N: Size>(
    own: Vector<A, N>,
    neighbour: Vector<A, N>,
    #[comptime] to_the_back: bool,
) -> Vector<A, N> {
    let lanes = N::value().comptime();
    let mut moved = Vector::<A, N>::new(A::from_int(0));
    #[unroll]
    for lane in 0..lanes {
        let value = if comptime!(to_the_back && lane == 0) {
            neighbour.extract(comptime!(lanes - 1))
        } else if comptime!(to_the_back) {
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
    behind: &[Vector<T, N>],
    results: &[Vector<T, N>],
    of_values: &mut [Vector<T, N>],
    of_decay: &mut [Vector<T, N>],
    initial: &Sequence<&'static [T]>,
    of_initial: &mut Sequence<&'static mut [T]>,
    steps: &Steps,
    #[comptime] in_rows: bool,
    #[comptime] reverse: bool,
    #[define(T)] _dtype: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    let lanes = N::value().comptime();
    let at = ABSOLUTE_POS;
    if at < steps.vectors {
        let (rest, column) = steps.across.div_mod(at);
        let (outer, step) = steps.along.div_mod(rest);
        let (at_front, at_back) = (step == 0, step + 1 == steps.along_len);
        let to_front = at - select(at_front, 0, steps.across_len);
        let to_back = at + select(at_back, 0, steps.across_len);
        let (mut is_first, mut is_last) = (at_front, at_back);
        let (mut earlier, mut later) = (to_front, to_back);
        if comptime!(reverse) {
            is_first = at_back;
            is_last = at_front;
            earlier = to_back;
            later = to_front;
        }
        let mut before = Vector::<A, N>::cast_from(results[earlier]);
        let mut after = Vector::<A, N>::cast_from(behind[later]);
        if is_last {
            after = Vector::new(A::from_int(0));
        }
        if is_first {
            before = Vector::new(A::from_int(0));
            #[unroll]
            for _ in 0..initial.len().comptime() {
                let own = behind[at];
                let ends = &mut of_initial[0];
                if comptime!(in_rows) {
                    before = Vector::new(A::cast_from(initial[0][outer]));
                    let first = comptime!(if reverse { lanes - 1 } else { 0 });
                    ends[outer] = own.extract(first);
                } else {
                    #[unroll]
                    for lane in 0..lanes {
                        let line = (outer * steps.across_len + column) * lanes + lane;
                        before.insert(lane, A::cast_from(initial[0][line]));
                        ends[line] = own.extract(lane);
                    }
                }
            }
        }
        if comptime!(in_rows) {
            // The neighbour in a row is one element away.
            let (own, own_behind) = (results[at], behind[at]);
            before = moved::<A, N>(Vector::cast_from(own), before, comptime!(!reverse));
            after = moved::<A, N>(Vector::cast_from(own_behind), after, reverse);
        }
        let flow = Vector::<A, N>::cast_from(flows[at]) + after;
        of_values[at] = Vector::cast_from(flow);
        of_decay[at] = Vector::cast_from(flow * before);
    }
}

/// The gradients of a linear recurrence along `axis` with respect to values, decays and initial values, which ran in `reverse` or not.
///
/// Half-precision floats are computed with in f32. Nothing waits for the device.
///
/// # Errors
///
/// See [`ScanError`]. Nothing was launched then.
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
) -> Result<(), ScanError> {
    let launch = LaunchOptions::default();
    recurrence_adjoint_with(client, tensors, axis, dtype, reverse, launch)
}

/// [`recurrence_adjoint`] with a routine and tuning of the caller's choice for the scan.
///
/// # Errors
///
/// As [`recurrence_adjoint`], and [`ScanError::Refused`] where a forced routine cannot serve.
///
/// # Panics
///
/// As [`recurrence_adjoint`].
pub fn recurrence_adjoint_with(
    client: &Client,
    tensors: RecurrenceGradients,
    axis: usize,
    dtype: ElemType,
    reverse: bool,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    let shape = tensors.flow.shape.clone();
    let (elements, size) = (shape.iter().product::<usize>(), dtype.size());
    let lines = elements
        .checked_div(shape.get(axis).copied().unwrap_or(1))
        .unwrap_or(0);
    expect_room("results", &tensors.results, elements);
    expect_room("gradient of values", &tensors.of_values, elements);
    expect_room("gradient of decays", &tensors.of_decay, elements);
    let mut read = vec![
        ("flow", &tensors.flow, size),
        ("decay", &tensors.decay, size),
        ("results", &tensors.results, size),
    ];
    let mut written = vec![
        ("gradient of values", &tensors.of_values, size),
        ("gradient of decays", &tensors.of_decay, size),
    ];
    if let Some([initial, of_initial]) = &tensors.initial {
        expect_room("initial values", initial, lines);
        expect_room("gradient of initial values", of_initial, lines);
        read.push(("initial value", initial, size));
        written.push(("gradient of initial values", of_initial, size));
    }
    check_outputs(&read, &written)?;
    check_types(client, [dtype, accumulator_of(dtype)])?;
    let RecurrenceGradients {
        flow,
        decay,
        results,
        of_values,
        of_decay,
        initial,
    } = tensors;
    let flow = match is_contiguous(&flow.shape, &flow.strides) {
        true => flow,
        false => into_contiguous(client, flow, dtype).binding(),
    };
    let behind = TensorBinding {
        handle: client.empty(elements.max(1) * size).binding(),
        ..of_decay.clone()
    };
    let scan = ScanTensors::new(vec![flow.clone(), decay], vec![behind.clone()], axis, dtype);
    let options = ScanOptions {
        exclusive: false,
        reverse: !reverse,
    };
    scan_operator::<RecurrenceAdjoint>(client, scan, (), options, launch)?;
    if elements == 0 {
        return Ok(());
    }
    let inner: usize = shape[axis + 1..].iter().product();
    let in_rows = inner == 1;
    let all = [&flow, &results, &of_values, &of_decay];
    let offsets = all.iter().fold(0, |all, it| {
        all | elements_before(it.handle.offset_start, size)
    });
    let granule = offsets | if in_rows { shape[axis] } else { inner };
    let lanes = widest(client.io_optimized_vector_sizes(size), granule);
    let vectors = elements / lanes;
    let [across, along] = match in_rows {
        true => [1, shape[axis] / lanes],
        false => [inner / lanes, shape[axis]],
    };
    let address_type = all
        .iter()
        .map(|it| it.required_address_type(size))
        .max()
        .unwrap_or_default();
    let (mut initials, mut of_initials) = (SequenceArg::new(), SequenceArg::new());
    if let Some([initial, of_initial]) = initial {
        initials.push(initial.into_buffer_arg());
        of_initials.push(of_initial.into_buffer_arg());
    }
    // SAFETY: all tensors have so many elements, which was checked; units beyond them do nothing.
    unsafe {
        recurrence_flows_kernel::launch_unchecked(
            client,
            cube_count(client, vectors.div_ceil(UNITS)),
            CubeDim::new_1d(UNITS as u32),
            address_type,
            lanes,
            flow.into_buffer_arg(),
            behind.into_buffer_arg(),
            results.into_buffer_arg(),
            of_values.into_buffer_arg(),
            of_decay.into_buffer_arg(),
            initials,
            of_initials,
            StepsLaunch::new(across, across, along, along, vectors),
            in_rows,
            reverse,
            dtype,
            accumulator_of(dtype),
        );
    }
    Ok(())
}

//! Sums of segments: each head receives the sum of the elements from it up to the next head.
//!
//! ```text
//! values   1 2 3 4 5 6 7        heads   1 0 0 1 1 0 0
//! sums     6 0 0 4 18 0 0
//! ```
//!
//! This is what takes a gradient back from the results of a running maximum to the elements that set them. Adding up by index (a scatter)
//! would need atomic additions in an order that nobody knows, or one unit for a whole line.
//!
//! Seen from the end of a line, an element takes in what flows from behind it and passes on `f(x) = head ? 0 : value + x`. The composition
//! of such functions has the same form, with a constant and a flag, so that runs of a line are worked on by units of their own:
//!
//! ```text
//! launch 1   unit: walk its run backwards              → what the run passes on, and whether it has a head
//! again      the same with the runs as elements        → what flows into each run
//! launch 2   unit: walk its run backwards again and write
//! ```
//!
//! No barrier, no shared memory, no atomics; sums are added up in one order on every device. A segmented scan (Blelloch, "Prefix sums and their
//! applications", 1990), of which only the sums at the heads are wanted.

use crate::ScanError;
use crate::error::{check_types, expect_room};
use crate::operator::accumulator_of;
use crate::scan::{cube_count, scratch};
use cubecl::client::Client;
use cubecl::ir::{AddressType, ElemType};
use cubecl::prelude::*;

/// Units of a cube.
const UNITS: usize = 64;

/// Elements of a run of a line that is cut: two lines of a GPU's cache in `f32`. Not measured on one.
const RUN: usize = 64;

/// Lines that are units enough for a device; then a unit walks all of a line, if it is no longer than [`WHOLE`].
const FILL: usize = 1 << 12;

/// No loop may come near the 65,535 rounds after which some drivers end it.
const WHOLE: usize = 1 << 14;

/// Contiguous lines, `[outer, len, inner]` along the middle, and how they are cut.
#[derive(CubeType, CubeLaunch, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct Lines {
    len: usize,
    inner: usize,
    /// Elements of a run.
    run: usize,
    /// Runs of a line.
    runs: usize,
    /// Runs of all lines.
    units: usize,
}

#[derive_cube_comptime]
struct Level {
    /// Whether the elements are values, whose heads keep their own; else runs, whose constant is passed on by those with a head too.
    values: bool,
    reverse: bool,
}

/// The run of a unit: the index of its line's first element, and its bounds along the line in logical order.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
struct Run {
    line: usize,
    first: usize,
    end: usize,
}

#[cube]
fn run_of(unit: usize, lines: Lines) -> Run {
    let column = unit % lines.inner;
    let rest = unit / lines.inner;
    let first = rest % lines.runs * lines.run;
    Run {
        line: rest / lines.runs * lines.len * lines.inner + column,
        first,
        end: min(first + lines.run, lines.len),
    }
}

/// Where the element lies that is `logical`-th of its line.
#[cube]
fn stored(run: Run, logical: usize, lines: Lines, #[comptime] level: Level) -> usize {
    let along = if comptime!(level.reverse) {
        lines.len - 1 - logical
    } else {
        logical
    };
    run.line + along * lines.inner
}

/// The first element of a line is a head whatever the mask says.
#[cube]
fn is_head<H: Numeric>(heads: &[H], at: usize, logical: usize, #[comptime] level: Level) -> bool {
    let marked = heads[at] != H::from_int(0);
    if comptime!(level.values) {
        select(logical == 0, true, marked)
    } else {
        marked
    }
}

/// What an element passes on of `flow`, which reaches it from behind.
#[cube]
fn passed_on<A: Numeric>(value: A, flow: A, head: bool, #[comptime] level: Level) -> A {
    let nothing = A::from_int(0);
    if comptime!(level.values) {
        select(head, nothing, value + flow)
    } else {
        value + select(head, nothing, flow)
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn constants_kernel<T: Numeric, H: Numeric, A: Numeric>(
    values: &[T],
    heads: &[H],
    constants: &mut [A],
    flags: &mut [u32],
    lines: Lines,
    #[comptime] level: Level,
    #[define(T)] _dtype: ElemType,
    #[define(H)] _head_type: ElemType,
    #[define(A)] _accumulator: ElemType,
) {
    if ABSOLUTE_POS < lines.units {
        let run = run_of(ABSOLUTE_POS, lines);
        let mut flow = A::from_int(0);
        let mut flag = 0u32;
        for step in run.first..run.end {
            let logical = run.first + run.end - 1 - step;
            let at = stored(run, logical, lines, level);
            let head = is_head::<H>(heads, at, logical, level);
            flow = passed_on::<A>(A::cast_from(values[at]), flow, head, level);
            flag = select(head, 1u32, flag);
        }
        constants[ABSOLUTE_POS] = flow;
        flags[ABSOLUTE_POS] = flag;
    }
}

/// Writes the sums at the heads of values, or what flows into each run from behind.
#[cube(launch_unchecked, address_type = "dynamic")]
fn sums_kernel<T: Numeric, H: Numeric, A: Numeric, O: Numeric>(
    values: &[T],
    heads: &[H],
    inflows: &[A],
    output: &mut [O],
    lines: Lines,
    #[comptime] level: Level,
    #[comptime] cut: bool,
    #[define(T)] _dtype: ElemType,
    #[define(H)] _head_type: ElemType,
    #[define(A)] _accumulator: ElemType,
    #[define(O)] _output_type: ElemType,
) {
    if ABSOLUTE_POS < lines.units {
        let run = run_of(ABSOLUTE_POS, lines);
        let mut flow = A::from_int(0);
        if comptime!(cut) {
            flow = inflows[ABSOLUTE_POS];
        }
        for step in run.first..run.end {
            let logical = run.first + run.end - 1 - step;
            let at = stored(run, logical, lines, level);
            let head = is_head::<H>(heads, at, logical, level);
            let value = A::cast_from(values[at]);
            if comptime!(level.values) {
                output[at] = O::cast_from(select(head, value + flow, A::from_int(0)));
            } else {
                output[at] = O::cast_from(flow);
            }
            flow = passed_on::<A>(value, flow, head, level);
        }
    }
}

/// Elements of one level, with their types.
struct Elements {
    values: (TensorBinding, ElemType),
    heads: (TensorBinding, ElemType),
    output: (TensorBinding, ElemType),
    shape: [usize; 3],
    level: Level,
}

struct Launcher<'a> {
    client: &'a Client,
    accumulator: ElemType,
    address_type: AddressType,
}

impl Launcher<'_> {
    /// Works on one level, and on those above it as far as lines are cut.
    fn run(&self, elements: Elements) {
        let [outer, len, inner] = elements.shape;
        let whole = outer * inner >= FILL && len <= WHOLE;
        let run = if whole { len } else { RUN };
        let runs = len.div_ceil(run);
        let units = outer * runs * inner;
        let lines = || LinesLaunch::new(len, inner, run, runs, units);
        let cut = runs > 1;
        let inflows = self.temporary(if cut { units } else { 1 });
        if cut {
            let (constants, flags) = (self.temporary(units), self.temporary(units));
            // SAFETY: one constant and one flag per run; runs end with their lines, and lines with the tensor.
            unsafe {
                constants_kernel::launch_unchecked(
                    self.client,
                    self.cubes(units),
                    CubeDim::new_1d(UNITS as u32),
                    self.address_type,
                    elements.values.0.clone().into_buffer_arg(),
                    elements.heads.0.clone().into_buffer_arg(),
                    constants.clone().into_buffer_arg(),
                    flags.clone().into_buffer_arg(),
                    lines(),
                    elements.level,
                    elements.values.1,
                    elements.heads.1,
                    self.accumulator,
                );
            }
            self.run(Elements {
                values: (constants, self.accumulator),
                heads: (flags, u32::elem_type_native()),
                output: (inflows.clone(), self.accumulator),
                shape: [outer, runs, inner],
                level: Level {
                    values: false,
                    reverse: false,
                },
            });
        }
        // SAFETY: as above; where lines are cut there is an inflow per run, and elsewhere none is read.
        unsafe {
            sums_kernel::launch_unchecked(
                self.client,
                self.cubes(units),
                CubeDim::new_1d(UNITS as u32),
                self.address_type,
                elements.values.0.into_buffer_arg(),
                elements.heads.0.into_buffer_arg(),
                inflows.into_buffer_arg(),
                elements.output.0.into_buffer_arg(),
                lines(),
                elements.level,
                cut,
                elements.values.1,
                elements.heads.1,
                self.accumulator,
                elements.output.1,
            );
        }
    }

    fn cubes(&self, units: usize) -> CubeCount {
        cube_count(self.client, units.div_ceil(UNITS))
    }

    /// Room for so many accumulators or flags.
    fn temporary(&self, entries: usize) -> TensorBinding {
        let size = self.accumulator.size().max(size_of::<u32>());
        TensorBinding {
            handle: scratch::temporary(self.client, entries * size).binding(),
            strides: [1].into(),
            shape: [entries].into(),
            tiling: Default::default(),
        }
    }
}

/// Into `output`: at each head the sum of the values from it up to the next one, along `axis` and, in `reverse`, from its end; zero elsewhere. The
/// first element of a line is a head whatever `heads` says, in which anything but zero is one.
///
/// Three contiguous tensors of one shape; values and output have the type `dtype`, half-precision floats being added up in f32. Reads the
/// inputs twice where lines are cut, which takes two launches a level. Nothing waits for the device.
///
/// # Errors
///
/// [`ScanError::UnsupportedType`] where the device cannot hold a type.
///
/// # Panics
///
/// If `axis` is not one of the shape's, or a tensor is too small.
pub fn segment_sums(
    client: &Client,
    values: TensorBinding,
    heads: (TensorBinding, ElemType),
    output: TensorBinding,
    axis: usize,
    dtype: ElemType,
    reverse: bool,
) -> Result<(), ScanError> {
    let accumulator = accumulator_of(dtype);
    check_types(client, [dtype, heads.1, accumulator])?;
    let shape = &values.shape;
    let lines: [usize; 3] = [
        shape[..axis].iter().product(),
        shape[axis],
        shape[axis + 1..].iter().product(),
    ];
    if lines.contains(&0) {
        return Ok(());
    }
    for (operand, tensor) in [
        ("values", &values),
        ("heads", &heads.0),
        ("output", &output),
    ] {
        expect_room(operand, tensor, lines.iter().product());
    }
    let address_type = [&values, &heads.0, &output]
        .map(|tensor| tensor.required_address_type(1))
        .into_iter()
        .max()
        .expect("three of them");
    let launcher = Launcher {
        client,
        accumulator,
        address_type,
    };
    launcher.run(Elements {
        values: (values, dtype),
        heads,
        output: (output, dtype),
        shape: lines,
        level: Level {
            values: true,
            reverse,
        },
    });
    Ok(())
}

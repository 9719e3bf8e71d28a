//! From a call to its kernels.

use super::components::rows::{RowsViewLaunch, rows_arg};
use super::lines_call::LinesCall;
use super::problem::{ScanOptions, ScanProblem, widest};
use super::strategy::{LaunchOptions, RoutineKind, Strategy};
use super::tuning::Tuning;
use super::{routines, scratch};
use crate::monoid::Fold;
use crate::{ScanError, ScanOp};
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::tensor::{into_contiguous, is_contiguous};

/// Scans `input` along `axis` into `output`, with the strategy that [`Strategy::Inferred`] describes.
///
/// `input` may have any strides that address memory (0 included); it is read in place where neighbouring units read neighbouring
/// elements, and from a contiguous copy where they would not. `output` is contiguous, of the same shape and element type, and
/// does not share memory with `input`. Nothing waits for the device.
///
/// # Errors
///
/// See [`ScanError`]. Nothing was launched then.
pub fn scan(
    client: &Client,
    input: TensorBinding,
    output: TensorBinding,
    axis: usize,
    dtype: ElemType,
    op: ScanOp,
    options: ScanOptions,
) -> Result<(), ScanError> {
    scan_with(
        client,
        input,
        output,
        axis,
        dtype,
        op,
        options,
        LaunchOptions::default(),
    )
}

/// [`scan`] with a routine and tuning of the caller's choice.
///
/// # Errors
///
/// As [`scan`], and [`ScanError::Refused`] where a forced routine cannot serve.
#[expect(
    clippy::too_many_arguments,
    reason = "a tensor operation's arguments, then the launch options"
)]
pub fn scan_with(
    client: &Client,
    input: TensorBinding,
    output: TensorBinding,
    axis: usize,
    dtype: ElemType,
    op: ScanOp,
    options: ScanOptions,
    launch: LaunchOptions,
) -> Result<(), ScanError> {
    check(client, &input, &output, dtype)?;
    let mut problem = ScanProblem::new(&input, axis, dtype, op, options)?;
    if problem.elements() == 0 {
        return Ok(());
    }
    let mut input = input;
    if !problem.is_coalesced() {
        input = into_contiguous(client, input, dtype).binding();
        problem = ScanProblem::new(&input, axis, dtype, op, options)?;
    }
    if launch.strategy == Strategy::Inferred {
        problem = problem.with_single_elements_as_rows();
    }
    let problem = problem.written_at(output.handle.offset_start);
    let address_type = input
        .required_address_type(dtype.size())
        .max(output.required_address_type(dtype.size()));
    let call = Call {
        client,
        tuning: Tuning::of(client, &launch),
        launch,
        vector_size: widest(
            client.io_optimized_vector_sizes(dtype.size()),
            problem.granule(),
        ),
        address_type,
        input,
        output,
        problem,
    };
    call.run()
}

/// Everything a routine needs to plan and launch.
pub(crate) struct Call<'a> {
    pub client: &'a Client,
    pub problem: ScanProblem,
    pub tuning: Tuning,
    pub launch: LaunchOptions,
    pub vector_size: usize,
    pub address_type: AddressType,
    pub input: TensorBinding,
    pub output: TensorBinding,
}

impl<'a> Call<'a> {
    fn run(self) -> Result<(), ScanError> {
        match self.launch.strategy {
            Strategy::Forced(routine) => self.launch_routine(routine),
            Strategy::Inferred => {
                let routine = infer(
                    &self.problem,
                    self.tile_elements(),
                    routines::unit_runs::serves(&self),
                    scratch::obstacle(self.client).is_none(),
                );
                self.launch_routine(routine)
            }
        }
    }

    fn launch_routine(self, routine: RoutineKind) -> Result<(), ScanError> {
        let refuse = |reason: String| Err(ScanError::Refused { routine, reason });
        match routine {
            RoutineKind::Columns if self.problem.inner.is_empty() => {
                refuse("there is no dimension after the axis".into())
            }
            RoutineKind::Columns => routines::columns::launch(self.lines()),
            _ if !self.problem.inner.is_empty() => refuse("the axis is not the innermost".into()),
            RoutineKind::SingleCube if self.problem.len() > self.tile_elements() => {
                refuse(format!(
                    "a row of {} elements does not fit a tile of {}",
                    self.problem.len(),
                    self.tile_elements()
                ))
            }
            RoutineKind::SingleCube => {
                if routines::short_rows::fits(&self) {
                    routines::short_rows::launch(self);
                } else {
                    routines::chunked::launch(self.lines(), 1);
                }
                Ok(())
            }
            RoutineKind::UnitRuns => routines::unit_runs::launch(self),
            RoutineKind::SinglePass => match scratch::obstacle(self.client) {
                Some(obstacle) => refuse(obstacle.into()),
                None => {
                    routines::single_pass::launch(self.lines());
                    Ok(())
                }
            },
            RoutineKind::ReduceThenScan => {
                let lines = self.lines();
                let chunks = routines::chunked::chunks_per_row(&lines);
                routines::chunked::launch(lines, chunks);
                Ok(())
            }
        }
    }

    /// The elements of a full tile.
    pub(crate) fn tile_elements(&self) -> usize {
        self.tuning.units * self.tuning.vectors * self.vector_size
    }

    /// The widest vector of a tensor that is one flat run, whatever the length of its rows.
    pub(crate) fn vector_size_flat(&self) -> usize {
        let size = self.problem.dtype.size();
        let widths = self.client.io_optimized_vector_sizes(size);
        widest(widths, self.problem.flat_granule())
    }

    /// The scan for the routines that serve every operator.
    fn lines(self) -> LinesCall<'a, Fold> {
        let problem = self.problem;
        LinesCall {
            client: self.client,
            tuning: self.tuning,
            mute: self.launch.mute,
            lanes: self.vector_size,
            address_type: self.address_type,
            inputs: vec![self.input],
            outputs: vec![self.output],
            outer: problem.outer.iter().map(|(size, _)| *size).collect(),
            strides: vec![problem.outer.iter().map(|(_, stride)| *stride).collect()],
            len: problem.len(),
            axis: vec![problem.axis.1],
            inner: problem.inner_count(),
            ahead: self.launch.vectors.unwrap_or(self.tuning.ahead),
            options: problem.options,
            dtype: problem.dtype,
            accumulator: problem.accumulator(),
            op: problem.op,
        }
    }

    pub(crate) fn rows_arg(&self) -> RowsViewLaunch {
        let lanes = self.vector_size;
        let outer = &self.problem.outer;
        let strides = outer.iter().map(|(_, stride)| stride / lanes).collect();
        let sizes = outer.iter().map(|(size, _)| *size);
        rows_arg(sizes, std::iter::once(strides), self.problem.len() / lanes)
    }
}

/// The rules of [`Strategy::Inferred`]: `unit_runs` where those serve better than tiles, `chained` where tiles can communicate.
fn infer(problem: &ScanProblem, tile: usize, unit_runs: bool, chained: bool) -> RoutineKind {
    if !problem.inner.is_empty() {
        RoutineKind::Columns
    } else if unit_runs {
        RoutineKind::UnitRuns
    } else if problem.len() <= tile {
        RoutineKind::SingleCube
    } else if chained {
        RoutineKind::SinglePass
    } else {
        RoutineKind::ReduceThenScan
    }
}

fn check(
    client: &Client,
    input: &TensorBinding,
    output: &TensorBinding,
    dtype: ElemType,
) -> Result<(), ScanError> {
    if input.shape != output.shape {
        return Err(ScanError::ShapeMismatch {
            operand: "output",
            expected: input.shape.to_vec(),
            found: output.shape.to_vec(),
        });
    }
    let accumulator = crate::operator::accumulator_of(dtype);
    for dtype in [dtype, accumulator] {
        if !matches!(
            dtype,
            ElemType::Float(_) | ElemType::Int(_) | ElemType::UInt(_)
        ) || !client.properties().supports_type(dtype)
        {
            return Err(ScanError::UnsupportedType {
                dtype,
                device: client.name(),
            });
        }
    }
    if !is_contiguous(&output.shape, &output.strides) {
        return Err(ScanError::InvalidOutput);
    }
    Ok(())
}

/// A grid of at least `cubes` cubes, within the device's limit per axis; kernels do nothing in cubes beyond their work.
pub(crate) fn cube_count(client: &Client, cubes: usize) -> CubeCount {
    let (x, y) = grid(cubes, client.properties().hardware.max_cube_count.0);
    CubeCount::Static(x, y, 1)
}

/// The sides of a grid of at least `cubes` cubes.
fn grid(cubes: usize, limit: u32) -> (u32, u32) {
    let x = cubes.min(limit as usize);
    (x as u32, cubes.div_ceil(x) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cubecl::ir::FloatKind;

    #[test]
    fn the_routine_follows_from_the_shape_and_the_device() {
        let routine = |len, inner: &[(usize, usize)], unit_runs, chained| {
            let problem = ScanProblem {
                outer: vec![],
                axis: (len, 1),
                inner: inner.to_vec(),
                offset: 0,
                dtype: ElemType::Float(FloatKind::F32),
                op: ScanOp::Sum,
                options: ScanOptions::default(),
            };
            infer(&problem, 4096, unit_runs, chained)
        };
        assert_eq!(routine(4096, &[], false, true), RoutineKind::SingleCube);
        assert_eq!(routine(4097, &[], false, true), RoutineKind::SinglePass);
        assert_eq!(
            routine(4097, &[], false, false),
            RoutineKind::ReduceThenScan
        );
        assert_eq!(routine(4097, &[], true, true), RoutineKind::UnitRuns);
        assert_eq!(routine(4, &[(9, 1)], true, true), RoutineKind::Columns);
    }

    #[test]
    fn a_grid_has_all_cubes_within_its_limit() {
        assert_eq!(grid(1, 65_535), (1, 1));
        assert_eq!(grid(65_535, 65_535), (65_535, 1));
        assert_eq!(grid(65_536, 65_535), (65_535, 2));
        assert_eq!(grid(131_071, 65_535), (65_535, 3));
    }
}

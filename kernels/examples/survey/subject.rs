//! The subjects of the survey: how each lays out n elements, and how it is launched.
//!
//! | subject | reads n elements as |
//! |---|---|
//! | the copy | vectors, rounded up |
//! | a cube-level algorithm | tiles of one element per unit; the last tile or cube may be smaller |
//! | `SinglePass`, `ReduceThenScan` | one row |
//! | `SingleCube` | equal rows of at most [`ROW`]; n is rounded down to whole rows |
//! | `Columns`, `ColumnTiles` | [`COLUMNS`] columns, or one fewer if that does not divide n; whole rows |

use crate::algorithms::{Algorithm, Config};
use crate::common::arg;
use crate::copy::{copy, grid, width};
use crate::kernels::tiles_kernel;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl::server::Handle;
use cubecl_scan::scan::{LaunchOptions, RoutineKind, ScanOptions, Strategy, scan_with};
use cubecl_scan::{ScanError, ScanOp};
use scan_testing::kernels::{View, has_plane_ops, launch, tensor};
use scan_testing::reference;

/// Units of a cube of the survey's own kernels, if the device allows that many.
pub const UNITS: usize = 256;
/// The longest row of `SingleCube`. It fits a tile even without vectors, as rows of odd length are read.
const ROW: usize = 1024;
const COLUMNS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Copy,
    Cube(Algorithm),
    Device(RoutineKind),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    pub kind: Kind,
    pub exclusive: bool,
}

/// A tensor, and how many of its elements are data. Zeros follow them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    shape: Vec<usize>,
    axis: usize,
    pub elements: usize,
}

/// Where a subject reads and writes.
#[derive(Clone)]
pub struct Buffers {
    pub input: Handle,
    pub output: Handle,
    /// Elements of each buffer.
    pub capacity: usize,
}

impl Buffers {
    /// Overwrites the whole output with the content of `blank`, a buffer of the same size.
    pub fn blank(&self, client: &Client, blank: &Handle) {
        copy(client, blank, &self.output, self.capacity);
    }
}

/// Elements of the buffers for a size of `n`: enough for whole tiles and whole vectors, and more than any subject
/// writes.
pub fn capacity(n: usize) -> usize {
    n.next_multiple_of(UNITS) + UNITS
}

impl Layout {
    /// What the first elements of the output must be. There are as many `values` as the buffers hold.
    pub fn expected(&self, values: &[i32], scan: Option<ScanOptions>) -> Vec<i32> {
        let values = &values[..self.shape.iter().product()];
        let mut expected = match scan {
            Some(options) => reference::scan(values, &self.shape, self.axis, ScanOp::Sum, options),
            None => values.to_vec(),
        };
        expected.truncate(self.elements);
        expected
    }
}

impl Kind {
    pub fn all() -> impl Iterator<Item = Kind> {
        std::iter::once(Kind::Copy)
            .chain(Algorithm::all().map(Kind::Cube))
            .chain(RoutineKind::ALL.map(Kind::Device))
    }

    pub fn level(self) -> &'static str {
        match self {
            Kind::Copy => "copy",
            Kind::Cube(_) => "cube",
            Kind::Device(_) => "device",
        }
    }

    pub fn name(self) -> String {
        match self {
            Kind::Copy => "copy".into(),
            Kind::Cube(algorithm) => algorithm.name(),
            Kind::Device(routine) => format!("{routine:?}"),
        }
    }

    pub fn runs_on(self, client: &Client) -> bool {
        match self {
            Kind::Cube(algorithm) => !algorithm.needs_plane_ops() || has_plane_ops(client),
            Kind::Copy | Kind::Device(_) => true,
        }
    }

    pub fn subjects(self) -> impl Iterator<Item = Subject> {
        let exclusive: &[bool] = match self {
            Kind::Copy => &[false],
            Kind::Cube(_) | Kind::Device(_) => &[false, true],
        };
        exclusive.iter().map(move |&exclusive| Subject {
            kind: self,
            exclusive,
        })
    }
}

impl Subject {
    /// The name in messages and reports.
    pub fn name(self) -> String {
        match self.scan() {
            None => self.kind.name(),
            Some(_) => format!("{} {}", self.kind.name(), self.scan_name()),
        }
    }

    pub fn scan_name(self) -> &'static str {
        match (self.kind, self.exclusive) {
            (Kind::Copy, _) => "",
            (_, false) => "inclusive",
            (_, true) => "exclusive",
        }
    }

    pub fn layout(self, client: &Client, n: usize) -> Layout {
        let (shape, axis, elements) = match self.kind {
            Kind::Copy => {
                let elements = n.next_multiple_of(width(client));
                (vec![elements], 0, elements)
            }
            Kind::Cube(_) => {
                let units = units(client, n);
                (vec![n.div_ceil(units), units], 1, n)
            }
            Kind::Device(RoutineKind::SingleCube) => {
                let rows = n.div_ceil(ROW);
                (vec![rows, n / rows], 1, n / rows * rows)
            }
            Kind::Device(RoutineKind::Columns | RoutineKind::ColumnTiles) => {
                let columns = if n.is_multiple_of(COLUMNS) {
                    COLUMNS
                } else {
                    n.min(COLUMNS - 1)
                };
                (vec![n / columns, columns], 0, n / columns * columns)
            }
            Kind::Device(_) => (vec![n], 0, n),
        };
        Layout {
            shape,
            axis,
            elements,
        }
    }

    pub fn launch(
        self,
        client: &Client,
        buffers: &Buffers,
        layout: &Layout,
    ) -> Result<(), ScanError> {
        match self.kind {
            Kind::Copy => copy(client, &buffers.input, &buffers.output, layout.elements),
            Kind::Cube(algorithm) => {
                let config = Config::new(client, algorithm, ScanOp::Sum, layout.shape[1]);
                launch_tiles(client, buffers, layout, self.exclusive, config);
            }
            Kind::Device(routine) => {
                let view = View::contiguous(&layout.shape);
                scan_with(
                    client,
                    tensor(buffers.input.clone(), &view),
                    tensor(buffers.output.clone(), &view),
                    layout.axis,
                    i32::elem_type_native(),
                    ScanOp::Sum,
                    self.scan().unwrap_or_default(),
                    LaunchOptions {
                        strategy: Strategy::Forced(routine),
                        ..launch()
                    },
                )?
            }
        }
        Ok(())
    }

    /// The scan that it computes. `None` for the copy.
    pub fn scan(self) -> Option<ScanOptions> {
        let options = ScanOptions {
            exclusive: self.exclusive,
            ..Default::default()
        };
        (self.kind != Kind::Copy).then_some(options)
    }
}

fn units(client: &Client, n: usize) -> usize {
    let limit = client.properties().hardware.max_units_per_cube as usize;
    n.min(limit).min(UNITS)
}

fn launch_tiles(
    client: &Client,
    buffers: &Buffers,
    layout: &Layout,
    exclusive: bool,
    config: Config,
) {
    // SAFETY: the kernel guards by the number of elements, which both buffers hold; the cube is as large as the
    // configuration says.
    unsafe {
        tiles_kernel::launch_unchecked(
            client,
            grid(client, layout.shape[0]),
            CubeDim::new_1d(config.cube.units as u32),
            arg(&buffers.input, layout.elements),
            arg(&buffers.output, layout.elements),
            layout.elements,
            exclusive,
            config,
        );
    }
}

//! The shape of the tiles of a call, and what its kernel is compiled with.

use crate::monoid::Operator;
use crate::scan::call::Call;
use crate::scan::components::column_exchange::{ExchangeConfig, room};
use crate::scan::components::column_lookback::StripConfig;
use crate::scan::components::columns::ColumnsConfig;
use crate::scan::components::parts::CarryIn;
use crate::scan::components::stall::Stall;
use crate::scan::components::tile::{TileConfig, staged_vectors};
use crate::scan::tuning::{
    COLUMN_TILE_UNITS, COLUMN_TILE_WIDTH, COLUMN_TOTALS, COLUMN_TOTALS_GROUP, NARROW_TILE_ROWS,
    PREFETCH_DEPTH,
};
use cubecl::prelude::*;

/// The comptime facts of a tile.
#[derive_cube_comptime]
pub(crate) struct ColumnTileConfig {
    /// Units side by side, and one behind the other along the axis.
    pub width: usize,
    pub height: usize,
    /// Rows of units whose totals are folded first.
    pub group: usize,
    /// What each unit holds, and where its rows wait.
    pub rows: ColumnsConfig,
    pub wait: TileConfig,
    /// Whether units exchange what they load, and how.
    pub narrow: bool,
    pub exchange: ExchangeConfig,
    pub stall: Option<Stall>,
}

impl ColumnTileConfig {
    /// Takes all rows of a tile as they were loaded. In a last tile that repeats rows, but its total is not used.
    pub fn whole(&self) -> ColumnsConfig {
        ColumnsConfig {
            overshoots: false,
            ..self.rows
        }
    }

    /// Takes rows one by one. A fallback is rare, and prefetching in it would cost the whole kernel registers.
    pub fn a_row(&self) -> ColumnsConfig {
        ColumnsConfig {
            prefetch_depth: 1,
            ..self.whole()
        }
    }

    /// Groups of rows of units.
    pub fn groups(&self) -> usize {
        self.height / self.group
    }

    /// Where the totals of groups begin in shared memory, in rows of units.
    pub fn first_group(&self) -> usize {
        if self.group > 1 { self.height } else { 0 }
    }

    /// Shared memory for the waiting vectors, in vectors.
    pub fn waiting_room(&self, inputs: usize, outputs: usize) -> usize {
        match self.narrow {
            true => inputs.max(outputs) * room(self.exchange),
            false => staged_vectors(inputs, self.wait),
        }
    }

    pub fn strip(&self, lanes: usize) -> StripConfig {
        StripConfig {
            columns: columns_of(lanes, *self),
            stall: self.stall,
        }
    }
}

/// Columns of a strip: the columns of one row of units.
pub(crate) fn columns_of(lanes: usize, config: ColumnTileConfig) -> usize {
    lanes * config.width
}

/// The shape of the tiles of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shape {
    /// Units side by side, and one behind the other.
    pub width: usize,
    pub height: usize,
    /// Rows of a unit.
    pub rows: usize,
    /// Whether tiles have whole rows, which units exchange.
    pub narrow: bool,
}

impl Shape {
    pub fn of<O: Operator>(call: &Call<O>) -> Self {
        let columns = call.lines.inner_count() / call.lanes;
        let units = match call.launch.units {
            Some(_) => call.tuning.units,
            None => call.tuning.units.min(COLUMN_TILE_UNITS),
        };
        let width = columns
            .next_power_of_two()
            .min(COLUMN_TILE_WIDTH)
            .min(units);
        let narrow = columns <= width && Self::is_narrow(call, columns);
        let inputs = call.tensors.inputs.len();
        let most = match narrow {
            true => NARROW_TILE_ROWS,
            false => PREFETCH_DEPTH,
        };
        let rows = call.launch.vectors.unwrap_or(most / inputs);
        let shape = Self {
            width,
            height: units / width,
            rows: rows.max(1),
            narrow,
        };
        match call.launch.vectors {
            None if narrow => shape.with_room(call),
            _ => shape,
        }
    }

    /// Whether rows lie within half a strip, and the scan has neither segments nor positions.
    fn is_narrow<O: Operator>(call: &Call<O>, columns: usize) -> bool {
        2 * columns.next_power_of_two() <= COLUMN_TILE_WIDTH
            && call.tensors.starts.is_none()
            && call.tensors.positions.is_none()
    }

    /// With as many rows as fit into half of the shared memory, so that two cubes fit.
    fn with_room<O: Operator>(self, call: &Call<O>) -> Self {
        let there = call.client.properties().hardware.max_shared_memory_size;
        let mut rows = self.rows;
        while rows > 1 && 2 * (Self { rows, ..self }).exchanged_bytes(call) > there {
            rows /= 2;
        }
        Self { rows, ..self }
    }

    /// Bytes of shared memory of a narrow tile: its vectors, the totals of its units, and the totals of groups.
    pub fn exchanged_bytes<O: Operator>(&self, call: &Call<O>) -> usize {
        let tensors = call.tensors.inputs.len().max(call.tensors.outputs.len());
        let vectors = tensors * room(self.exchange(call));
        let totals = (self.height + self.height / self.group()) * self.width * call.lanes;
        vectors * call.lanes * call.tensors.dtype.size()
            + totals * call.state_words() * size_of::<u32>()
    }

    fn exchange<O: Operator>(&self, call: &Call<O>) -> ExchangeConfig {
        ExchangeConfig {
            units: self.units(),
            rows: self.rows,
            reverse: call.options.reverse,
        }
    }

    pub fn units(&self) -> usize {
        self.width * self.height
    }

    /// Rows of units whose totals are folded first.
    fn group(&self) -> usize {
        match self.height > COLUMN_TOTALS && self.height.is_multiple_of(COLUMN_TOTALS_GROUP) {
            true => COLUMN_TOTALS_GROUP,
            false => 1,
        }
    }

    /// Rows that wait in shared memory if it is large. Compiled for sm_80 and sm_90, elements and states of 32 bits
    /// take 64 registers and no spills with half of their rows there, and two cubes share a multiprocessor with 96 KiB.
    /// Other types take up to 103 registers, or spill. With all rows there they take 64, and two cubes share the 164
    /// KiB of an A100.
    fn staged<O: Operator>(&self, call: &Call<O>) -> usize {
        match (call.tensors.dtype.size(), call.state_words()) {
            (4, 1) => self.rows / 2,
            _ => self.rows,
        }
    }

    /// What the kernel is compiled with.
    pub fn config<O: Operator>(&self, call: &Call<O>) -> ColumnTileConfig {
        ColumnTileConfig {
            width: self.width,
            height: self.height,
            group: self.group(),
            rows: ColumnsConfig {
                exclusive: call.options.exclusive,
                reverse: call.options.reverse,
                carry_in: CarryIn::Whole,
                prefetch_depth: self.rows,
                overshoots: true,
            },
            wait: call.waiting(self.units(), self.rows, self.staged(call)),
            narrow: self.narrow,
            exchange: self.exchange(call),
            stall: call.stall(),
        }
    }
}

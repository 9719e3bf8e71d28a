//! A scan of what is not in memory: planned first, and launched with the caller's operands.
//!
//! The plan says how the kernels access what they read and write. The caller then makes the operands. Their
//! [`ScanArgs`](super::ScanArgs) compute elements where they are read, and take results where they are written.

use super::ScanOptions;
use super::call::Call;
use super::components::args::Operands;
use super::launch::{routine_of, run};
use super::problem::Lines;
use super::routines;
use super::strategy::{LaunchOptions, RoutineKind};
use crate::ScanError;
use crate::error::check_types;
use crate::monoid::Operator;
use crate::operator::accumulator_of;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;

/// A scan whose routine is chosen.
pub struct PlannedScan<'a, O: Operator> {
    call: Call<'a, O>,
    routine: RoutineKind,
}

impl<'a, O: Operator> PlannedScan<'a, O> {
    /// A scan along `axis` of contiguous inputs of this shape into contiguous outputs, none of them empty. All begin at
    /// a vector of [`width`](Self::width) elements.
    ///
    /// It has the kernels, and so the bits, that [`scan_operator`](super::scan_operator) has for such tensors.
    ///
    /// # Errors
    ///
    /// [`ScanError::AxisOutOfRange`], and the error of a type that the device does not compute with.
    pub fn new(
        client: &'a Client,
        shape: &[usize],
        axis: usize,
        dtype: ElemType,
        op: O::Config,
        options: ScanOptions,
        launch: LaunchOptions,
    ) -> Result<Self, ScanError> {
        if axis >= shape.len() {
            let rank = shape.len();
            return Err(ScanError::AxisOutOfRange { axis, rank });
        }
        let word = u32::elem_type_native();
        let types = [dtype, accumulator_of(dtype), word, word];
        check_types(client, types)?;
        let lines = Lines::contiguous(shape, axis);
        let call = Call::plan(client, lines, 0, types, op, options, launch);
        let routine = routine_of(&call);
        Ok(Self { call, routine })
    }

    /// The elements of an access. All operands are accessed in vectors of this length, or element by element. A vector
    /// may cover the end of a line and the start of the next one.
    pub fn width(&self) -> usize {
        routines::width(self.routine, &self.call)
    }

    /// Launches the scan. `address_type` reaches all elements of the operands. Nothing waits for the device.
    ///
    /// # Errors
    ///
    /// [`ScanError::Refused`] if a forced routine cannot serve. Nothing was launched then.
    pub fn launch<D: Operands>(
        mut self,
        operands: &D,
        address_type: AddressType,
    ) -> Result<(), ScanError> {
        self.call.address_type = address_type;
        run(self.call, operands, self.routine)
    }
}

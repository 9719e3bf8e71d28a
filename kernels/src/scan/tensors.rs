//! The tensors of one scan.

use super::problem::{Lines, elements_before};
use crate::ScanError;
use crate::error::{Operand, address_type, check_outputs, check_types};
use crate::monoid::Operator;
use crate::operator::accumulator_of;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl::std::tensor::{into_contiguous, is_contiguous};

/// The names of tensors in errors.
const OUTPUT: &str = "output";
const STARTS: &str = "starts";
const POSITIONS: &str = "positions";

/// Buffers that a kernel binds besides the tensors: through one, cubes or launches tell each other what they found.
/// CubeCL's limit already leaves room for its own buffers.
const OWN_BUFFERS: usize = 1;

/// What a scan reads and writes. All tensors have one shape, except for those that lines resume from.
#[derive(Clone, Debug)]
pub struct ScanTensors {
    pub(crate) inputs: Vec<TensorBinding>,
    pub(crate) outputs: Vec<TensorBinding>,
    pub(crate) axis: usize,
    pub(crate) dtype: ElemType,
    pub(crate) initial: Option<Vec<TensorBinding>>,
    pub(crate) starts: Option<(TensorBinding, ElemType)>,
    pub(crate) backwards: bool,
    pub(crate) positions: Option<(TensorBinding, ElemType)>,
}

impl ScanTensors {
    /// `inputs` scanned along `axis` into `outputs`, all with elements of type `dtype`.
    ///
    /// Inputs may have any strides that address memory, 0 included. Each is read in place if neighbouring units read
    /// neighbouring elements. Outputs are contiguous and share no memory with another tensor.
    pub fn new(
        inputs: Vec<TensorBinding>,
        outputs: Vec<TensorBinding>,
        axis: usize,
        dtype: ElemType,
    ) -> Self {
        Self {
            inputs,
            outputs,
            axis,
            dtype,
            initial: None,
            starts: None,
            backwards: false,
            positions: None,
        }
    }

    /// Each line resumes where an earlier one ended. `initial` has a tensor for each output: the last element that was
    /// written of each line. They have the same type, and size 1 along the axis.
    pub fn resuming(mut self, initial: Vec<TensorBinding>) -> Self {
        self.initial = Some(initial);
        self
    }

    /// Segments begin where `starts` is not zero, for operators with [`STARTS`](crate::monoid::Operator::STARTS). A
    /// segment extends from its start in the order of memory, or against it if `backwards`, whatever the direction of
    /// the scan.
    pub fn segmented(mut self, starts: TensorBinding, dtype: ElemType, backwards: bool) -> Self {
        self.starts = Some((starts, dtype));
        self.backwards = backwards;
        self
    }

    /// Writes the positions of results into `positions`, contiguous, for operators with
    /// [`POSITIONS`](crate::monoid::Operator::POSITIONS).
    pub fn positions(mut self, positions: TensorBinding, dtype: ElemType) -> Self {
        self.positions = Some((positions, dtype));
        self
    }

    /// The tensors of the scan's shape, each with its name and the bytes of an element.
    fn of_one_shape(&self) -> impl Iterator<Item = Operand<'_>> {
        let size = self.dtype.size();
        let inputs = self.inputs.iter().map(move |it| ("input", it, size, 0));
        let outputs = self.outputs.iter().map(move |it| (OUTPUT, it, size, 0));
        let starts = self.starts.iter();
        let starts = starts.map(|(it, dtype)| (STARTS, it, dtype.size(), 0));
        let positions = self.positions.iter();
        let positions = positions.map(|(it, dtype)| (POSITIONS, it, dtype.size(), 0));
        inputs.chain(starts).chain(outputs).chain(positions)
    }

    /// Checks that the tensors fit the operator and the device.
    pub(crate) fn check<O: Operator>(&self, client: &Client) -> Result<(), ScanError> {
        let initial = self.initial.as_ref().map_or(O::OUTPUTS, Vec::len);
        for (operand, expected, found) in [
            ("inputs", O::INPUTS, self.inputs.len()),
            ("outputs", O::OUTPUTS, self.outputs.len()),
            ("initial values", O::OUTPUTS, initial),
            (STARTS, O::STARTS.into(), self.starts.iter().len()),
            (POSITIONS, O::POSITIONS.into(), self.positions.iter().len()),
        ] {
            if expected != found {
                return Err(ScanError::TensorCount {
                    operand,
                    expected,
                    found,
                });
            }
        }
        let shape = &self.inputs[0].shape;
        let (axis, rank) = (self.axis, shape.len());
        let mut ends = shape.clone();
        if axis < rank {
            ends[axis] = 1;
        }
        let size = self.dtype.size();
        let initial = self.initial.iter().flatten();
        let initial: Vec<Operand> = initial.map(|it| ("initial value", it, size, 0)).collect();
        let all = self.of_one_shape().map(|it| (it, shape));
        let all = all.chain(initial.iter().map(|it| (*it, &ends)));
        for ((operand, tensor, ..), expected) in all {
            if tensor.shape != *expected {
                return Err(ScanError::ShapeMismatch {
                    operand,
                    expected: expected.to_vec(),
                    found: tensor.shape.to_vec(),
                });
            }
        }
        let typed = self.starts.iter().chain(&self.positions);
        let types = [self.dtype, accumulator_of(self.dtype)].into_iter();
        check_types(client, types.chain(typed.map(|(_, dtype)| *dtype)))?;
        let (written, mut read): (Vec<Operand>, Vec<Operand>) = self
            .of_one_shape()
            .partition(|(name, ..)| matches!(*name, OUTPUT | POSITIONS));
        read.extend(initial);
        check_outputs(&read, &written)?;
        if axis >= rank {
            return Err(ScanError::AxisOutOfRange { axis, rank });
        }
        let most = client.properties().hardware.max_bindings as usize;
        match read.len() + written.len() + OWN_BUFFERS {
            buffers if buffers > most => Err(ScanError::TooManyBuffers { buffers, most }),
            _ => Ok(()),
        }
    }

    /// Copies what the kernels cannot read in place.
    pub(crate) fn make_readable(&mut self, client: &Client) {
        let dtype = self.dtype;
        for input in &mut self.inputs {
            if !Lines::of(std::slice::from_ref(input), self.axis).is_coalesced() {
                *input = into_contiguous(client, input.clone(), dtype).binding();
            }
        }
        let initial = self.initial.iter_mut().flatten();
        let initial = initial.map(|tensor| (tensor, dtype));
        let starts = self
            .starts
            .iter_mut()
            .map(|(tensor, dtype)| (tensor, *dtype));
        for (tensor, dtype) in initial.chain(starts) {
            if !is_contiguous(&tensor.shape, &tensor.strides) {
                *tensor = into_contiguous(client, tensor.clone(), dtype).binding();
            }
        }
    }

    /// Copies inputs that have gaps, or do not begin at a multiple of `vector` elements.
    pub(crate) fn align(&mut self, client: &Client, vector: usize) {
        for input in &mut self.inputs {
            let lines = Lines::of(std::slice::from_ref(input), self.axis);
            let before = elements_before(input.handle.offset_start, self.dtype.size());
            if !lines.is_contiguous_rows() || !before.is_multiple_of(vector) {
                *input = into_contiguous(client, input.clone(), self.dtype).binding();
            }
        }
    }

    /// The bitwise or of the elements before each tensor that is accessed in vectors.
    pub(crate) fn offset(&self) -> usize {
        let vectors = self.of_one_shape().filter(|(name, ..)| *name != STARTS);
        vectors.fold(0, |bits, (_, tensor, size, _)| {
            bits | elements_before(tensor.handle.offset_start, size)
        })
    }

    /// The types that define a kernel: of elements, accumulators, starts and positions. Kernels without starts or
    /// positions have words in their place.
    pub(crate) fn types(&self) -> [ElemType; 4] {
        let word = u32::elem_type_native();
        let of = |typed: &Option<(_, ElemType)>| typed.as_ref().map_or(word, |it| it.1);
        let (starts, positions) = (of(&self.starts), of(&self.positions));
        [self.dtype, accumulator_of(self.dtype), starts, positions]
    }

    /// The type of address that reaches all elements.
    pub(crate) fn address_type(&self) -> AddressType {
        let all = self.of_one_shape();
        all.map(|(_, tensor, size, _)| address_type(tensor, size))
            .max()
            .unwrap_or_default()
    }
}

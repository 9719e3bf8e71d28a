//! Plain tensors as the [arguments](super::args) of a scan.

#![expect(dead_code, reason = "kernels read the fields when they are expanded")]

use super::args::{
    Access, Load, LoadExpand, Operands, Reads, ScanArgs, Store, StoreExpand, Writes,
};
use crate::scan::tensors::ScanTensors;
use cubecl::prelude::*;

/// Tensors in memory.
pub struct TensorArgs;

/// Inputs in vectors, or element by element: one of the two is empty.
#[derive(CubeType, CubeLaunch)]
pub struct Inputs<T: Numeric, N: Size> {
    vectors: Sequence<&'static [Vector<T, N>]>,
    elements: Sequence<&'static [T]>,
}

/// The same for outputs.
#[derive(CubeType, CubeLaunch)]
pub struct Outputs<T: Numeric, N: Size> {
    vectors: Sequence<&'static mut [Vector<T, N>]>,
    elements: Sequence<&'static mut [T]>,
}

/// The tensors of a launch. See [`Reads`] and [`Writes`] for the fields.
#[derive(CubeType, CubeLaunch)]
pub struct Tensors<T: Numeric, N: Size, B: Numeric, P: Numeric> {
    inputs: Inputs<T, N>,
    starts: Sequence<&'static [B]>,
    #[cube(comptime)]
    opposed: bool,
    initial: Sequence<&'static [T]>,
    outputs: Outputs<T, N>,
    positions: Sequence<&'static mut [Vector<P, N>]>,
    element_positions: Sequence<&'static mut [P]>,
}

#[cube]
impl<T: Numeric, N: Size> Load<T, N> for Inputs<T, N> {
    fn vector(
        &self,
        #[comptime] input: usize,
        at: usize,
        #[comptime] _again: bool,
    ) -> Vector<T, N> {
        self.vectors[input][at]
    }

    fn element(&self, #[comptime] input: usize, at: usize, #[comptime] _again: bool) -> T {
        self.elements[input][at]
    }
}

#[cube]
impl<T: Numeric, N: Size> Store<T, N> for Outputs<T, N> {
    fn vector(&mut self, #[comptime] output: usize, at: usize, value: Vector<T, N>) {
        let tensor = &mut self.vectors[output];
        tensor[at] = value;
    }

    fn element(&mut self, #[comptime] output: usize, at: usize, value: T) {
        let tensor = &mut self.elements[output];
        tensor[at] = value;
    }
}

#[cube]
impl ScanArgs for TensorArgs {
    type Tensors<T: Numeric, N: Size, B: Numeric, P: Numeric> = Tensors<T, N, B, P>;

    fn open<T: Numeric, N: Size, B: Numeric, P: Numeric>(
        tensors: &mut Tensors<T, N, B, P>,
    ) -> (Reads<T, N, B>, Writes<T, N, P>) {
        intrinsic!(|scope| {
            let tensors = (*tensors).clone_unchecked();
            let inputs = tensors.inputs.vectors.len() + tensors.inputs.elements.len();
            let outputs = tensors.outputs.vectors.len() + tensors.outputs.elements.len();
            let mut reads =
                Reads::<T, N, B>::__expand_new::<Inputs<T, N>>(scope, tensors.inputs, inputs);
            reads.starts = tensors.starts;
            reads.opposed = tensors.opposed;
            reads.initial = tensors.initial;
            let mut writes =
                Writes::<T, N, P>::__expand_new::<Outputs<T, N>>(scope, tensors.outputs, outputs);
            writes.positions = tensors.positions;
            writes.element_positions = tensors.element_positions;
            (reads, writes)
        })
    }
}

impl Operands for ScanTensors {
    type Args = TensorArgs;

    fn tensors<T: Numeric, N: Size, B: Numeric, P: Numeric>(
        &self,
        access: Access,
    ) -> TensorsLaunch<T, N, B, P> {
        let starts = self.starts.iter().map(|(tensor, _)| tensor);
        let positions = self.positions.iter().map(|(tensor, _)| tensor.clone());
        let (mut initial, mut outputs) = (self.initial.iter().flatten(), &self.outputs[..]);
        let mut positions: Vec<_> = positions.collect();
        if access.for_totals {
            // They do not depend on what a line resumes from.
            initial = None.iter().flatten();
            (outputs, positions) = (&[], vec![]);
        }
        let [inputs, input_elements] = access.deal(&self.inputs);
        let [outputs, output_elements] = access.deal(outputs);
        let [positions, element_positions] = access.deal(&positions);
        TensorsLaunch::new(
            InputsLaunch::new(buffers(inputs), buffers(input_elements)),
            buffers(starts),
            access.opposed,
            buffers(initial),
            OutputsLaunch::new(buffers(outputs), buffers(output_elements)),
            buffers(positions),
            buffers(element_positions),
        )
    }
}

impl Access {
    /// The tensors that are accessed in vectors, and those accessed element by element.
    fn deal<'t>(&self, tensors: &'t [TensorBinding]) -> [&'t [TensorBinding]; 2] {
        if self.by_elements {
            [&[], tensors]
        } else {
            [tensors, &[]]
        }
    }
}

/// The launch argument of several tensors.
fn buffers<'t, T: LaunchArg<RuntimeArg = BufferArg>>(
    tensors: impl IntoIterator<Item = &'t TensorBinding>,
) -> SequenceArg<T> {
    let args = tensors.into_iter().cloned();
    args.map(TensorBinding::into_buffer_arg).collect()
}

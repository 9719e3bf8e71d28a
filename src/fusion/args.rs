//! Burn's fused operations as the [argument](cubecl_scan::scan::ScanArgs) of a scan's kernels.
//!
//! To read an element, a kernel runs the operations before the scan at its position. To write one, it runs the
//! operations after the scan. Positions count vectors, or elements, of the contiguous layout. The operations find the
//! elements of their tensors themselves.
//!
//! Compilers for GPUs contract a product and a sum into one operation, which rounds once. Between the operations and
//! the scan this must not happen: the bits of the results would differ from those of the scan alone, and a fallback's
//! from those of the tile's owner. So what is handed over passes through an operation that no compiler sees through.

use burn_cubecl_fusion::engine::codegen::ir::{
    FuseArg, FuseBlockConfig, FuseOp, GlobalArgs, GlobalArgsLaunch, LocalArgs,
    multi_block_variables_init,
};
use burn_cubecl_fusion::engine::codegen::kernel::{fuse_on_read, fuse_on_write, init_locals};
use burn_cubecl_fusion::engine::codegen::tensor::GlobalTensorArg;
use cubecl::ir::{ElemType, FloatKind};
use cubecl::prelude::*;
use cubecl_scan::scan::{
    Access, Load, LoadExpand, Operands, Reads, ScanArgs, Store, StoreExpand, Writes,
};

/// Operations around a scan.
pub(super) struct FusedArgs;

/// The tensors of the operations, and the operations.
#[derive(CubeType, CubeLaunch)]
pub(super) struct FusedTensors {
    inputs: GlobalArgs,
    outputs: GlobalArgs,
    /// Zero, a fact that no compiler knows.
    zero: u32,
    #[cube(comptime)]
    operations: Operations,
}

/// The operations of the load and of the store.
#[derive(Clone, Debug, Hash, PartialEq, Eq)]
pub(super) struct Operations {
    pub(super) load: FuseBlockConfig,
    /// The input of the scan, which the load computes.
    pub(super) input: FuseArg,
    pub(super) store: FuseBlockConfig,
    /// The output of the scan, from which the store starts.
    pub(super) output: FuseArg,
}

/// The tensors in a kernel.
#[derive(CubeType, Clone)]
#[expand(derive(Clone))]
struct Opened {
    inputs: GlobalArgs,
    outputs: GlobalArgs,
    loaded: LocalArgs,
    stored: LocalArgs,
    zero: u32,
    #[cube(comptime)]
    operations: Operations,
}

#[cube]
impl ScanArgs for FusedArgs {
    type Tensors<T: Numeric, N: Size, B: Numeric, P: Numeric> = FusedTensors;

    fn open<T: Numeric, N: Size, B: Numeric, P: Numeric>(
        tensors: &mut FusedTensors,
    ) -> (Reads<T, N, B>, Writes<T, N, P>) {
        let operations = comptime!(tensors.operations.clone());
        multi_block_variables_init(&operations.load, &mut tensors.outputs.variables);
        multi_block_variables_init(&operations.store, &mut tensors.outputs.variables);
        let loaded = init_locals(&tensors.inputs, &mut tensors.outputs, &operations.load);
        let stored = init_locals(&tensors.inputs, &mut tensors.outputs, &operations.store);
        let opened = Opened {
            inputs: tensors.inputs.clone(),
            outputs: tensors.outputs.clone(),
            loaded,
            stored,
            zero: tensors.zero,
            operations,
        };
        (
            Reads::<T, N, B>::new::<Opened>(opened.clone(), 1usize),
            Writes::<T, N, P>::new::<Opened>(opened, 1usize),
        )
    }
}

#[cube]
impl<T: Numeric, N: Size> Load<T, N> for Opened {
    fn vector(&self, #[comptime] _: usize, at: usize, #[comptime] again: bool) -> Vector<T, N> {
        read::<T, N>(self, at, again)
    }

    fn element(&self, #[comptime] _: usize, at: usize, #[comptime] again: bool) -> T {
        read::<T, Const<1>>(self, at, again).extract(0usize)
    }
}

#[cube]
impl<T: Numeric, N: Size> Store<T, N> for Opened {
    fn vector(&mut self, #[comptime] _: usize, at: usize, value: Vector<T, N>) {
        write::<T, N>(self, at, value);
    }

    fn element(&mut self, #[comptime] _: usize, at: usize, value: T) {
        write::<T, Const<1>>(self, at, Vector::new(value));
    }
}

/// Computes the input of the scan. Intermediate results that are kept are written the first time.
#[cube]
fn read<T: Numeric, N: Size>(opened: &Opened, at: usize, #[comptime] again: bool) -> Vector<T, N> {
    let mut opened = opened.clone();
    let operations = comptime!(if again {
        without_writes(&opened.operations.load)
    } else {
        opened.operations.load.clone()
    });
    let values = fuse_on_read::<T, N>(
        &opened.inputs,
        &mut opened.outputs,
        &mut opened.loaded,
        at,
        comptime! {
            let mut wanted = Sequence::new();
            wanted.push(opened.operations.input.clone());
            wanted
        },
        &operations,
    );
    rounded::<T, N>(values[0], opened.zero)
}

/// Computes what is written from an output of the scan.
#[cube]
fn write<T: Numeric, N: Size>(opened: &mut Opened, at: usize, value: Vector<T, N>) {
    let mut values = Registry::<FuseArg, Vector<T, N>>::new();
    let mut written = comptime![Vec::<FuseArg>::new()];
    let value = rounded::<T, N>(value, opened.zero);
    values.insert(comptime![opened.operations.output.clone()], value);
    comptime![written.push(opened.operations.output.clone())];
    fuse_on_write::<T, N>(
        &opened.inputs,
        &mut opened.outputs,
        &mut opened.stored,
        at,
        values,
        written,
        &opened.operations.store,
    );
}

/// The value itself, with which no operation can be contracted.
#[cube]
fn rounded<T: Numeric, N: Size>(value: Vector<T, N>, zero: u32) -> Vector<T, N> {
    let dtype = elem_type_of::<T>();
    match comptime!(dtype) {
        ElemType::Float(FloatKind::F32 | FloatKind::Flex32) => {
            let bits = Vector::<u32, N>::reinterpret(value) ^ Vector::new(zero);
            Vector::reinterpret(bits)
        }
        ElemType::Float(FloatKind::F64) => {
            let bits = Vector::<u64, N>::reinterpret(value) ^ Vector::new(u64::cast_from(zero));
            Vector::reinterpret(bits)
        }
        _ => value,
    }
}

/// The operations of a load without those that write to memory.
fn without_writes(load: &FuseBlockConfig) -> FuseBlockConfig {
    let is_output = |out: &FuseArg| matches!(out, FuseArg::Output(..));
    let writes = |operation: &FuseOp| matches!(operation, FuseOp::Assign(to) if is_output(&to.out));
    let mut load = load.clone();
    load.ops.retain(|operation| !writes(operation));
    load
}

/// The arguments that Burn's engine has made for one scan.
pub(super) struct FusedOperands {
    pub(super) inputs: GlobalArgsLaunch,
    pub(super) outputs: GlobalArgsLaunch,
    pub(super) operations: Operations,
}

impl Operands for FusedOperands {
    type Args = FusedArgs;

    fn tensors<T: Numeric, N: Size, B: Numeric, P: Numeric>(
        &self,
        _access: Access,
    ) -> FusedTensorsLaunch {
        FusedTensorsLaunch::new(
            duplicate(&self.inputs),
            duplicate(&self.outputs),
            0,
            self.operations.clone(),
        )
    }
}

/// A copy of the arguments, for another launch.
fn duplicate(arguments: &GlobalArgsLaunch) -> GlobalArgsLaunch {
    let mut copy = GlobalArgsLaunch::default();
    for tensor in &arguments.tensors.values {
        let TensorArg::Handle { handle } = &tensor.tensor else {
            unreachable!("nothing is computed in place");
        };
        let handle = handle.clone();
        copy.tensors.push(GlobalTensorArg::new(
            TensorArg::Handle { handle },
            tensor.ty,
            tensor.broadcasted,
            tensor.address_type,
        ));
    }
    copy.scalars.values = arguments.scalars.values.clone();
    copy.reshapes.values = arguments.reshapes.values.clone();
    copy.runtime_layouts.values = arguments.runtime_layouts.values.clone();
    copy
}

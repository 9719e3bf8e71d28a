//! The kinds of tensors, and how a server takes tensors from and leaves them in Burn's container.

use super::fault::Fault;
use burn::backend::TensorMetadata;
use burn::backend::fusion::custom::TensorSpec;
use burn::tensor::DType;
use burn_ir::{BackendIr, CustomOpIr, HandleContainer, TensorId, TensorIr, TensorStatus};

/// Float tensors.
pub(super) struct Float;
/// Int tensors, of any width, signed or not.
pub(super) struct Int;
/// Bool tensors, whatever their store.
pub(super) struct Bool;

pub(super) trait Kind<B: BackendIr> {
    type Tensor: TensorMetadata;
    const NAME: &'static str;

    fn holds(dtype: DType) -> bool;
    fn take(handles: &mut HandleContainer<B::Handle>, tensor: &TensorIr) -> Self::Tensor;
    fn leave(handles: &mut HandleContainer<B::Handle>, id: &TensorId, tensor: Self::Tensor);
}

macro_rules! kind {
    ($Kind:ident, $name:literal, $Tensor:ident, $take:ident, $leave:ident, $holds:expr) => {
        impl<B: BackendIr> Kind<B> for $Kind {
            type Tensor = B::$Tensor;
            const NAME: &'static str = $name;

            fn holds(dtype: DType) -> bool {
                $holds(dtype)
            }

            fn take(handles: &mut HandleContainer<B::Handle>, tensor: &TensorIr) -> B::$Tensor {
                handles.$take::<B>(tensor)
            }

            fn leave(handles: &mut HandleContainer<B::Handle>, id: &TensorId, tensor: B::$Tensor) {
                handles.$leave::<B>(id, tensor);
            }
        }
    };
}

kind!(
    Float,
    "float",
    FloatTensorPrimitive,
    get_float_tensor,
    register_float_tensor,
    |dtype: DType| dtype.is_float()
);
kind!(
    Int,
    "int",
    IntTensorPrimitive,
    get_int_tensor,
    register_int_tensor,
    |dtype: DType| dtype.is_int() || dtype.is_uint()
);
// Burn's `select` on Flex leaves a bool tensor as one of U8.
kind!(
    Bool,
    "bool",
    BoolTensorPrimitive,
    get_bool_tensor,
    register_bool_tensor,
    |dtype: DType| dtype.is_bool() || dtype == DType::U8
);

/// The tensors of a call, taken in order.
pub(super) struct Inputs<'a> {
    all: core::slice::Iter<'a, TensorIr>,
}

impl<'a> Inputs<'a> {
    pub(super) fn of(ir: &'a CustomOpIr, expected: usize) -> Result<Self, Fault> {
        let found = ir.inputs.len();
        expect("tensors", expected, found)?;
        Ok(Self {
            all: ir.inputs.iter(),
        })
    }

    pub(super) fn next<B: BackendIr, K: Kind<B>>(
        &mut self,
        name: &'static str,
        handles: &mut HandleContainer<B::Handle>,
    ) -> Result<K::Tensor, Fault> {
        let ir = self.all.next().ok_or(Fault::NoTensor { name })?;
        if let Some(error) = handles.error(&ir.id) {
            return Err(Fault::Inherited(error.propagated()));
        }
        if !handles.has_handle(&ir.id) || ir.status == TensorStatus::NotInit {
            return Err(Fault::NoTensor { name });
        }
        let tensor = K::take(handles, ir);
        if K::holds(tensor.dtype()) {
            Ok(tensor)
        } else {
            Err(Fault::Kind {
                name,
                kind: K::NAME,
            })
        }
    }
}

/// The results of an operation, by their kinds.
pub(super) trait Results<B: BackendIr> {
    type Tensors;

    /// The client expects the same number of results, of these kinds and shapes.
    fn expect(ir: &CustomOpIr, specs: &[TensorSpec]) -> Result<(), Fault>;
    fn leave(handles: &mut HandleContainer<B::Handle>, ir: &CustomOpIr, tensors: Self::Tensors);
}

macro_rules! results {
    ($Tensors:ty; $($K:ident $tensor:ident $i:tt),+) => {
        impl<B: BackendIr, $($K: Kind<B>),+> Results<B> for ($($K,)+) {
            type Tensors = $Tensors;

            fn expect(ir: &CustomOpIr, specs: &[TensorSpec]) -> Result<(), Fault> {
                expect("results", specs.len(), ir.outputs.len())?;
                $(expect_result::<B, $K>(&ir.outputs[$i], &specs[$i])?;)+
                Ok(())
            }

            fn leave(handles: &mut HandleContainer<B::Handle>, ir: &CustomOpIr, tensors: $Tensors) {
                let ($($tensor,)+) = results!(tuple tensors $($K)+);
                $($K::leave(handles, &ir.outputs[$i].id, $tensor);)+
            }
        }
    };
    (tuple $tensors:ident $K:ident) => { ($tensors,) };
    (tuple $tensors:ident $($K:ident)+) => { $tensors };
}

results!(K0::Tensor; K0 t0 0);
results!((K0::Tensor, K1::Tensor); K0 t0 0, K1 t1 1);
results!((K0::Tensor, K1::Tensor, K2::Tensor); K0 t0 0, K1 t1 1, K2 t2 2);

fn expect(what: &'static str, expected: usize, found: usize) -> Result<(), Fault> {
    if found == expected {
        Ok(())
    } else {
        Err(Fault::Count {
            what,
            expected,
            found,
        })
    }
}

fn expect_result<B: BackendIr, K: Kind<B>>(
    found: &TensorIr,
    expected: &TensorSpec,
) -> Result<(), Fault> {
    if !K::holds(found.dtype) {
        return Err(Fault::Kind {
            name: "a result",
            kind: K::NAME,
        });
    }
    if found.shape == expected.shape {
        Ok(())
    } else {
        Err(Fault::Result {
            expected: expected.shape.clone(),
            found: found.shape.clone(),
        })
    }
}

//! The kinds of tensors, and how queued operations take tensors from and leave them in Burn's container.

use super::booleans;
use burn::backend::TensorMetadata;
use burn::tensor::DType;
use burn_ir::{BackendIr, HandleContainer, TensorId, TensorIr};
use core::convert::identity;

/// Float tensors.
pub(crate) struct Float;
/// Int tensors, of any width, signed or not.
pub(crate) struct Int;
/// Bool tensors, whatever their store.
pub(crate) struct Bool;

pub(crate) trait Kind<B: BackendIr> {
    type Tensor: TensorMetadata;
    #[cfg(feature = "remote")]
    const NAME: &'static str;

    #[cfg(feature = "remote")]
    fn holds(dtype: DType) -> bool;
    fn take(handles: &mut HandleContainer<B::Handle>, tensor: &TensorIr) -> Self::Tensor;
    fn leave(handles: &mut HandleContainer<B::Handle>, id: &TensorId, tensor: Self::Tensor);
}

macro_rules! kind {
    ($Kind:ident, $name:literal, $Tensor:ident, $take:ident, $leave:ident, $holds:expr, $as_kind:expr) => {
        impl<B: BackendIr> Kind<B> for $Kind {
            type Tensor = B::$Tensor;
            #[cfg(feature = "remote")]
            const NAME: &'static str = $name;

            #[cfg(feature = "remote")]
            fn holds(dtype: DType) -> bool {
                $holds(dtype)
            }

            fn take(handles: &mut HandleContainer<B::Handle>, tensor: &TensorIr) -> B::$Tensor {
                $as_kind(handles.$take::<B>(tensor))
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
    |dtype: DType| dtype.is_float(),
    identity
);
kind!(
    Int,
    "int",
    IntTensorPrimitive,
    get_int_tensor,
    register_int_tensor,
    |dtype: DType| dtype.is_int() || dtype.is_uint(),
    identity
);
kind!(
    Bool,
    "bool",
    BoolTensorPrimitive,
    get_bool_tensor,
    register_bool_tensor,
    |dtype: DType| dtype.is_bool(),
    booleans::<B>
);

/// The name of a kind, and whether it holds a type.
#[cfg(feature = "remote")]
pub(crate) type NamedKind = (&'static str, fn(DType) -> bool);

/// The results of an operation, by their kinds.
pub(crate) trait Results<B: BackendIr> {
    type Tensors;

    #[cfg(feature = "remote")]
    const KINDS: &'static [NamedKind];

    fn dtypes(tensors: &Self::Tensors) -> Vec<DType>;
    fn leave(handles: &mut HandleContainer<B::Handle>, to: &[TensorIr], tensors: Self::Tensors);
}

macro_rules! results {
    ($Tensors:ty; $($K:ident $tensor:ident $i:tt),+) => {
        impl<B: BackendIr, $($K: Kind<B>),+> Results<B> for ($($K,)+) {
            type Tensors = $Tensors;

            #[cfg(feature = "remote")]
            const KINDS: &'static [NamedKind] = &[$(($K::NAME, $K::holds)),+];

            fn dtypes(tensors: &$Tensors) -> Vec<DType> {
                let results!(tuple $($tensor)+) = tensors;
                vec![$($tensor.dtype()),+]
            }

            fn leave(handles: &mut HandleContainer<B::Handle>, to: &[TensorIr], tensors: $Tensors) {
                let results!(tuple $($tensor)+) = tensors;
                $($K::leave(handles, &to[$i].id, $tensor);)+
            }
        }
    };
    (tuple $tensor:ident) => { $tensor };
    (tuple $($tensor:ident)+) => { ($($tensor,)+) };
}

results!(K0::Tensor; K0 t0 0);
results!((K0::Tensor, K1::Tensor); K0 t0 0, K1 t1 1);
results!((K0::Tensor, K1::Tensor, K2::Tensor); K0 t0 0, K1 t1 1, K2 t2 2);

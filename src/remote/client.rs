//! The client: each operation becomes a [`CustomOpIr`] in the device's queue.

use super::ops::{
    every_operation, for_each_kind, id, results_of, rows, scan_operations, sort_operations,
};
use super::peer::{self, RemoteTensor};
use super::protocol::PROTOCOL;
use super::wire::Wire;
use crate::ops::{BoolSelectionOps, FloatSelectionOps, IntSelectionOps, ScanOps, SortOps};
use crate::{ScanOp, ScanOptions, SortOrder};
use burn::backend::fusion::custom::TensorSpec;
use burn::backend::{Remote, TensorMetadata};
use burn::remote::CustomOpClient;
use burn::tensor::{BoolDType, IntDType};
use burn_ir::{CustomOpIr, ScalarIr, TensorIr, TensorStatus};

/// Shape and dtype of a tensor, or of the several results of an operation.
pub(super) trait Specs {
    fn list(self) -> Vec<TensorSpec>;
}

impl Specs for TensorSpec {
    fn list(self) -> Vec<TensorSpec> {
        vec![self]
    }
}

impl Specs for (TensorSpec, TensorSpec) {
    fn list(self) -> Vec<TensorSpec> {
        vec![self.0, self.1]
    }
}

impl Specs for (TensorSpec, TensorSpec, TensorSpec) {
    fn list(self) -> Vec<TensorSpec> {
        vec![self.0, self.1, self.2]
    }
}

pub(super) fn spec(tensor: &impl TensorMetadata) -> TensorSpec {
    TensorSpec::new(tensor.shape(), tensor.dtype())
}

/// Puts the operation into the queue of the device of its tensors.
fn call<const N: usize>(
    id: &'static str,
    tensors: Vec<RemoteTensor>,
    arguments: &[ScalarIr],
    results: Vec<TensorSpec>,
) -> [RemoteTensor; N] {
    let device = tensors[0].device();
    peer::greet(id, &device);
    let client = CustomOpClient::new(&device);
    let inputs: Vec<TensorIr> = tensors.into_iter().map(|tensor| tensor.into_ir()).collect();
    let outputs: Vec<TensorIr> = results
        .into_iter()
        .map(|result| TensorIr {
            id: client.create_empty_handle(),
            shape: result.shape,
            status: TensorStatus::NotInit,
            dtype: result.dtype,
        })
        .collect();
    let scalars = [&[ScalarIr::UInt(PROTOCOL)], arguments].concat();
    let results = client.register(CustomOpIr::with_scalars(id, &inputs, &outputs, scalars));
    results
        .try_into()
        .unwrap_or_else(|_| unreachable!("Burn returns the results that were declared"))
}

/// The type of one result, or of several.
macro_rules! returned {
    ($one:ident) => { RemoteTensor };
    ($($one:ident)+) => { ($(returned!($one)),+) };
}

/// One result or several, taken from an array.
macro_rules! unpacked {
    ($results:expr; $one:ident) => {{
        let [one] = $results;
        one
    }};
    ($results:expr; $($many:ident)+) => {
        $results.into()
    };
}

macro_rules! sent {
    ($Trait:ident: $(
        $op:ident($($t:ident: $Kind:ident),+; $($a:ident: $A:ident),*) -> $($Out:ident)+,
            [$($how:tt)*] $key:ident $(, $rule:ident($($what:ident),*))*;
    )+) => {
        impl $Trait for Remote {$(
            fn $op($($t: RemoteTensor,)+ $($a: $A),*) -> returned!($($Out)+) {
                let results = {
                    $(let $t = &spec(&$t);)+
                    results_of!([$($how)*] $key; $($t),+ $(, &$a)*).list()
                };
                unpacked!(call(id!($op), vec![$($t),+], &[$($a.encode()),*], results); $($Out)+)
            }
        )+}
    };
}

every_operation!(sent);

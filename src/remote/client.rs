//! The client: each operation becomes a [`CustomOpIr`] in the device's queue.

use super::ops::id;
use super::peer::{self, RemoteTensor};
use super::protocol::PROTOCOL;
use super::wire::Wire;
use crate::ops::queued::{
    Specs, every_operation, queued_rows, results_of, returned, spec, unpacked,
};
use crate::ops::{BoolSelectionOps, FloatSelectionOps, IntSelectionOps, ScanOps, SortOps};
use crate::{ScanOp, ScanOptions, SortOrder};
use burn::backend::fusion::custom::TensorSpec;
use burn::backend::{Remote, TensorMetadata};
use burn::remote::CustomOpClient;
use burn::tensor::{BoolDType, IntDType};
use burn_ir::{CustomOpIr, ScalarIr, TensorIr, TensorStatus};

/// Puts the operation into the queue of the device of its tensors.
fn call(
    id: &'static str,
    tensors: Vec<RemoteTensor>,
    arguments: &[ScalarIr],
    results: Vec<TensorSpec>,
) -> Vec<RemoteTensor> {
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
    client.register(CustomOpIr::with_scalars(id, &inputs, &outputs, scalars))
}

macro_rules! sent {
    ($Trait:ident: $(
        $op:ident($($t:ident: $Kind:ident),+; $($a:ident: $A:ident),*) -> $($Out:ident)+,
            [$($how:tt)*] $key:ident $(, $rule:ident($($what:ident),*))*;
    )+) => {
        impl $Trait for Remote {$(
            fn $op($($t: RemoteTensor,)+ $($a: $A),*) -> returned!(RemoteTensor; $($Out)+) {
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

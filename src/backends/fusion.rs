//! Fusion: each operation waits in the queue of its device, and runs on the inner backend.
//!
//! Burn's extension macro could write this. It would queue each operation as a closure of another type, and Burn's
//! queue is compiled once for each type: with 64 operations, a sixth of the LLVM IR of this crate.

use crate::ops::kinds::{Bool, Float, Int, Kind, Results};
use crate::ops::queued::{
    Specs, every_operation, queued_rows, results_of, returned, spec, unpacked,
};
use crate::ops::{BoolSelectionOps, FloatSelectionOps, IntSelectionOps, ScanOps, SortOps};
use crate::{ScanOp, ScanOptions, SortOrder};
use burn::backend::fusion::custom::{OperationFn, TensorSpec};
use burn::backend::fusion::{Fusion, FusionBackend, FusionTensor};
use burn::tensor::{BoolDType, IntDType};
use burn_fusion::stream::StreamId;
use burn_ir::{BackendIr, CustomOpIr, HandleContainer, OperationIr, TensorIr};

type Queued<B> = FusionTensor<<B as FusionBackend>::FusionRuntime>;

/// Takes the first tensors from the container, and leaves the others there.
type Run<B> =
    dyn Fn(&mut HandleContainer<<B as BackendIr>::Handle>, &[TensorIr], &[TensorIr]) + Send + Sync;

/// Puts the operation into the queue of the device of its tensors.
fn queue<B: FusionBackend>(
    id: &'static str,
    tensors: Vec<Queued<B>>,
    results: Vec<TensorSpec>,
    run: Box<Run<B>>,
) -> Vec<Queued<B>> {
    let client = tensors[0].client.clone();
    debug_assert!(
        (tensors.iter()).all(|tensor| tensor.client.device() == client.device()),
        "the tensors of {id} are on one device"
    );
    let inputs: Vec<_> = tensors.into_iter().map(|tensor| tensor.into_ir()).collect();
    let output = |result: TensorSpec| {
        TensorIr::uninit(client.create_empty_handle(), result.shape, result.dtype)
    };
    let outputs: Vec<_> = results.into_iter().map(output).collect();
    let operation = OperationIr::Custom(CustomOpIr::new(id, &inputs, &outputs));
    let run = OperationFn(move |handles: &mut _| {
        run(handles, &inputs, &outputs);
        Ok(())
    });
    client.register(StreamId::current(), operation, run)
}

/// What `as` leaves to its default body is for Burn to fuse.
macro_rules! fused {
    ($Trait:ident: $(
        $op:ident($($t:ident: $Kind:ident),+; $($a:ident: $A:ident),*) -> $($Out:ident)+,
            [$($how:tt)*] $key:ident $(, $rule:ident($($what:ident),*))*;
    )+) => {
        impl<B: FusionBackend + $Trait> $Trait for Fusion<B> {$(
            fused! {
                @[$($how)*] $key
                fn $op($($t: $Kind),+; $($a: $A),*) -> ($($Out),+) { $Trait }
            }
        )+}
    };
    (@[default] $($method:tt)*) => {};
    (
        @[$($how:tt)*] $key:ident
        fn $op:ident($($t:ident: $Kind:ident),+; $($a:ident: $A:ident),*) -> ($($Out:ident),+) { $Trait:ident }
    ) => {
        fn $op($($t: Queued<B>,)+ $($a: $A),*) -> returned!(Queued<B>; $($Out)+) {
            let results = {
                $(let $t = &spec(&$t);)+
                results_of!([$($how)*] $key; $($t),+ $(, &$a)*).list()
            };
            let tensors = vec![$($t),+];
            let run: Box<Run<B>> = Box::new(move |handles, inputs, outputs| {
                let mut inputs = inputs.iter();
                $(let $t = <$Kind as Kind<B>>::take(handles, inputs.next().expect("a tensor"));)+
                let results = <B as $Trait>::$op($($t,)+ $($a),*);
                let dtypes = <($($Out,)+) as Results<B>>::dtypes;
                debug_assert!(
                    dtypes(&results).into_iter().eq(outputs.iter().map(|output| output.dtype)),
                    concat!("the dtypes of ", stringify!($op))
                );
                <($($Out,)+) as Results<B>>::leave(handles, outputs, results);
            });
            unpacked!(queue::<B>(stringify!($op), tensors, results, run); $($Out)+)
        }
    };
}

every_operation!(fused);

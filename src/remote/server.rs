//! The server: it checks a [`CustomOpIr`] and runs it on the backend that hosts the device.
//!
//! If an operation panics, Burn ends the session, and with it all tensors of that client. Here a call that is refused,
//! or at which the backend panics, leaves an error in place of its results. Operations that do not need these results
//! go on; those that do inherit the error. The session ends only if a result is read or given to one of Burn's own
//! operations. The server's log then gives the reason.

use super::fault::Fault;
use super::ops::id;
use super::peer;
use super::rules::Rules;
use super::tensors::{Inputs, expect_results};
use super::wire::Arguments;
use crate::ops::kinds::{Bool, Float, Int, Results};
use crate::ops::queued::{Specs, every_operation, queued_rows, results_of, spec};
use crate::ops::{
    BoolSelectionOps, FloatSelectionOps, IntSelectionOps, ScanBackend, ScanOps, SortOps,
};
use crate::{ScanOp, ScanOptions, SortOrder};
use burn::tensor::{BoolDType, IntDType};
use burn_backend::ExecutionError;
use burn_ir::{BackendIr, CustomOpIr, HandleContainer, TensorError};
use burn_router::CustomOpRegistry;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// This crate's operations, for a server of Burn's remote backend with devices of backend `B`: `Flex`, or `Cube` for
/// every CubeCL device.
///
/// A server has one registry for each backend. To add your own operations, `register` them in the returned registry.
///
/// # Example
///
/// ```no_run
/// use burn::backend::Flex;
/// use burn::server::{IrohIdentity, IrohTransport, RemoteServer, TokenAuthorizer};
/// use burn::tensor::Device;
///
/// let identity = IrohIdentity::load_or_create("server.key").unwrap();
/// RemoteServer::new([Device::flex()])
///     .with_custom_ops(burn_scan::remote::custom_ops::<Flex>())
///     .with_authorizer(TokenAuthorizer::new("a secret").unwrap())
///     .serve(IrohTransport::new(identity))
///     .unwrap();
/// ```
pub fn custom_ops<B: ScanBackend + BackendIr>() -> CustomOpRegistry<B> {
    let mut registry = CustomOpRegistry::new();
    registry.register(peer::GREETING, |handles, ir, device| {
        answered::<B>(handles, ir, |handles| {
            peer::answer::<B>(handles, ir, device)
        });
    });

    macro_rules! registered {
        ($Trait:ident: $(
            $op:ident($($t:ident: $Kind:ident),+; $($a:ident: $A:ident),*) -> $($Out:ident)+,
                [$($how:tt)*] $key:ident $(, $rule:ident($($what:ident),*))*;
        )+) => {$(
            registry.register(id!($op), |handles, ir, device| {
                answered::<B>(handles, ir, |handles| {
                    #[allow(unused_mut, reason = "not every operation has arguments")]
                    let mut arguments = Arguments::of(&ir.scalars)?;
                    $(let $a: $A = arguments.next(stringify!($a))?;)*
                    arguments.end()?;
                    let mut tensors = Inputs::of(ir, [$(stringify!($t)),+].len())?;
                    $(let $t = tensors.next::<B, $Kind>(stringify!($t), handles)?;)+
                    {
                        let rules = Rules::<B>::of(device);
                        $(rules.reads(&$t);)+
                        $(let $t = &spec(&$t);)+
                        $(rules.$rule($(&$what),*)?;)*
                        let results = results_of!([$($how)*] $key; $($t),+ $(, &$a)*).list();
                        expect_results::<B, ($($Out,)+)>(ir, &results)?;
                        rules.fits(&results)?;
                    }
                    let results = <B as $Trait>::$op($($t,)+ $($a),*);
                    <($($Out,)+) as Results<B>>::leave(handles, &ir.outputs, results);
                    Ok(())
                });
            });
        )+};
    }
    every_operation!(registered);
    registry
}

/// Runs a call. A fault is left in place of its results.
fn answered<B: BackendIr>(
    handles: &mut HandleContainer<B::Handle>,
    ir: &CustomOpIr,
    call: impl FnOnce(&mut HandleContainer<B::Handle>) -> Result<(), Fault>,
) {
    // After a panic the container is without the taken tensors, as if the call had run.
    let outcome = catch_unwind(AssertUnwindSafe(|| call(handles)));
    let fault = match outcome {
        Ok(Ok(())) => return,
        Ok(Err(fault)) => fault,
        Err(panic) => Fault::Panic(message(&*panic)),
    };
    let error = match fault {
        Fault::Inherited(error) => error,
        fault => TensorError::new(ExecutionError::with_context(format!("{}: {fault}", ir.id))),
    };
    for result in &ir.outputs {
        handles.set_error(result.id, error.clone());
    }
    // These tensors were not taken yet, and nothing else needs them.
    for tensor in &ir.inputs {
        handles.free(tensor);
    }
}

/// The message of a panic.
fn message(panic: &(dyn core::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "the backend panicked".to_string())
}

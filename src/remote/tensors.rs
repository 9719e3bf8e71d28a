//! The tensors of a call to a server: what it takes, and what the client expects.

use super::fault::Fault;
use crate::ops::kinds::{Kind, Results};
use burn::backend::TensorMetadata;
use burn::backend::fusion::custom::TensorSpec;
use burn_ir::{BackendIr, CustomOpIr, HandleContainer, TensorIr, TensorStatus};

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

/// The client expects the same number of results, of these kinds and shapes.
pub(super) fn expect_results<B: BackendIr, R: Results<B>>(
    ir: &CustomOpIr,
    specs: &[TensorSpec],
) -> Result<(), Fault> {
    expect("results", specs.len(), ir.outputs.len())?;
    for ((found, expected), &(kind, holds)) in ir.outputs.iter().zip(specs).zip(R::KINDS) {
        if !holds(found.dtype) {
            let name = "a result";
            return Err(Fault::Kind { name, kind });
        }
        if found.shape != expected.shape {
            return Err(Fault::Result {
                expected: expected.shape.clone(),
                found: found.shape.clone(),
            });
        }
    }
    Ok(())
}

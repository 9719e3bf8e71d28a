//! Selections as steps of the graph, made from their rows. The adjoint of each is the function of its key in
//! [`adjoints`](super::adjoints).

use super::adjoints::{self, SelectionAdjoint};
use super::on_inner;
use super::step::{self, InputAdjoint};
use crate::ops::selections::for_each_kind;
use crate::ops::{BoolSelectionOps, FloatSelectionOps, IntSelectionOps, ScanBackend};
use burn::backend::TensorMetadata;
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::tensor::{IntDType, Shape};
use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::strategy::CheckpointStrategy;

/// Records a selection. `forward` computes it on the inner tensor; its further results have no gradient. `adjoint`
/// takes the shape of the values, and these further results.
fn record<B: ScanBackend, C: CheckpointStrategy, R>(
    values: FloatTensor<Autodiff<B, C>>,
    forward: impl FnOnce(FloatTensor<B>) -> (FloatTensor<B>, R),
    adjoint: impl FnOnce(&Shape, &R) -> SelectionAdjoint<B>,
) -> (FloatTensor<Autodiff<B, C>>, R) {
    let (inner, node) = values.into_parts();
    let shape = inner.shape();
    let adjoint = |_: &_, rest: &_| InputAdjoint::Selection(adjoint(&shape, rest));
    step::record::<B, C, R>(node, |_| forward(inner), adjoint)
}

/// The selections of one kind: of floats recorded, of others those of the inner backend.
macro_rules! with_gradients {
    (
        FloatSelectionOps: $($Super:ident)+;
        $($group:ident {$(
            $(#[$($doc:tt)*])*
            $op:ident = $key:ident($first:ident: $First:ident $(, $t:ident: $T:ident)*; $($a:ident: $A:ident),*)
                -> ($($Out:ident),+) as ($($how:tt)*) if ($($rule:ident($($what:ident),*)),*) $body:tt
        )*})+
    ) => {
        impl<B: ScanBackend, C: CheckpointStrategy> FloatSelectionOps for Autodiff<B, C> {
            $($(
                with_gradients! { @$key $op($first $(, $t: $T)*; $($a: $A),*) -> $($Out)+ }
            )*)+

            fn float_run_lengths(
                values: FloatTensor<Self>,
                int: IntDType,
            ) -> (FloatTensor<Self>, IntTensor<Self>) {
                let forward = |values| B::float_run_lengths(values, int);
                record::<B, C, _>(values, forward, adjoints::run_lengths)
            }

            fn float_run_lengths_padded(
                values: FloatTensor<Self>,
                _fill: bool,
                int: IntDType,
            ) -> (FloatTensor<Self>, IntTensor<Self>, IntTensor<Self>) {
                let forward = |values| {
                    // The adjoint reads all lengths, so zeros must follow them.
                    let (values, lengths, count) = B::float_run_lengths_padded(values, true, int);
                    (values, (lengths, count))
                };
                let adjoint = |shape: &Shape, (lengths, _): &_| adjoints::run_lengths(shape, lengths);
                let (values, (lengths, count)) = record::<B, C, _>(values, forward, adjoint);
                (values, lengths, count)
            }

            fn float_partition(
                values: FloatTensor<Self>,
                keys: IntTensor<Self>,
                num_keys: usize,
                int: IntDType,
            ) -> (FloatTensor<Self>, IntTensor<Self>) {
                let (inner, node) = values.into_parts();
                let shape = inner.shape();
                let forward = |is_tracked: bool| {
                    if !is_tracked {
                        let (grouped, offsets) = B::float_partition(inner, keys, num_keys, int);
                        return (grouped, (None, offsets));
                    }
                    // The adjoint needs the destinations.
                    let (destinations, offsets) = B::partition_ranks(keys, num_keys, int);
                    let (to, of) = (destinations.clone(), offsets.clone());
                    let grouped = B::float_scatter_to(inner, to, of);
                    (grouped, (Some(destinations), offsets))
                };
                let adjoint = |_: &_, (destinations, offsets): &(Option<IntTensor<B>>, IntTensor<B>)| {
                    let destinations = destinations.as_ref().expect("tracked values have them");
                    InputAdjoint::Selection(adjoints::scatter_to(&shape, destinations, offsets))
                };
                let (grouped, (_, offsets)) = step::record::<B, C, _>(node, forward, adjoint);
                (grouped, offsets)
            }
        }
    };
    // Steps of the graph by their default bodies, and those above.
    (@first_slices $($row:tt)*) => {};
    (@run_lengths $($row:tt)*) => {};
    (@run_lengths_padded $($row:tt)*) => {};
    (@partition $($row:tt)*) => {};
    (@$key:ident $op:ident($first:ident $(, $t:ident: $T:ident)*; $($a:ident: $A:ident),*) -> $Out:ident) => {
        fn $op($first: FloatTensor<Self>, $($t: $T<Self>,)* $($a: $A),*) -> FloatTensor<Self> {
            let forward = |values| (B::$op(values, $($t.clone(),)* $($a),*), ());
            record::<B, C, _>($first, forward, |shape, ()| adjoints::$key(shape $(, &$t)* $(, &$a)*)).0
        }
    };
    (@$key:ident $op:ident($first:ident $(, $t:ident: $T:ident)*; $($a:ident: $A:ident),*) -> $Out:ident $Rest:ident) => {
        fn $op($first: FloatTensor<Self>, $($t: $T<Self>,)* $($a: $A),*) -> (FloatTensor<Self>, $Rest<Self>) {
            let forward = |values| B::$op(values, $($t.clone(),)* $($a),*);
            record::<B, C, _>($first, forward, |shape, _| adjoints::$key(shape $(, &$t)* $(, &$a)*))
        }
    };
    ($Trait:ident $($rows:tt)*) => {
        #[expect(unused_parens, reason = "a row has its results in parentheses, one or several")]
        impl<B: ScanBackend, C: CheckpointStrategy> $Trait for Autodiff<B, C> {
            on_inner! { $Trait $($rows)* }
        }
    };
}

for_each_kind! { with_gradients(FloatTensor, IntTensor, BoolTensor) }

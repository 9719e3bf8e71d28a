//! The total of some elements, in lanes.
//!
//! Where an operator rounds, it is not the total of a [`tile`](super::tile), which has the order of the scan: the two
//! combine the elements in different orders, and give floats different bits.

use core::marker::PhantomData;

use super::lanes::Kernel;
use super::traits::{Accumulator, Combine, Lanes};

/// Totals that [`RowTotal`] keeps apart, which hides the latency of the operator: four vectors of `f32`.
const APART: usize = 32;

/// Totals that it keeps apart after the last group of [`APART`].
const FEWER: usize = 8;

/// How many vectors of four lanes, the fewest, hold all totals.
const VECTORS: usize = APART / 4;

/// The total of some elements: the elements at each place modulo [`APART`] on their own, then these totals in pairs,
/// then the few elements that are left.
///
/// It is written in lanes. A loop over an array of totals took three times as long: the compiler used the pairs of the
/// end in the loop, too.
pub(super) struct RowTotal<'a, A, O> {
    elements: &'a [A],
    operator: PhantomData<O>,
}

impl<'a, A, O> RowTotal<'a, A, O> {
    pub(super) fn new(elements: &'a [A]) -> Self {
        Self {
            elements,
            operator: PhantomData,
        }
    }
}

impl<A: Accumulator, O: Combine<A>> Kernel<A> for RowTotal<'_, A, O> {
    type Output = A;

    #[inline(always)]
    fn run<L: Lanes<A>>(self, proof: L::Proof) -> A {
        const {
            assert!(FEWER % L::COUNT == 0 && APART % FEWER == 0 && APART / L::COUNT <= VECTORS);
        }
        let mut totals = [L::splat(proof, O::IDENTITY); VECTORS];
        let (groups, rest) = self.elements.as_chunks::<APART>();
        for group in groups {
            add::<A, O, L>(proof, &mut totals[..APART / L::COUNT], group);
        }
        let (vectors, rest) = rest.as_chunks::<FEWER>();
        for vector in vectors {
            add::<A, O, L>(proof, &mut totals[..FEWER / L::COUNT], vector);
        }
        let mut apart = APART / L::COUNT;
        while apart > 1 {
            apart /= 2;
            for at in 0..apart {
                totals[at] = O::combine_lanes(totals[at], totals[at + apart]);
            }
        }
        rest.iter()
            .fold(in_pairs::<A, O, L>(totals[0]), |total, &element| {
                O::combine(total, element)
            })
    }
}

/// Adds a vector to each total. A closure would not be compiled for the lanes.
#[inline(always)]
fn add<A: Accumulator, O: Combine<A>, L: Lanes<A>>(
    proof: L::Proof,
    totals: &mut [L],
    elements: &[A],
) {
    for (total, vector) in totals.iter_mut().zip(elements.chunks_exact(L::COUNT)) {
        // SAFETY: a vector has `COUNT` elements.
        *total = O::combine_lanes(*total, unsafe { L::load(proof, vector.as_ptr()) });
    }
}

/// The lanes of a vector, combined in pairs.
#[inline(always)]
fn in_pairs<A: Accumulator, O: Combine<A>, L: Lanes<A>>(vector: L) -> A {
    let mut lanes = vector.array();
    let mut apart = L::COUNT;
    while apart > 1 {
        apart /= 2;
        for at in 0..apart {
            lanes[at] = O::combine(lanes[at], lanes[at + apart]);
        }
    }
    lanes[0]
}

/// The extremum that a scan in order finds, given a total in any order. Zeros are equal whatever their sign, and the
/// first one stays.
pub(super) fn first_of_equals<A: Accumulator>(total: A, elements: &[A], reverse: bool) -> A {
    if A::EXACT || total != A::ZERO {
        return total;
    }
    let mut zeros = elements.iter().filter(|&&element| element == total);
    let first = if reverse {
        zeros.next_back()
    } else {
        zeros.next()
    };
    first.copied().unwrap_or(total)
}

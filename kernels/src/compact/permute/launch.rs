//! What both directions check before a launch, and the sizes of the launch.

use super::shape::PermutationShape;
use crate::ScanError;
use crate::error::{Operand, check_outputs, check_types, expect_room};
use crate::scan::problem::lanes_of;
use crate::scan::{ELEMENTWISE_UNITS, cube_count};
use cubecl::client::Client;
use cubecl::ir::{AddressType, ElemType};
use cubecl::prelude::*;

/// The tensors of a permutation. Slices and destinations have one element type.
pub(super) struct PermutationTensors<'t> {
    pub slices: (&'t TensorBinding, ElemType),
    pub destination_list: (&'t TensorBinding, ElemType),
    pub destinations: (&'t TensorBinding, ElemType),
}

/// The side that a permutation writes.
#[derive(Clone, Copy)]
pub(super) enum Output {
    Slices,
    Destinations,
}

/// The sizes of a launch.
pub(super) struct Launch {
    /// Slices are single elements, in one group. Then a unit moves a vector of slices. Otherwise it moves a vector of a
    /// slice.
    pub of_elements: bool,
    pub lanes: usize,
    pub cubes: CubeCount,
    pub address_type: AddressType,
}

impl PermutationTensors<'_> {
    /// Checks the tensors, and panics if one is too small. Returns `None` if there is nothing to move.
    #[track_caller]
    pub fn launch(
        &self,
        client: &Client,
        output: Output,
        shape: &PermutationShape,
    ) -> Result<Option<Launch>, ScanError> {
        let elements = shape.elements();
        if elements == 0 {
            return Ok(None);
        }
        let [slices, list, destinations] = [self.slices, self.destination_list, self.destinations];
        let all_destinations = shape.outer * shape.destinations * shape.inner;
        expect_room("slices", slices.0, elements);
        expect_room("list of destinations", list.0, shape.slices);
        expect_room("destinations", destinations.0, all_destinations);
        check_types(client, [slices.1, list.1])?;
        let list: Operand = ("list of destinations", list.0, list.1.size());
        let slices: Operand = ("slices", slices.0, slices.1.size());
        let destinations: Operand = ("destinations", destinations.0, destinations.1.size());
        match output {
            Output::Slices => check_outputs(&[destinations, list], &[slices]),
            Output::Destinations => check_outputs(&[slices, list], &[destinations]),
        }?;
        let of_elements = shape.outer == 1 && shape.inner == 1;
        let (len, other) = if of_elements {
            (shape.slices, list)
        } else {
            (shape.inner, destinations)
        };
        let lanes = lanes_of(client, len, &[(slices.1, slices.2), (other.1, other.2)]);
        Ok(Some(Launch {
            of_elements,
            lanes,
            cubes: cube_count(client, (elements / lanes).div_ceil(ELEMENTWISE_UNITS)),
            address_type: slices
                .1
                .required_address_type(1)
                .max(destinations.1.required_address_type(1)),
        }))
    }
}

//! `single_cube`: rows that fit a cube, in one launch. Short rows share one ([`short_rows`]); otherwise a row is a chunk of
//! one tile ([`chunked`]).

use super::{Routine, chunked, short_rows, unless_rows};
use crate::monoid::Operator;
use crate::scan::call::Call;
use crate::scan::components::args::Operands;

pub(crate) struct SingleCube;

impl Routine for SingleCube {
    fn refusal<O: Operator>(call: &Call<O>) -> Option<String> {
        let too_long = || {
            let (len, tile) = (call.len(), call.tile_elements());
            format!("a row of {len} elements does not fit a tile of {tile}")
        };
        unless_rows(call).or_else(|| (call.tiles_per_row() > 1).then(too_long))
    }

    fn width<O: Operator>(call: &Call<O>) -> usize {
        if short_rows::fits(call) {
            call.flat_lanes
        } else {
            call.stored_lanes_in_tiles()
        }
    }

    fn launch<O: Operator, D: Operands>(call: Call<O>, operands: &D) {
        if short_rows::fits(&call) {
            short_rows::launch(call, operands);
        } else {
            chunked::launch(call.in_tiles(), operands, 1);
        }
    }
}

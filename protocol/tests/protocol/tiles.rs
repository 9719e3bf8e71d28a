//! The tiles of a launch, in every schedule: no torn value counts, every lookback ends, and each tile learns the same
//! fold.

use crate::explore::{explore, explore_bounded};
use crate::launch::{Mistake, Shape};
use crate::run::{Deal, Left, Tiles, left_by, run};
use cubecl_scan::testing::words::{FIRST_EPOCH, LAST_EPOCH};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// The ways in which two threads scan three tiles.
const TWO: [Tiles; 3] = [&[&[0, 1], &[2]], &[&[0, 2], &[1]], &[&[0], &[1, 2]]];
const THREE: Tiles = &[&[0], &[1], &[2]];

fn holds(shape: Shape, deal: Deal) {
    explore(&format!("{shape:?} {deal:?}"), move || {
        run(shape, deal, 1, left_by(3), Mistake::None);
    });
}

/// The shape without a stall, with a stall of the first or the second tile, and with a first tile that stalls after its
/// aggregate, if it has more to publish.
fn stalled(shape: Shape) -> Vec<Shape> {
    let with = |stall, late| Shape {
        stall,
        late,
        ..shape
    };
    let mut shapes = vec![shape, with(&[0], &[]), with(&[1], &[])];
    if shape.block == 1 {
        shapes.push(with(&[], &[0]));
    }
    shapes
}

#[test]
fn two_cubes_take_tickets() {
    for shape in [Shape::row(2, 1, 1), Shape::row(2, 2, 1)] {
        for shape in stalled(shape) {
            holds(shape, Deal::Tickets(&[1, 1]));
        }
    }
}

/// Without tickets a cube takes the tile of its position, and may start before the cubes of earlier tiles.
#[test]
fn later_tiles_start_first() {
    let orders: [Tiles; 3] = [&[&[1, 0], &[2]], &[&[2, 0], &[1]], &[&[2, 1], &[0]]];
    for tiles in orders {
        for block in [2, 3] {
            holds(Shape::row(3, block, 1), Deal::Plainly(tiles));
        }
    }
}

#[test]
fn a_cube_too_many_does_nothing() {
    holds(Shape::row(1, 1, 1), Deal::Tickets(&[1, 1]));
    holds(Shape::row(2, 2, 1), Deal::Tickets(&[2, 1]));
}

#[test]
fn two_threads_scan_three_tiles() {
    for (block, max_totals) in [(1, 1), (1, 2), (2, 1), (3, 1)] {
        for shape in stalled(Shape::row(3, block, max_totals)) {
            for tiles in TWO {
                holds(shape, Deal::Tiles(tiles));
            }
        }
    }
}

/// The orders that [`Deal::Tiles`] spares loom make no difference to what threads see.
#[test]
fn skipped_orders_change_no_outcome() {
    let outcomes = |shape: Shape, deal: Deal| {
        let found = Arc::new(Mutex::new(BTreeSet::new()));
        let seen = found.clone();
        explore(&format!("{shape:?} {deal:?}"), move || {
            let left = run(shape, deal, 1, left_by(3), Mistake::None);
            seen.lock().expect("no panic before").insert(left.seen);
        });
        let found = found.lock().expect("no panic before");
        found.clone()
    };
    for (block, tiles, stall) in [
        (2, TWO[1], &[] as &[usize]),
        (3, TWO[0], &[]),
        (3, THREE, &[0]),
    ] {
        let shape = Shape {
            stall,
            ..Shape::row(3, block, 1)
        };
        let spared = outcomes(shape, Deal::Tiles(tiles));
        assert!(spared == outcomes(shape, Deal::Plainly(tiles)));
    }
}

#[test]
fn states_of_two_words_and_two_looks() {
    let row = Shape::row(2, 1, 1);
    holds(Shape { words: 2, ..row }, Deal::Tiles(&[&[0], &[1]]));
    for tiles in TWO {
        let row = Shape::row(3, 2, 1);
        holds(
            Shape {
                spin_limit: 2,
                ..row
            },
            Deal::Tiles(tiles),
        );
    }
}

#[test]
fn rows_do_not_meet() {
    let shape = Shape {
        rows: 2,
        ..Shape::row(2, 1, 1)
    };
    for shape in stalled(shape) {
        holds(shape, Deal::Tiles(&[&[0, 3], &[1, 2]]));
    }
}

#[test]
fn three_cubes_in_one_block() {
    for shape in stalled(Shape::row(3, 3, 1)) {
        holds(shape, Deal::Tiles(THREE));
    }
}

#[test]
fn three_cubes_in_two_blocks() {
    for shape in stalled(Shape::row(3, 2, 1)) {
        holds(shape, Deal::Tiles(THREE));
    }
}

#[test]
fn three_cubes_in_blocks_of_their_own() {
    let shapes = stalled(Shape::row(3, 1, 2));
    for shape in shapes.iter().skip(1) {
        holds(*shape, Deal::Tiles(THREE));
    }
    // Without a bound, 219,558 schedules; all hold.
    explore_bounded(&format!("{:?}", shapes[0]), Some(2), move || {
        run(shapes[0], Deal::Tiles(THREE), 1, left_by(3), Mistake::None);
    });
}

/// With room for one total, there are 361,110 schedules if all tiles publish, and 87,642 if the first is late. The
/// tests of two threads above cover these cases.
#[test]
fn three_cubes_that_look_back_further_than_they_keep() {
    for stall in [&[0], &[1]] {
        let shape = Shape {
            stall,
            ..Shape::row(3, 1, 1)
        };
        holds(shape, Deal::Tiles(THREE));
    }
}

#[test]
fn a_launch_runs_in_what_the_one_before_has_left() {
    let shape = Shape::row(2, 1, 1);
    for deal in [Deal::Tickets(&[1, 1]), Deal::Tickets(&[2, 1])] {
        explore(&format!("two launches {deal:?}"), move || {
            let left = run(shape, Deal::Tickets(&[2]), 1, left_by(3), Mistake::None);
            let left = run(shape, deal, 2, left, Mistake::None);
            assert_eq!((left.ticket, left.epoch), (0, 5));
        });
    }
    let stall = Shape {
        stall: &[0],
        ..shape
    };
    explore("two launches of two cubes", move || {
        let left = run(stall, Deal::Tickets(&[1, 1]), 1, left_by(3), Mistake::None);
        run(shape, Deal::Tickets(&[1, 1]), 2, left, Mistake::None);
    });
}

#[test]
fn epochs_begin_anew_in_cleared_words() {
    let shape = Shape::row(2, 1, 1);
    explore("the last epoch and the first", move || {
        let left = Left {
            epoch: LAST_EPOCH - 1,
            ..left_by(1)
        };
        let left = run(shape, Deal::Tickets(&[2]), 1, left, Mistake::None);
        assert_eq!(left.epoch, LAST_EPOCH);
        let left = run(shape, Deal::Tickets(&[1, 1]), 2, left, Mistake::None);
        assert_eq!(left.epoch, FIRST_EPOCH);
    });
}

//! Planted mistakes. Some schedule must trip over each of them.

use crate::explore::{complaint, explore};
use crate::launch::{Mistake, Shape};
use crate::run::{Deal, Left, Tiles, left_by, run};
use cubecl_scan::testing::words::LAST_EPOCH;

const TILES: Tiles = &[&[0, 1], &[2]];

#[track_caller]
fn trips(mistake: Mistake, shape: Shape, deal: Deal, expected: &str) {
    let said = complaint(move || {
        run(shape, deal, 1, left_by(3), mistake);
    });
    assert!(said.contains(expected), "{mistake:?}: {said}");
}

#[test]
fn words_of_any_epoch_count() {
    let shape = Shape::row(2, 2, 1);
    let deal = Deal::Tickets(&[1, 1]);
    trips(Mistake::EpochIgnored, shape, deal, "a stale value");
}

#[test]
fn half_a_value_counts() {
    let shape = Shape::row(2, 2, 1);
    let deal = Deal::Tickets(&[1, 1]);
    trips(Mistake::HalfNew, shape, deal, "a torn value");
}

#[test]
fn a_prefix_lacks_the_last_tile() {
    let shape = Shape::row(3, 1, 1);
    let deal = Deal::Tiles(TILES);
    trips(Mistake::PrefixWithoutOwn, shape, deal, "another fold");
}

/// The order in which a tile publishes its two values makes no difference: each value is whole or does not count, and
/// no reader infers one from the other.
#[test]
fn an_aggregate_after_the_prefix_is_harmless() {
    for shape in [Shape::row(3, 1, 1), Shape::row(3, 2, 1)] {
        for tiles in [TILES, &[&[0, 2], &[1]], &[&[0], &[1, 2]]] {
            explore(&format!("{shape:?} {tiles:?}"), move || {
                let deal = Deal::Tiles(tiles);
                run(shape, deal, 1, left_by(3), Mistake::AggregateLast);
            });
        }
    }
}

#[test]
fn a_fallback_goes_where_the_aggregate_goes() {
    let shape = Shape::row(2, 2, 1);
    let deal = Deal::Tickets(&[1, 1]);
    trips(Mistake::FallbackInOwnersWords, shape, deal, "two values");
}

#[test]
fn a_total_is_lost() {
    let shape = Shape::row(3, 1, 2);
    let deal = Deal::Tiles(TILES);
    trips(Mistake::TotalLost, shape, deal, "another fold");
}

#[test]
fn totals_are_folded_backwards() {
    let shape = Shape::row(3, 1, 2);
    let deal = Deal::Tiles(TILES);
    trips(Mistake::TotalsReversed, shape, deal, "another fold");
}

#[test]
fn what_was_found_is_forgotten() {
    let shape = Shape::row(3, 1, 1);
    let deal = Deal::Tiles(TILES);
    trips(Mistake::BaseForgotten, shape, deal, "does not end");
}

#[test]
fn a_cube_waits() {
    let shape = Shape {
        stall: &[0],
        ..Shape::row(2, 2, 1)
    };
    let deal = Deal::Tickets(&[1, 1]);
    trips(Mistake::WaitsForWords, shape, deal, "exceeded maximum");
}

/// Two launches, the second one with the mistake's trace in memory.
#[track_caller]
fn trips_later(mistake: Mistake, left: fn() -> Left, expected: &str) {
    let shape = Shape::row(2, 2, 1);
    let said = complaint(move || {
        let left = run(shape, Deal::Tickets(&[2]), 1, left(), mistake);
        run(shape, Deal::Tickets(&[1, 1]), 2, left, mistake);
    });
    assert!(said.contains(expected), "{mistake:?}: {said}");
}

#[test]
fn the_ticket_is_not_reset() {
    trips_later(Mistake::TicketKept, || left_by(3), "scanned once");
}

#[test]
fn an_epoch_comes_twice() {
    trips_later(Mistake::EpochKept, || left_by(3), "a stale value");
}

#[test]
fn epochs_begin_anew_in_words_that_hold_the_first() {
    let left = || Left {
        epoch: LAST_EPOCH - 1,
        ..left_by(1)
    };
    trips_later(Mistake::NotCleared, left, "a stale value");
}

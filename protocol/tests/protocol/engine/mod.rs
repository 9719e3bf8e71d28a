//! What the threads of the CPU engine tell each other: the carries of a long row, and the buffers in the cache. The
//! code is the engine's own, compiled with loom's atomics and lock.

mod sync;
mod threads;
mod unlocked;

#[path = "../../../../src/cpu/buffer_list.rs"]
mod buffer_list;
#[path = "../../../../src/cpu/carries.rs"]
mod carries;

use crate::explore::{complaint, explore, explore_bounded};

fn hands_on(threads: usize, blocks: usize, spin_limit: usize, preemptions: Option<usize>) {
    let name = format!("{threads} threads, {blocks} blocks, {spin_limit} looks");
    explore_bounded(&name, preemptions, move || {
        threads::scan(threads, blocks, spin_limit);
    });
}

/// Without a bound, three blocks have 739,349 schedules; all hold.
#[test]
fn two_threads_hand_on_the_carries() {
    for spin_limit in [0, 1, 2] {
        hands_on(2, 2, spin_limit, None);
    }
    hands_on(2, 3, 0, Some(4));
    hands_on(2, 3, 1, Some(3));
}

/// Without a bound, two blocks have 358,952 schedules; all hold.
#[test]
fn three_threads_hand_on_the_carries() {
    hands_on(3, 2, 0, Some(3));
    hands_on(3, 3, 0, Some(2));
    hands_on(3, 3, 1, Some(2));
}

#[test]
fn a_buffer_has_one_owner() {
    let cases: [(&[usize], usize); 3] = [(&[1, 1], 1), (&[2, 2], 2), (&[1, 1, 0], 1)];
    for (given, most) in cases {
        explore(&format!("buffers, {given:?}"), move || {
            threads::keep(given, most);
        });
    }
}

#[test]
fn a_lower_limit_holds_for_all_threads() {
    let cases: [(&[usize], usize); 4] =
        [(&[2, 0], 1), (&[2, 0], 0), (&[1, 1, 0], 1), (&[1, 1, 0], 0)];
    for (given, most) in cases {
        explore(&format!("a limit of {most}, {given:?}"), move || {
            threads::lower_limit(given, most);
        });
    }
}

#[test]
fn a_lock_that_does_not_lock_is_noticed() {
    let said = complaint(|| unlocked::threads::scan(2, 2, 0));
    assert!(said.contains("Causality violation"), "{said}");
    let said = complaint(|| unlocked::threads::keep(&[1, 1], 1));
    assert!(said.contains("Causality violation"), "{said}");
    let said = complaint(|| unlocked::threads::lower_limit(&[1, 0], 0));
    assert!(said.contains("Causality violation"), "{said}");
}

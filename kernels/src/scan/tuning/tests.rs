//! The tuning of devices as they describe themselves.

use super::*;
use cubecl::prelude::*;

const GPU: Facts = Facts {
    plane_ops: true,
    plane_branches: true,
    planes_in_order: true,
    planes_meet: true,
    cubes_in_order: true,
    plane_sizes: [32, 32],
    most_units: 1024,
    shared_bytes: 232_448,
    multiprocessors: Some(132),
};
/// A device that advertises no plane operations.
const PLAIN: Facts = Facts {
    plane_ops: false,
    plane_branches: false,
    planes_in_order: false,
    planes_meet: false,
    cubes_in_order: false,
    plane_sizes: [4, 8],
    most_units: 1024,
    shared_bytes: 32_768,
    multiprocessors: None,
};

/// The facts of [`GPU`] with a change.
fn gpu(change: impl FnOnce(&mut Facts)) -> Facts {
    let mut facts = GPU;
    change(&mut facts);
    facts
}

fn tuned(facts: Facts) -> Tuning {
    tuned_by(facts, |_| {})
}

/// The tuning by a caller's options.
fn tuned_by(facts: Facts, set: impl FnOnce(&mut LaunchOptions)) -> Tuning {
    let mut options = LaunchOptions::default();
    set(&mut options);
    Tuning::from_facts(facts, &options)
}

/// The tuning with which the golden files of the tests were made.
#[test]
fn classes() {
    let planes = Tuning {
        plane: true,
        units: 512,
        vectors: 4,
        max_planes: 16,
        plane_size: 32,
        equal_planes: 32,
        spin_limit: 512,
        lookback: LookbackConfig {
            block: 32,
            in_registers: true,
            plane_size: 32,
            cubes_in_order: true,
            meets: true,
            stall: None,
        },
        shared_bytes: 232_448,
        units_to_saturate: 132 * 512,
    };
    assert_eq!(tuned(GPU), planes);
    let without_planes = gpu(|facts| facts.plane_ops = false);
    let shared_memory = Tuning {
        plane: false,
        plane_size: 0,
        equal_planes: 0,
        lookback: LookbackConfig {
            block: 32,
            cubes_in_order: true,
            ..Default::default()
        },
        shared_bytes: 0,
        ..planes
    };
    assert_eq!(tuned(without_planes), shared_memory);
    let plain = Tuning {
        max_planes: 128,
        lookback: LookbackConfig {
            block: 32,
            ..Default::default()
        },
        units_to_saturate: 1 << 16,
        ..shared_memory
    };
    assert_eq!(tuned(PLAIN), plain);
    let small = tuned(Facts {
        shared_bytes: 16_384,
        ..PLAIN
    });
    assert_eq!((small.units, small.max_planes), (256, 64));
}

/// If the size of a plane may vary, or planes are in any order, kernels ask for it when they run.
#[test]
fn planes_of_several_units_are_used() {
    let of_sizes = |plane_sizes| tuned(Facts { plane_sizes, ..GPU });
    assert!(of_sizes([2, 2]).plane);
    assert!(!of_sizes([1, 1]).plane, "nothing to combine");
    assert!(!of_sizes([1, 32]).plane, "perhaps nothing");
    for (plane_sizes, max_planes, block) in [([8, 32], 64, 8), ([32, 64], 16, 32)] {
        let varying = of_sizes(plane_sizes);
        assert!(varying.plane);
        assert_eq!(varying.plane_size, 0, "not known");
        let found = (varying.max_planes, varying.lookback.block);
        assert_eq!(found, (max_planes, block));
    }
    let unordered = tuned(gpu(|facts| facts.planes_in_order = false));
    assert_eq!((unordered.plane_size, unordered.lookback.block), (0, 32));
}

#[test]
fn a_lookback_in_registers_needs_planes_that_branch() {
    let tuning = tuned(gpu(|facts| facts.plane_branches = false));
    assert!(tuning.plane && !tuning.lookback.in_registers);
    assert_eq!(tuning.lookback.block, 32);
    let wide = tuned(gpu(|facts| facts.plane_sizes = [64, 64]));
    assert!(wide.lookback.in_registers);
    assert_eq!((wide.lookback.block, wide.plane_size), (32, 64));
}

#[test]
fn a_caller_decides_on_planes() {
    let with = |facts, plane| tuned_by(facts, |options| options.plane = Some(plane));
    assert_eq!(
        with(PLAIN, true),
        Tuning {
            max_planes: 128,
            plane_size: 0,
            equal_planes: 0,
            lookback: LookbackConfig {
                block: 4,
                in_registers: true,
                ..Default::default()
            },
            shared_bytes: 32_768,
            units_to_saturate: 1 << 16,
            ..tuned(GPU)
        }
    );
    assert_eq!(with(PLAIN, false), tuned(PLAIN));
    assert!(!with(GPU, false).plane);
}

#[test]
fn cubes_are_of_whole_planes_that_the_device_holds() {
    let units = |facts, units| {
        let tuning = tuned_by(facts, |options| options.units = Some(units));
        (tuning.units, tuning.max_planes)
    };
    assert_eq!(units(GPU, 0), (32, 1));
    assert_eq!(units(GPU, 33), (64, 2));
    assert_eq!(units(GPU, 4096), (1024, 32));
    let of = |most| gpu(|facts| facts.most_units = most);
    assert_eq!(units(of(100), 4096), (96, 3));
    assert_eq!(units(of(20), 1), (32, 1), "one plane at least");
    assert_eq!(units(PLAIN, 0), (1, 1));
    assert_eq!(units(PLAIN, 33), (33, 9));
}

#[test]
fn long_rows_have_larger_tiles_where_these_can_wait() {
    let vectors = |facts, len| {
        let options = LaunchOptions::default();
        let tuning = Tuning::from_facts(facts, &options).for_long_rows(len, 4, &options);
        tuning.vectors
    };
    assert_eq!(vectors(GPU, 1 << 22), 6);
    assert_eq!(vectors(GPU, (1 << 22) - 1), 4);
    let small = gpu(|facts| facts.shared_bytes = 100 << 10);
    assert_eq!(vectors(small, 1 << 22), 4);
}

#[test]
fn cubes_of_wide_accumulators_have_fewer_units() {
    let of = |dtype: ElemType| {
        let options = LaunchOptions::default();
        let tuning = tuned(GPU).for_accumulators(dtype, &options);
        (tuning.units, tuning.vectors, tuning.max_planes)
    };
    assert_eq!(of(i64::elem_type_native()), (256, 8, 8));
    assert_eq!(of(i32::elem_type_native()), (512, 4, 16));
}

#[test]
fn what_a_caller_sets_is_kept() {
    let with = |spin_limit| {
        let tuning = tuned_by(PLAIN, |options| {
            (options.vectors, options.spin_limit) = (Some(0), Some(spin_limit));
        });
        (tuning.vectors, tuning.spin_limit)
    };
    assert_eq!(with(3), (1, 3));
    assert_eq!(with(0), (1, 1), "every word is read once at least");
}

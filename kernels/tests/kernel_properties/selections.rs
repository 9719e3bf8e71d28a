//! Compaction and grouping: against the oracle, and against laws.

use super::cases::spin_limit;
use super::config;
use cubecl::client::Client;
use cubecl::prelude::Scalar;
use cubecl_scan::compact::{PermutationShape, gather};
use cubecl_scan::scan::{LaunchOptions, Stall};
use proptest::prelude::*;
use scan_testing::Guarded;
use scan_testing::kernels::*;

/// One mask. Its `Debug` form is a literal.
#[derive(Clone, Copy, Debug)]
struct Selection {
    len: usize,
    /// Out of 16.
    density: u32,
    /// Elements that share a flag.
    run: usize,
    units: usize,
    vectors: usize,
    stall: Option<Stall>,
    spin_limit: Option<u32>,
    /// The start of the buffers, in multiples of the smallest offset that the device binds.
    offset: usize,
    seed: usize,
}

impl Selection {
    fn mask(&self) -> Vec<u32> {
        (0..self.len)
            .map(|i| mixed(i / self.run + self.seed))
            .map(|mixed| {
                if mixed % 16 < self.density {
                    mixed | 1
                } else {
                    0
                }
            })
            .collect()
    }

    fn launch(&self) -> LaunchOptions {
        LaunchOptions {
            units: Some(self.units),
            vectors: Some(self.vectors),
            stall: self.stall,
            spin_limit: self.spin_limit,
            ..launch()
        }
    }
}

const COMPILED: [(usize, usize, Option<Stall>); 4] = [
    (32, 1, None),
    (32, 1, Some(Stall::Every(1))),
    (32, 4, Some(Stall::Random { seed: 7, one_in: 2 })),
    (64, 2, Some(Stall::Chosen(0x8000_0f01))),
];

fn selections() -> impl Strategy<Value = Selection> {
    let len = prop_oneof![
        0..6usize,
        0..600usize,
        (0..2000usize).prop_map(|n| 4 * n),
        600..9000usize
    ];
    let mask = (len, 0..=16u32, 1..50usize, 0..10_000usize);
    (mask, 0..COMPILED.len(), spin_limit(), 0..3usize).prop_map(
        |((len, density, run, seed), compiled, spin_limit, offset)| {
            let (units, vectors, stall) = COMPILED[compiled];
            Selection {
                len,
                density,
                run,
                units,
                vectors,
                stall,
                spin_limit,
                offset,
                seed,
            }
        },
    )
}

/// Every form agrees with the oracle. `count = Σ mask`. The destinations lead the values back:
/// `expand(compact(x, m), m) = x · m`.
fn check(selection: &Selection) {
    let (client, mask) = (client(), selection.mask());
    let offset = selection.offset * client.properties().memory.alignment as usize;
    let values: Vec<i32> = (0..mask.len() as i32).map(|i| 7 * i + 1).collect();
    let count = mask.iter().filter(|&&flag| flag != 0).count() as i32;
    let launch = selection.launch();
    let [compacted, _, _, _, destinations] = EMITS.map(|emit| {
        let found = within_20_seconds("a random compaction", || {
            device_compact(&client, &values, &mask, emit, launch, offset)
        });
        assert_eq!(found.1, count, "{emit:?}");
        let expected = selected(&values, &mask, emit);
        assert_eq!(found.0[..expected.len()], expected, "{emit:?}");
        found.0
    });
    let masked = |i: usize| if mask[i] == 0 { 0 } else { values[i] };
    let masked: Vec<i32> = (0..mask.len()).map(masked).collect();
    assert_eq!(gathered(&client, &compacted, &destinations), masked);
    let expanded = device_expand(&client, &compacted, &mask, launch, offset);
    assert_eq!(expanded, masked);
}

fn gathered(client: &Client, values: &[i32], destinations: &[i32]) -> Vec<i32> {
    let (n, int) = (values.len(), i32::elem_type_native());
    let values = Guarded::new(client, values, 0);
    let destinations = Guarded::new(client, destinations, 0);
    let output = Guarded::empty(client, n * size_of::<i32>(), 0);
    let shape = PermutationShape {
        outer: 1,
        slices: n,
        destinations: n,
        inner: 1,
    };
    gather(
        client,
        flat(&values.handle(), n),
        (flat(&destinations.handle(), n), int),
        flat(&output.handle(), n),
        int,
        shape,
    )
    .expect("supported");
    output.read(client)
}

/// The destinations of keys in range are a permutation. All results agree with the oracle.
fn check_groups(len: usize, num_keys: usize, seed: usize, launch: LaunchOptions) {
    let spread = num_keys as u32 + 4;
    let keys: Vec<i32> = (0..len)
        .map(|i| (mixed(i + seed) % spread) as i32 - 2)
        .collect();
    let (found, found_offsets) = device_groups(&client(), &keys, num_keys, launch, 0);
    let mut placed: Vec<i32> = found
        .iter()
        .copied()
        .filter(|&destination| destination >= 0)
        .collect();
    placed.sort_unstable();
    assert_eq!(placed, (0..placed.len() as i32).collect::<Vec<_>>());
    let (expected, starts) = grouped(&keys, num_keys);
    assert_eq!(found, expected);
    assert_eq!(found_offsets, starts);
}

proptest! {
    #![proptest_config(config(50))]

    #[test]
    fn compactions_agree_with_the_oracle_and_expand_again(selection in selections()) {
        check(&selection);
    }

    #[test]
    fn groups_are_stable_permutations(
        len in 0..3000usize,
        num_keys in prop_oneof![1..20usize, 250..260usize, 1..70_000usize],
        seed in 0..10_000usize,
        small_tiles in any::<bool>(),
    ) {
        let units = small_tiles.then_some(64);
        check_groups(len, num_keys, seed, LaunchOptions { units, ..launch() });
    }
}

//! Scans against the oracle.

use super::cases::{Case, Compiled, Element, Layout::*, cases, drawn, per_element};
use super::config;
use cubecl_scan::ScanOp::*;
use cubecl_scan::scan::{ScanOptions, Stall::*};
use half::{bf16, f16};
use proptest::prelude::*;
use scan_testing::kernels::*;
use scan_testing::reference;

fn check(case: &Case) {
    fn run<T: Element>(case: &Case) {
        let Compiled { op, options, .. } = case.compiled;
        let (view, len) = case.view();
        let data = drawn::<T>(len, op, case.seed);
        let found = case.run(&client(), &data, options);
        let expected = reference::scan(&view.gather(&data), &view.shape, case.axis, op, options);
        for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!(
                T::as_bytes(&[*found]) == T::as_bytes(&[*expected]),
                "{found:?} instead of {expected:?} at {at} of {}",
                view.elements()
            );
        }
    }
    case.each(per_element!(run: fn(&Case)));
}

proptest! {
    #![proptest_config(config(50))]

    #[test]
    fn scans_agree_with_the_oracle(case in cases()) {
        check(&case);
    }
}

/// Problems at the corners of the search. A printed failure can be added without changes.
const REMEMBERED: [Case; 2] = [
    Case {
        compiled: Compiled {
            op: Min,
            options: ScanOptions {
                exclusive: true,
                reverse: true,
            },
            dtype: "i32",
            units: 32,
            vectors: 1,
            stall: Some(Every(1)),
        },
        rank: 3,
        shape: [8, 1, 4097, 1],
        axis: 2,
        layout: Broadcast(1),
        offset: 2,
        strategy: 1,
        spin_limit: Some(1),
        seed: 1,
    },
    Case {
        compiled: Compiled {
            op: Prod,
            options: ScanOptions {
                exclusive: true,
                reverse: false,
            },
            dtype: "u32",
            units: 32,
            vectors: 4,
            stall: None,
        },
        rank: 4,
        shape: [2, 3, 900, 4],
        axis: 2,
        layout: Sliced(4),
        offset: 1,
        strategy: 1,
        spin_limit: None,
        seed: 2,
    },
];

#[test]
fn remembered_scans_agree_with_the_oracle() {
    REMEMBERED.iter().for_each(check);
}

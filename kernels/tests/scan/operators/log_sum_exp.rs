//! Logarithms of sums of exponentials at the edges of what floats hold.

use super::{Case, found};
use crate::{ScanOptions, client, launch};
use cubecl_scan::monoid::LogSumExp;

#[test]
fn nan_and_infinities() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let data = vec![-inf, -inf, 3., inf, 5., nan, 1.];
    let case = Case {
        shape: [1, data.len(), 1],
        options: ScanOptions::default(),
        launch: launch(),
        segmented: false,
        resumes: false,
    };
    let (found, _) = found::<LogSumExp>(&client(), case, (), &[data], &[], &[]);
    let found = &found[0];
    assert_eq!(found[..2], [-inf, -inf]);
    assert!((found[2] - 3.).abs() < 1e-6, "{found:?}");
    assert_eq!(found[3..5], [inf, inf]);
    assert!(found[5].is_nan() && found[6].is_nan(), "{found:?}");
}

//! The cases that stand for the others. `--quick` measures them, and `--check` compares them.

use anyhow::ensure;

use crate::Result;

/// One case for each path through the code: each engine, each class of size, each routine's layout, each operation.
pub(crate) const HEADLINE: [&str; 19] = [
    "cumsum/flex/f32/1x1024/dim1",
    "cumsum/flex/f32/1x1048576/dim1",
    "cumsum/flex/f32/1x16777216/dim1",
    "cumsum/flex/f32/4096x4096/dim0",
    "cumsum/flex/f16/1x16777216/dim1",
    "cumsum/flex/i64/1x16777216/dim1",
    "compact/flex/f32/1x16777216/density0.5",
    "partition/flex/f32/1048576/keys256",
    "gradient-sum/flex/f32/1x1048576/dim1",
    "cumsum/cube/f32/1x1024/dim1",
    "cumsum/cube/f32/1x65536/dim1",
    "cumsum/cube/f32/1x4194304/dim1",
    "cumsum/cube/f32/2x2097152/dim1",
    "cumsum/cube/f32/2048x2048/dim0",
    "cumsum/cube/f32/2048x2048/dim1",
    "compact/cube/f32/1x4194304/density0.5",
    "partition/cube/f32/1048576/keys256",
    "gradient-sum/cube/f32/1x1048576/dim1",
    "cumsum-installed/cube/f32/1x1024/dim1",
];

/// The cases of a device, `flex` or `cube`, or all.
pub(crate) fn of_device(device: Option<&str>) -> Result<Vec<&'static str>> {
    let mut cases = HEADLINE.to_vec();
    if let Some(device) = device {
        cases.retain(|case| case.split('/').nth(1) == Some(device));
        ensure!(!cases.is_empty(), "no headline case runs on `{device}`");
    }
    Ok(cases)
}

/// Criterion's filter for every contender of `cases`: a regular expression.
pub(crate) fn filter(cases: &[&str]) -> String {
    format!("^({})/", cases.join("|").replace('.', r"\."))
}

/// The filter for this crate alone.
pub(crate) fn filter_of_ours(cases: &[&str]) -> String {
    format!("{}burn-scan$", filter(cases))
}

/// The filter for this crate and the copies.
pub(crate) fn filter_of_ratios(cases: &[&str]) -> String {
    format!("{}(burn-scan|copy-[a-z-]+)$", filter(cases))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::case::{Name, is_known};

    #[test]
    fn every_headline_is_a_case_of_a_known_operation() {
        for case in HEADLINE {
            let op = Name::parse(case).unwrap().op;
            assert!(is_known(op), "{case}");
        }
    }

    #[test]
    fn a_device_has_its_cases() {
        let flex = of_device(Some("flex")).unwrap();
        let cube = of_device(Some("cube")).unwrap();
        assert!(flex.contains(&HEADLINE[0]) && !cube.contains(&HEADLINE[0]));
        assert_eq!(flex.len() + cube.len(), of_device(None).unwrap().len());
        assert!(of_device(Some("gpu")).is_err());
    }

    #[test]
    fn filters_are_anchored_and_escaped() {
        let cases = ["compact/cube/f32/1x4/density0.5", "a"];
        assert_eq!(filter(&cases), r"^(compact/cube/f32/1x4/density0\.5|a)/");
        assert_eq!(filter_of_ours(&["a"]), "^(a)/burn-scan$");
        assert_eq!(filter_of_ratios(&["a"]), "^(a)/(burn-scan|copy-[a-z-]+)$");
    }
}

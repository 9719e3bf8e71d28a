//! massively. It has a radix sort of a payload by keys, so the keys alone are their own payload.

use cubecl::wgpu::{WgpuDevice, WgpuRuntime};
use massively::Executor;
use massively::vector::radix_sort_by_key;

use super::{ON_DEVICE, Outcome, Report, keys, order};

pub fn run(report: &mut Report) -> Outcome<&'static str> {
    let exec = Executor::<WgpuRuntime>::new(WgpuDevice::DefaultDevice);
    let failed = |error: massively::Error| format!("massively: {error:?}");
    for n in ON_DEVICE {
        let host = keys(n);
        let positions = order(&host);
        let mut expected = host.clone();
        expected.sort_unstable();
        let input = exec.to_device(&host);
        let payload = exec.to_device(&(0..n as u32).collect::<Vec<u32>>());
        for (op, moved, expected) in [
            ("sort", &input, &expected),
            ("sort-pairs", &payload, &positions),
        ] {
            report.case(
                "massively",
                &format!("{op}/u32/1x{n}/dim1"),
                || {
                    let sorted = radix_sort_by_key(&exec, input.slice(..), moved.slice(..));
                    let sorted = sorted.map_err(failed)?;
                    exec.sync().map_err(failed)?;
                    Ok(sorted)
                },
                |sorted| Ok(exec.to_host(&sorted).map_err(failed)? == *expected),
            )?;
        }
    }
    Ok("0.97.0")
}

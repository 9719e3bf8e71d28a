//! With the hook, a graph without a scan keeps the plan of `fusion_plan_baseline`.
#![cfg(all(feature = "fusion", feature = "wgpu"))]

mod fusion_support;

#[test]
fn plans_with_install() {
    if let Some(device) = fusion_support::hooked_device() {
        fusion_support::plain_graphs::assert_plans(&device);
    }
}

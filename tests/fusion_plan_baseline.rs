//! The plans Burn gives to graphs without a scan when nothing is installed. `fusion_plan_hooked` holds the hook to them.
#![cfg(all(feature = "fusion", feature = "wgpu"))]

mod fusion_support;

#[test]
fn plans_without_install() {
    if let Some(device) = fusion_support::device() {
        fusion_support::plain_graphs::assert_plans(&device);
    }
}

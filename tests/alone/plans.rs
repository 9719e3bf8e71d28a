//! Burn's plans of graphs without a scan, with nothing installed. `fusion_plan_hooked` checks that the hook
//! keeps them.
#![cfg(all(feature = "fusion", feature = "wgpu"))]

mod fusion_support;

#[test]
fn plans_without_install() {
    if let Some(device) = fusion_support::device() {
        fusion_support::plain_graphs::assert_plans(&device);
    }
}

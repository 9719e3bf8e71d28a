//! The entry points: one value per unit in, its scan and the cube's total out.

#![expect(
    missing_docs,
    reason = "the `cube` macro generates modules without documentation"
)]

use super::*;
use cubecl::prelude::*;

/// What a cube-level scan returns to each unit.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub struct CubeScan<A: Numeric> {
    /// The scan at this unit's position.
    pub value: A,
    /// The total of the whole cube, the same in every unit.
    pub aggregate: A,
}

/// Inclusive scan across the cube: the unit with `UNIT_POS == i` receives `v₀ ⊕ … ⊕ vᵢ`.
///
/// - `identity`: the identity of `config.op` in `A`, e.g. 0 for a sum and the lowest value for a maximum. It is an
///   argument because infinity is not a valid WGSL constant.
/// - `shared`: at least [`cube_scan_storage(config)`](cube_scan_storage) elements, whatever they hold. After a
///   `sync_cube` the caller may use it again, also for another scan.
///
/// The whole cube calls it in uniform control flow. `CUBE_DIM` is `config.units`. If the algorithm uses planes, unit
/// `i` of plane `j` must be unit `j * PLANE_DIM + i` of the cube. This holds on every backend of CubeCL for cubes of
/// one dimension. No value passes from later units to earlier ones: the last units of a tile that is not full may bring
/// any value, such as the identity.
#[cube]
pub fn cube_inclusive_scan<A: Numeric>(
    value: A,
    identity: A,
    shared: &mut Shared<[A]>,
    #[comptime] config: CubeScanConfig,
) -> CubeScan<A> {
    cube_scan::<A>(value, identity, shared, false, config)
}

/// Exclusive scan across the cube: the unit with `UNIT_POS == i` receives `v₀ ⊕ … ⊕ vᵢ₋₁`, and unit 0 the identity.
///
/// The arguments are those of [`cube_inclusive_scan()`]. The aggregate includes the last unit's value.
#[cube]
pub fn cube_exclusive_scan<A: Numeric>(
    value: A,
    identity: A,
    shared: &mut Shared<[A]>,
    #[comptime] config: CubeScanConfig,
) -> CubeScan<A> {
    cube_scan::<A>(value, identity, shared, true, config)
}

#[cube]
fn cube_scan<A: Numeric>(
    value: A,
    identity: A,
    shared: &mut Shared<[A]>,
    #[comptime] exclusive: bool,
    #[comptime] config: CubeScanConfig,
) -> CubeScan<A> {
    match comptime!(config.effective()) {
        CubeScanAlgorithm::PlaneScans => {
            plane_scans::scan::<A>(value, identity, shared, exclusive, config)
        }
        CubeScanAlgorithm::Raking | CubeScanAlgorithm::RakingMemoize => {
            raking::scan::<A>(value, identity, shared, exclusive, config)
        }
    }
}

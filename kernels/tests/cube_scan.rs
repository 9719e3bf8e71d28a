//! Every cube-level algorithm × operator × inclusive and exclusive × cube size against plain loops, bit for
//! bit: those of the library, and those that the example `survey` adds.
//!
//! One kernel scans the same values twice through the same storage, first inclusive, then exclusive. Plane
//! algorithms run where the device advertises plane operations, or where `BURN_SCAN_FORCE_PLANE=1` turns them
//! on.

#[path = "../examples/survey/algorithms/mod.rs"]
mod algorithms;

use algorithms::{Algorithm, Config, cube_scan, scan_storage};
use cubecl::CubeElement;
use cubecl::client::Client;
use cubecl::ir::ElemType;
use cubecl::prelude::*;
use cubecl_scan::ScanOp;
use cubecl_scan::cube::*;
use cubecl_scan::scan::ScanOptions;
use scan_testing::kernels::{assert_same, client, has_plane_ops, unsupported, values};
use scan_testing::reference;

/// Cubes of one launch. Each has values of its own.
const CUBES: usize = 3;

const SIZES: [usize; 9] = [1, 3, 31, 32, 64, 100, 128, 255, 256];

#[cube(launch)]
fn both_kernel<A: Numeric>(
    input: &[A],
    inclusive: &mut [A],
    exclusive: &mut [A],
    aggregates: &mut [A],
    identity: InputScalar,
    #[comptime] config: Config,
    #[define(A)] _dtype: ElemType,
) {
    let mut storage = Shared::<[A]>::new_slice(comptime!(scan_storage(config)));
    let identity = identity.get::<A>();
    let value = input[ABSOLUTE_POS];
    let first = cube_scan::<A>(value, identity, &mut storage, false, config);
    sync_cube();
    let second = cube_scan::<A>(value, identity, &mut storage, true, config);
    inclusive[ABSOLUTE_POS] = first.value;
    exclusive[ABSOLUTE_POS] = second.value;
    // Every unit writes the aggregate: it must be the same in all units.
    aggregates[2 * ABSOLUTE_POS] = first.aggregate;
    aggregates[2 * ABSOLUTE_POS + 1] = second.aggregate;
}

#[cube(launch)]
fn plane_kernel<A: Numeric>(
    input: &[A],
    inclusive: &mut [A],
    exclusive: &mut [A],
    planes: &mut [u32],
    identity: InputScalar,
    #[comptime] op: ScanOp,
    #[define(A)] _dtype: ElemType,
) {
    let value = input[ABSOLUTE_POS];
    inclusive[ABSOLUTE_POS] = plane_inclusive_scan::<A>(value, op);
    exclusive[ABSOLUTE_POS] = plane_exclusive_scan::<A>(value, identity.get::<A>(), op);
    planes[ABSOLUTE_POS] = PLANE_POS;
}

/// An element type of the tests, with the identities of maximum and minimum.
trait Element: CubeElement + Numeric + reference::Scalar {
    const LIMITS: (f64, f64);
    fn of(value: i32) -> Self;
}

impl Element for i32 {
    const LIMITS: (f64, f64) = (i32::MIN as f64, i32::MAX as f64);
    fn of(value: i32) -> Self {
        value
    }
}

impl Element for f32 {
    const LIMITS: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
    fn of(value: i32) -> Self {
        value as f32
    }
}

fn identity<T: Element>(op: ScanOp) -> InputScalar {
    let value = match op {
        ScanOp::Sum => 0.0,
        ScanOp::Prod => 1.0,
        ScanOp::Max => T::LIMITS.0,
        _ => T::LIMITS.1,
    };
    match T::elem_type_native() {
        dtype @ ElemType::Float(_) => InputScalar::new(value, dtype),
        dtype => InputScalar::new(value as i32, dtype),
    }
}

/// The buffers of one launch over `input`.
struct Buffers<'a> {
    client: &'a Client,
    input: cubecl::server::Handle,
    outputs: [cubecl::server::Handle; 3],
    len: usize,
}

impl<'a> Buffers<'a> {
    fn new<T: Element>(client: &'a Client, input: &[T]) -> Self {
        let bytes = size_of_val(input);
        Self {
            client,
            input: client.create_from_slice(T::as_bytes(input)),
            outputs: [
                client.empty(bytes),
                client.empty(bytes),
                client.empty(2 * bytes),
            ],
            len: input.len(),
        }
    }

    fn input(&self) -> BufferArg {
        // SAFETY: made of `len` elements above.
        unsafe { BufferArg::from_raw_parts(self.input.clone(), self.len) }
    }

    fn output(&self, index: usize) -> BufferArg {
        let len = if index == 2 { 2 * self.len } else { self.len };
        // SAFETY: made of that many elements above.
        unsafe { BufferArg::from_raw_parts(self.outputs[index].clone(), len) }
    }

    fn read<E: CubeElement>(&self, index: usize) -> Vec<E> {
        let bytes = self
            .client
            .read_one(self.outputs[index].clone())
            .expect("the output can be read");
        E::from_bytes(&bytes).to_vec()
    }
}

/// Runs the kernel on [`CUBES`] cubes and compares everything it wrote with plain loops.
fn check<T: Element>(client: &Client, config: Config, input: &[T]) {
    let CubeScanConfig { op, units, .. } = config.cube;
    let buffers = Buffers::new(client, input);
    both_kernel::launch(
        client,
        CubeCount::Static(CUBES as u32, 1, 1),
        CubeDim::new_1d(units as u32),
        buffers.input(),
        buffers.output(0),
        buffers.output(1),
        buffers.output(2),
        identity::<T>(op),
        config,
        T::elem_type_native(),
    );
    let shape = [CUBES, units];
    let scan = |exclusive| {
        let options = ScanOptions {
            exclusive,
            ..Default::default()
        };
        reference::scan(input, &shape, 1, op, options)
    };
    let inclusive = scan(false);
    let totals: Vec<T> = (0..2 * input.len())
        .map(|i| inclusive[(i / 2 / units + 1) * units - 1])
        .collect();
    let context = |what| format!("{what} of {config:?}");
    assert_same(&buffers.read(0), &inclusive, || context("inclusive"));
    assert_same(&buffers.read(1), &scan(true), || context("exclusive"));
    assert_same(&buffers.read(2), &totals, || context("aggregate"));
}

/// The configuration of an algorithm at one cube size, if the device has what it needs.
fn config(client: &Client, algorithm: Algorithm, op: ScanOp, units: usize) -> Option<Config> {
    (has_plane_ops(client) || !algorithm.needs_plane_ops())
        .then(|| Config::new(client, algorithm, op, units))
}

/// Two operators for each cube size, and the other two in the other `turn`. Types differ in their operators and share
/// the path through a cube, so each operator meets each size in one type.
fn every_case<T: Element>(algorithm: Algorithm, turn: usize) {
    let client = client();
    for (nth, units) in SIZES.into_iter().enumerate() {
        for op in ScanOp::ALL.into_iter().skip((nth + turn) % 2).step_by(2) {
            let Some(config) = config(&client, algorithm, op, units) else {
                unsupported(&format!(
                    "{} needs plane operations, which this device does not advertise",
                    algorithm.name()
                ));
                return;
            };
            let input: Vec<T> = values(CUBES * units, op).into_iter().map(T::of).collect();
            check(&client, config, &input);
        }
    }
}

/// An operator that does not commute: of equal values, a maximum keeps the left one. Zeros of either sign are
/// equal, so the running maximum of zeros is the first zero.
fn keeps_order(algorithm: Algorithm) {
    let client = client();
    for units in SIZES {
        if let Some(config) = config(&client, algorithm, ScanOp::Max, units) {
            let zero = |i: usize| {
                if (i % units).is_multiple_of(5) {
                    -0.0
                } else {
                    0.0
                }
            };
            let input: Vec<f32> = (0..CUBES * units).map(zero).collect();
            check(&client, config, &input);
        }
    }
}

macro_rules! stamp {
    ($($name:ident: $algorithm:expr;)*) => {
        /// The list below is complete.
        const STAMPED: &[Algorithm] = &[$($algorithm),*];

        $(mod $name {
            use super::*;

            #[test]
            fn i32() {
                every_case::<i32>($algorithm, 0);
            }

            #[test]
            fn f32() {
                every_case::<f32>($algorithm, 1);
            }

            #[test]
            fn left_stands_before_right() {
                keeps_order($algorithm);
            }
        })*
    };
}

stamp! {
    plane_scans: Algorithm::Published(CubeScanAlgorithm::PlaneScans);
    raking: Algorithm::Published(CubeScanAlgorithm::Raking);
    raking_memoize: Algorithm::Published(CubeScanAlgorithm::RakingMemoize);
    hillis_steele: Algorithm::HillisSteele;
    sklansky: Algorithm::Sklansky;
    brent_kung: Algorithm::BrentKung;
    plane_brent_kung: Algorithm::PlaneBrentKung;
    plane_fused_brent_kung: Algorithm::PlaneFusedBrentKung;
    plane_sklansky: Algorithm::PlaneSklansky;
    plane_serial: Algorithm::PlaneSerial;
    plane_raking_reduce_scan: Algorithm::PlaneRakingReduceScan;
}

#[test]
fn every_algorithm_is_stamped() {
    assert_eq!(STAMPED, Algorithm::all().collect::<Vec<_>>());
}

/// Bounds below the size of the device's planes, as a device with varying planes has them: down to one unit, where the
/// plane algorithms become their radix-2 forms.
#[test]
fn a_lower_bound_of_the_plane_size_will_do() {
    let client = client();
    for algorithm in Algorithm::all() {
        let least = Config::new(&client, algorithm, ScanOp::Sum, 1)
            .cube
            .plane_size_min;
        for plane_size_min in [1, 2, 4, 8].into_iter().filter(|size| *size <= least) {
            if let Some(mut config) = config(&client, algorithm, ScanOp::Sum, 100) {
                config.cube.plane_size_min = plane_size_min;
                check(&client, config, &values(CUBES * 100, ScanOp::Sum));
            }
        }
    }
}

#[test]
fn the_default_is_supported() {
    let client = client();
    assert!(CubeScanAlgorithm::default_for(&client).is_supported(&client));
}

#[test]
fn planes_scan_on_their_own() {
    let client = client();
    if !has_plane_ops(&client) {
        unsupported("this device does not advertise plane operations");
        return;
    }
    for op in ScanOp::ALL {
        let units = 101;
        let input: Vec<f32> = values(units, op).into_iter().map(f32::of).collect();
        let buffers = Buffers::new(&client, &input);
        plane_kernel::launch(
            &client,
            CubeCount::Static(1, 1, 1),
            CubeDim::new_1d(units as u32),
            buffers.input(),
            buffers.output(0),
            buffers.output(1),
            buffers.output(2),
            identity::<f32>(op),
            op,
            f32::elem_type_native(),
        );
        let planes: Vec<u32> = buffers.read(2);
        let (inclusive, exclusive): (Vec<f32>, Vec<f32>) = (buffers.read(0), buffers.read(1));
        let mut first = 0;
        for plane in planes[..units].chunk_by(|a, b| a == b) {
            let scan = |exclusive| {
                let options = ScanOptions {
                    exclusive,
                    ..Default::default()
                };
                let part = first..first + plane.len();
                reference::scan(&input[part], &[plane.len()], 0, op, options)
            };
            assert_eq!(inclusive[first..][..plane.len()], scan(false), "{op:?}");
            assert_eq!(exclusive[first..][..plane.len()], scan(true), "{op:?}");
            first += plane.len();
        }
    }
}

//! Scans across one cube and one plane, for use inside other kernels.
//!
//! Every unit of the cube brings one value. It receives the scan up to its position, and the total of the cube. Values
//! are in the order of `UNIT_POS`. In every combination the left operand precedes the right one, so an operator need
//! not commute.
//!
//! | algorithm | barriers after the first store | work | plane operations |
//! |---|---|---|---|
//! | [`PlaneScans`](CubeScanAlgorithm::PlaneScans) | 2 | n | yes |
//! | [`Raking`](CubeScanAlgorithm::Raking) | 3 | 2n | no |
//! | [`RakingMemoize`](CubeScanAlgorithm::RakingMemoize) | 3 | 2n | no |
//!
//! n is the number of units of the cube. Work counts combinations outside of plane scans.
//!
//! An algorithm of your own is made of [`combine`](crate::operator::combine()) and of the scans of one plane below. The
//! example `survey` has eight.
//!
//! # Example
//!
//! Each cube scans its 256 elements; the storage is used twice.
//!
//! ```no_run
//! use cubecl::{client::Client, prelude::*};
//! use cubecl_scan::{ScanOp, cube::*};
//!
//! #[cube(launch)]
//! fn offsets(counts: &[u32], offsets: &mut [u32], totals: &mut [u32], #[comptime] config: CubeScanConfig) {
//!     let mut storage = Shared::<[u32]>::new_slice(comptime!(cube_scan_storage(config)));
//!     let count = counts[ABSOLUTE_POS];
//!     let scan = cube_exclusive_scan::<u32>(count, 0u32, &mut storage, config);
//!     offsets[ABSOLUTE_POS] = scan.value;
//!
//!     sync_cube(); // the storage was read last by the scan above
//!     let odd = cube_inclusive_scan::<u32>(count % 2, 0u32, &mut storage, config);
//!     if UNIT_POS == 0 {
//!         totals[CUBE_POS] = scan.aggregate + odd.aggregate;
//!     }
//! }
//!
//! fn launch(client: &Client) {
//!     let algorithm = CubeScanAlgorithm::default_for(client);
//!     let config = CubeScanConfig::new(client, algorithm, ScanOp::Sum, 256);
//!     let counts = client.create_from_slice(u32::as_bytes(&[3; 1024]));
//!     let (offsets, totals) = (client.empty(1024 * 4), client.empty(4 * 4));
//!     // SAFETY: the buffers hold `len` elements.
//!     let buffer = |handle, len| unsafe { BufferArg::from_raw_parts(handle, len) };
//!     offsets::launch(
//!         client,
//!         CubeCount::Static(4, 1, 1),
//!         CubeDim::new_1d(256),
//!         buffer(counts, 1024),
//!         buffer(offsets, 1024),
//!         buffer(totals, 4),
//!         config,
//!     );
//! }
//! # fn main() {}
//! ```

mod algorithm;
mod config;
mod plane;
mod plane_scans;
mod raking;
mod scan;

pub use algorithm::CubeScanAlgorithm;
pub use config::{CubeScanConfig, cube_scan_storage};
pub use plane::{plane_exclusive_scan, plane_inclusive_scan, plane_scan_in_place};
pub use scan::{CubeScan, cube_exclusive_scan, cube_inclusive_scan};

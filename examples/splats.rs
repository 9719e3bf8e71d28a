//! Draws 200,000 Gaussian splats: sorted by their depths, binned to tiles of the picture, blended from front to back.
//!
//! The renderer of Kerbl et al. ("3D Gaussian Splatting", 2023), after the projection: each splat is a Gaussian in the
//! plane of the picture, with a depth, a colour and an opacity.
//!
//! ```text
//! depths                        radix_sort_by_key          the splats from front to back
//! tiles that each splat meets   repeat_by_lengths          a pair for each splat and tile
//! the tiles of the pairs        radix_sort_by_key_bits     stable: the pairs of a tile keep their depths' order
//! offsets of the tiles          run_length_encode, lengths_to_offsets
//! what passes those in front    segmented_scan             1 · (1 − α₀) · (1 − α₁) · …, for each pixel of a tile
//! colours                       segment_reduce             Σ passed · α · colour
//! ```
//!
//! Two numbers of pairs are read back on the way: how many there are, and where the tiles of each band of the picture
//! begin. The picture is drawn band by band, so that it takes little memory.
//!
//! The same picture is drawn with Burn's own sort, which sorts on the host for CubeCL devices. It does not promise to
//! be stable, so its keys of pairs contain the splat's rank. Both pictures must be the same, byte for byte, and close
//! to that of a loop on the host.
//!
//! ```text
//! cargo run --release --example splats [-- [--device flex|wgpu|vulkan|cuda|..] [--png PATH]]
//! ```
//!
//! The splats are made up: they lie on a torus. The picture is `target/plots/splats.png` by default. The exit code is 0
//! if all results are right, 1 if any is not, 2 if the run could not start.

#[path = "splats/host.rs"]
mod host;

use std::process::ExitCode;
use std::time::Instant;

use burn::tensor::{Device, IndexingUpdateOp, Int, Tensor, TensorData};
use burn_scan::prelude::*;
use common::arguments::Arguments;
use common::timing::{compare, milliseconds};
use common::{Checks, picture};
use host::{by_loop, torus};

const USAGE: &str = "splats [--device NAME] [--png PATH]";

const SPLATS: usize = 200_000;
const WIDTH: usize = 512;
const HEIGHT: usize = 384;
/// Pixels of a tile along each side, and of a tile.
const SIDE: usize = 8;
const PIXELS: usize = SIDE * SIDE;
const TILES_ACROSS: usize = WIDTH / SIDE;
const TILES_DOWN: usize = HEIGHT / SIDE;
const TILES: usize = TILES_ACROSS * TILES_DOWN;
/// Bits of the number of a tile.
const TILE_BITS: usize = TILES.next_power_of_two().ilog2() as usize;
/// Rows of tiles that are drawn at once.
const BAND: usize = 4;
/// What is less opaque than this does not change a pixel.
const FAINTEST: f32 = 1.0 / 255.0;
/// The largest difference from the host's picture, in 255ths: an f32 may round to the next one.
const TOLERANCE: u8 = 2;

/// Numbers of a splat: centre, the inverse of its covariance, opacity, colour, half the side of its square.
const CENTRE: usize = 0;
const CONIC: usize = 2;
const OPACITY: usize = 5;
const COLOUR: usize = 6;
const REACH: usize = 9;
const NUMBERS: usize = 10;

type Splat = [f32; NUMBERS];

fn main() -> ExitCode {
    common::run(USAGE, run)
}

/// Returns whether all results are right, or the reason why there are none.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let (device, description) = common::device::choose(arguments.device())?;
    println!("device: {description}");
    let (splats, depths) = torus();
    let scene = Scene::new(&splats, &depths, &device);
    let mut checks = Checks::default();

    let start = Instant::now();
    let (ours, pairs) = scene.draw(Sort::Radix);
    let time = start.elapsed();
    println!(
        "{SPLATS} splats on {TILES} tiles: {pairs} pairs, drawn in {:.0} ms with the first compilation",
        milliseconds(time)
    );
    let (burns, _) = scene.draw(Sort::Burns);
    checks.check("the picture by Burn's own sort", ours == burns);
    let differences = ours.iter().zip(by_loop(&splats, &depths));
    let largest = differences.map(|(a, b)| a.abs_diff(b)).max().unwrap_or(0);
    println!("largest difference to a loop on the host: {largest} of 255");
    checks.check("the picture", largest <= TOLERANCE);

    scene.time(&device);
    picture::save(&arguments.png(), [WIDTH, HEIGHT], &ours)?;
    if checks.passed() {
        println!(
            "The {SPLATS} splats are the same picture by either sort, and by a loop on the host."
        );
    }
    Ok(checks.passed())
}

/// `0, 1, 2, …`. Burn's own `arange` is a loop, and some software drivers end a loop after 65,535 rounds.
fn numbered(len: usize, device: &Device) -> Tensor<1, Int> {
    Tensor::ones([len], device).exclusive_cumsum(0)
}

/// How splats and pairs are sorted.
#[derive(Clone, Copy)]
enum Sort {
    Radix,
    Burns,
}

/// The splats on a device.
struct Scene {
    /// `[SPLATS, NUMBERS]`.
    splats: Tensor<2>,
    depths: Tensor<1>,
}

/// Splats and tiles that overlap, tile by tile, in each tile from front to back.
struct Pairs {
    /// The rank of the splat.
    splats: Tensor<1, Int>,
    tiles: Tensor<1, Int>,
}

impl Scene {
    fn new(splats: &[Splat], depths: &[f32], device: &Device) -> Self {
        let numbers = TensorData::new(splats.concat(), [SPLATS, NUMBERS]);
        Self {
            splats: Tensor::from_data(numbers, device),
            depths: Tensor::from_data(depths, device),
        }
    }

    /// The picture, three bytes per pixel, and the number of pairs.
    fn draw(&self, sort: Sort) -> (Vec<u8>, usize) {
        let splats = self.splats.clone().select(0, self.by_depth(sort));
        let (pairs, count) = Pairs::new(&splats).by_tile(sort);
        let offsets = pairs.offsets();
        let host = offsets.clone().try_into_vec_as::<i64>();
        let host = host.expect("the device is read");
        let bands = (0..TILES_DOWN).step_by(BAND).map(|row| {
            let [first, end] = [row, row + BAND].map(|row| row * TILES_ACROSS);
            let range = host[first] as usize..host[end] as usize;
            let own = offsets.clone().narrow(0, first, end - first + 1) - host[first];
            pairs.draw(&splats, range, own)
        });
        let picture = Tensor::cat(bands.collect(), 0) * 255.0;
        let bytes: Vec<u8> = picture
            .round()
            .int()
            .try_into_vec_as()
            .expect("the device is read");
        (bytes, count)
    }

    /// The splats from front to back.
    fn by_depth(&self, sort: Sort) -> Tensor<1, Int> {
        match sort {
            Sort::Radix => {
                let splats = numbered(SPLATS, &self.depths.device());
                splats
                    .radix_sort_by_key(self.depths.clone(), SortOrder::Ascending)
                    .0
            }
            Sort::Burns => self.depths.clone().argsort(0),
        }
    }

    /// Prints the times of both sorts in both ways.
    fn time(&self, device: &Device) {
        let burns = "argsort";
        compare(
            device,
            "sort by depth",
            || self.by_depth(Sort::Radix),
            burns,
            || self.by_depth(Sort::Burns),
        );
        let splats = self.splats.clone().select(0, self.by_depth(Sort::Radix));
        let pairs = Pairs::new(&splats);
        compare(
            device,
            "sort by tile",
            || pairs.clone().by_tile(Sort::Radix).0.tiles,
            "argsort of tile and rank, and two selects",
            || pairs.clone().by_tile(Sort::Burns).0.tiles,
        );
    }
}

impl Clone for Pairs {
    fn clone(&self) -> Self {
        Self {
            splats: self.splats.clone(),
            tiles: self.tiles.clone(),
        }
    }
}

impl Pairs {
    /// The pairs of all splats, splat by splat.
    fn new(splats: &Tensor<2>) -> Self {
        let tile = |number: usize, sign: f32, tiles: usize| {
            let centre = splats.clone().narrow(1, CENTRE + number, 1);
            let reach = splats.clone().narrow(1, REACH, 1) * sign;
            let tile = ((centre + reach) / SIDE as f32).floor().int();
            tile.clamp(0, tiles as i64 - 1).reshape([SPLATS])
        };
        let [left, right] = [-1.0, 1.0].map(|sign| tile(0, sign, TILES_ACROSS));
        let [top, bottom] = [-1.0, 1.0].map(|sign| tile(1, sign, TILES_DOWN));
        let across = right - left.clone() + 1;
        let lengths = across.clone() * (bottom - top.clone() + 1);
        let ranks = numbered(SPLATS, &splats.device());
        let of_pairs = ranks.repeat_by_lengths(lengths.clone());
        let pairs = of_pairs.dims()[0];
        let of = |numbers: Tensor<1, Int>| numbers.select(0, of_pairs.clone());
        let own = numbered(pairs, &splats.device()) - of(lengths.exclusive_cumsum(0));
        let across = of(across);
        let row = own.clone() / across.clone();
        let column = own - row.clone() * across;
        Self {
            tiles: (of(top) + row) * TILES_ACROSS as i64 + of(left) + column,
            splats: of_pairs,
        }
    }

    /// The pairs tile by tile, and how many there are.
    fn by_tile(self, sort: Sort) -> (Self, usize) {
        let count = self.tiles.dims()[0];
        let (splats, tiles) = match sort {
            Sort::Radix => {
                let order = SortOrder::Ascending;
                self.splats
                    .radix_sort_by_key_bits(self.tiles, TILE_BITS, order)
            }
            Sort::Burns => {
                let keys = self.tiles.clone() * SPLATS as i64 + self.splats.clone();
                let order = keys.argsort(0);
                (
                    self.splats.select(0, order.clone()),
                    self.tiles.select(0, order),
                )
            }
        };
        (Self { splats, tiles }, count)
    }

    /// Where the pairs of each tile begin, and the number of pairs.
    fn offsets(&self) -> Tensor<1, Int> {
        let (tiles, lengths, _) = self.tiles.clone().run_length_encode_padded();
        let none = Tensor::<1, Int>::zeros([TILES], (&tiles.device(), lengths.dtype()));
        // After the runs, zeros are added to tile 0.
        none.select_assign(0, tiles, lengths, IndexingUpdateOp::Add)
            .lengths_to_offsets()
    }

    /// Some rows of tiles, `[rows of pixels, WIDTH, 3]`. `offsets` are those of their tiles among the pairs of `range`.
    fn draw(
        &self,
        splats: &Tensor<2>,
        range: std::ops::Range<usize>,
        offsets: Tensor<1, Int>,
    ) -> Tensor<3> {
        let pairs = range.len();
        let device = splats.device();
        let rows = (offsets.dims()[0] - 1) / TILES_ACROSS;
        if pairs == 0 {
            return Tensor::zeros([rows * SIDE, WIDTH, 3], &device);
        }
        let own = |tensor: &Tensor<1, Int>| tensor.clone().narrow(0, range.start, pairs);
        let numbers = splats.clone().select(0, own(&self.splats));
        let number = |at: usize| numbers.clone().narrow(1, at, 1);
        let tiles = own(&self.tiles).reshape([pairs, 1]);
        let row = tiles.clone() / TILES_ACROSS as i64;
        let column = tiles - row.clone() * TILES_ACROSS as i64;
        // The centres of the pixels of a tile, counted from its corner.
        let pixels = Tensor::<1, Int>::arange(0..PIXELS as i64, &device).reshape([1, PIXELS]);
        let down = pixels.clone() / SIDE as i64;
        let across = pixels - down.clone() * SIDE as i64;
        let distance = |tile: Tensor<2, Int>, pixel: Tensor<2, Int>, at: usize| {
            (tile * SIDE as i64).float() - number(at) + (pixel.float() + 0.5)
        };
        let x = distance(column, across, CENTRE);
        let y = distance(row, down, CENTRE + 1);
        let power = x.clone() * x.clone() * number(CONIC) * 0.5
            + x * y.clone() * number(CONIC + 1)
            + y.clone() * y * number(CONIC + 2) * 0.5;
        let alpha = (-power).exp() * number(OPACITY);
        let faint = alpha.clone().lower_elem(FAINTEST);
        let alpha = alpha.mask_fill(faint, 0.0);

        let starts = offsets.clone().offsets_to_starts(pairs).reshape([pairs, 1]);
        let passed = (-alpha.clone() + 1.0).segmented_scan(
            starts.expand([pairs, PIXELS]),
            0,
            ScanOp::Prod,
            ScanOptions::default().exclusive(),
        );
        let weight = passed * alpha;
        let channels = (0..3).map(|channel| {
            let light = weight.clone() * number(COLOUR + channel);
            let of_tiles = light.segment_reduce(offsets.clone(), ScanOp::Sum);
            of_tiles
                .reshape([rows, TILES_ACROSS, SIDE, SIDE])
                .permute([0, 2, 1, 3])
                .reshape([rows * SIDE, WIDTH, 1])
        });
        Tensor::cat(channels.collect(), 2)
    }
}

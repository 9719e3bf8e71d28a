//! Particles that live on the device. The host sees only what it draws.
//!
//! ```text
//! survivors   those that still live move to the front              compact_dim_by_mask_padded
//! spawn       each emitter sends out a number of new ones;
//!             they take the places after the survivors             repeat_by_lengths_into
//! cells       particles are grouped by the cell they are in;
//!             from full cells they are pushed to emptier ones      partition_by_key
//! step        velocities, positions, ages                          Burn's fused kernels
//! depth       from the farthest to the nearest, as they are drawn  radix_sort_by_key
//! ```
//!
//! All shapes are fixed, so only one number per particle is read back: where it is in the picture, and its shade.

use burn::tensor::{Bool, Device, Distribution, Int, Tensor};
use burn_scan::prelude::*;
use js_sys::Int32Array;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::{device, elements};

/// Columns of the state: position, velocity, life in seconds, and the emitter, which is the colour.
const LIFE: usize = 6;
const EMITTER: usize = 7;
const WIDTH: usize = 8;

const EMITTERS: usize = 16;

/// Seconds that a particle lives, on average. The others live up to half as long again.
const LIFE_SPAN: f64 = 4.0;

/// Cells along each side of the cube from −1 to 1.
const SIDE: usize = 16;
const CELLS: usize = SIDE * SIDE * SIDE;

/// A picture has at most 1024 × 1024 pixels, and a particle 1024 shades: 30 bits.
const LEVELS: f64 = 1024.0;

/// A cloud of particles.
#[wasm_bindgen]
pub struct Particles {
    device: Device,
    /// `[n, WIDTH]`.
    state: Tensor<2>,
    /// Where the emitters are, and the velocity of what they send out: `[EMITTERS, WIDTH]`.
    emitters: Tensor<2>,
    /// New particles of all emitters that find room in one step.
    room: usize,
}

#[wasm_bindgen]
impl Particles {
    /// Room for `n` particles, none of which lives yet.
    #[wasm_bindgen(constructor)]
    pub fn new(n: usize) -> Particles {
        let device = device();
        let emitter = |i: usize| {
            let turn = i as f32 / EMITTERS as f32 * std::f32::consts::TAU;
            let (sin, cos) = turn.sin_cos();
            let height = if i % 2 == 0 { 0.35 } else { -0.35 };
            [
                0.6 * cos,
                height,
                0.6 * sin,
                -0.5 * sin,
                0.6 - height,
                0.5 * cos,
                0.0,
                i as f32,
            ]
        };
        let emitters: Vec<f32> = (0..EMITTERS).flat_map(emitter).collect();
        Self {
            state: Tensor::zeros([n, WIDTH], &device),
            emitters: Tensor::<1>::from_data(&emitters[..], &device).reshape([EMITTERS, WIDTH]),
            room: (n / 8).max(EMITTERS),
            device,
        }
    }

    /// Lets `seconds` pass. The view has turned by `angle`, and is `width` × `height` pixels.
    ///
    /// Returns `shade << 20 | row << 10 | column` for each particle in the order of drawing, or −1 for one that is not
    /// visible.
    ///
    /// # Errors
    ///
    /// What the device said.
    pub async fn step(
        &mut self,
        seconds: f32,
        angle: f32,
        width: u32,
        height: u32,
    ) -> Result<Int32Array, String> {
        let state = self.spawned(seconds);
        let state = self.moved(state, seconds);
        self.state = state.clone();
        let drawn = self.drawn(&state, angle, [width, height].map(f64::from));
        Ok(Int32Array::from(&elements::<i32, 1, _>(drawn).await?[..]))
    }
}

impl Particles {
    fn n(&self) -> usize {
        self.state.dims()[0]
    }

    /// The survivors, followed by new particles as far as there is room.
    fn spawned(&self, seconds: f32) -> Tensor<2> {
        let (n, room) = (self.n(), self.room);
        let lives = column(&self.state, LIFE).greater_scalar(0.0);
        let (state, survivors) = self.state.clone().compact_dim_by_mask_padded(lives, 0);

        // On average this many keep all places filled.
        let most = 2.0 * n as f64 * f64::from(seconds) / LIFE_SPAN / EMITTERS as f64 + 1.0;
        let lengths =
            Tensor::<1>::random([EMITTERS], Distribution::Uniform(0.0, most), &self.device);
        let lengths = lengths.int();
        let born = lengths.clone().sum().clamp_max(room as i32);
        let ids = Tensor::<1, Int>::arange(0..EMITTERS as i64, &self.device);
        let ids = ids.repeat_by_lengths_into(lengths, room);
        let noise = |size: f64, columns: usize| {
            let range = Distribution::Uniform(-size, size);
            Tensor::<2>::random([room, columns], range, &self.device)
        };
        let life = noise(0.5 * LIFE_SPAN, 1) + LIFE_SPAN;
        let emitter = Tensor::zeros([room, 1], &self.device);
        let noise = Tensor::cat(vec![noise(0.04, 3), noise(0.15, 3), life, emitter], 1);
        let new = self.emitters.clone().select(0, ids) + noise;

        let place = Tensor::<1, Int>::arange(0..n as i64, &self.device) - survivors;
        let is_new = place.clone().greater_equal_scalar(0);
        let is_new = is_new.bool_and(place.clone().lower(born));
        let is_new: Tensor<2, Bool> = is_new.reshape([n, 1]);
        let rows = new.select(0, place.clamp(0, room as i32 - 1));
        state.mask_where(is_new.expand([n, WIDTH]), rows)
    }

    /// How crowded each particle's cell is and the push to emptier neighbours, then a step in time.
    fn moved(&self, state: Tensor<2>, seconds: f32) -> Tensor<2> {
        let n = self.n();
        let column = |number: usize| column(&state, number);
        let cell = |number: usize| {
            let scaled = (column(number) + 1.0) * (SIDE as f64 / 2.0);
            scaled.int().clamp(0, SIDE as i32 - 1)
        };
        let cells = [cell(0), cell(1), cell(2)];
        let number = |[x, y, z]: [Tensor<1, Int>; 3]| (x * SIDE as i32 + y) * SIDE as i32 + z;
        let dead = column(LIFE).lower_equal_scalar(0.0);
        // Dead particles are in no cell.
        let keys = number(cells.clone()).mask_fill(dead, CELLS as i32);
        let (_, offsets) = keys.clone().partition_by_key(keys, CELLS);
        let ends = offsets.clone().slice_dim(0, 1..CELLS + 1);
        let crowd = (ends - offsets.slice_dim(0, 0..CELLS)).float() * (CELLS as f64 / n as f64);

        let push = |axis: usize| {
            let neighbour = |by: i32| {
                let mut cells = cells.clone();
                cells[axis] = (cells[axis].clone() + by).clamp(0, SIDE as i32 - 1);
                crowd.clone().select(0, number(cells))
            };
            (neighbour(-1) - neighbour(1)) * 0.02
        };
        let seconds = f64::from(seconds);
        let velocity = |axis: usize| {
            let inwards = column(axis) * -0.9;
            let swirl = match axis {
                0 => column(2) * -0.8,
                1 => column(1) * -0.6,
                _ => column(0) * 0.8,
            };
            let force = push(axis).clamp(-2.0, 2.0) + inwards + swirl;
            (column(3 + axis) + force * seconds) * (1.0 - 0.3 * seconds)
        };
        let velocities = [velocity(0), velocity(1), velocity(2)];
        let positions = [0, 1, 2].map(|axis| column(axis) + velocities[axis].clone() * seconds);
        let life = column(LIFE) - seconds;
        let columns = positions.into_iter().chain(velocities);
        let columns = columns.chain([life, column(EMITTER)]);
        Tensor::cat(columns.map(|column| column.reshape([n, 1])).collect(), 1)
    }

    /// Where each particle is in the picture, and its shade, from the farthest to the nearest.
    fn drawn(&self, state: &Tensor<2>, angle: f32, [width, height]: [f64; 2]) -> Tensor<1, Int> {
        let column = |number: usize| column(state, number);
        let (sin, cos) = f64::from(angle).sin_cos();
        let across = column(0) * cos + column(2) * sin;
        let depth = column(2) * cos - column(0) * sin + 2.6;
        let scale = height * 1.1;
        let x = across / depth.clone() * scale + width / 2.0;
        let y = column(1) * -scale / depth.clone() + height / 2.0;
        let nearness = ((depth.clone() * -1.0 + 3.8) / 2.4).clamp(0.0, 0.999);
        // Sixteen colours, each in 64 shades.
        let shade = column(EMITTER) * (LEVELS / EMITTERS as f64) + nearness * 63.0;

        let unseen = column(LIFE).lower_equal_scalar(0.0);
        let outside = |at: &Tensor<1>, size: f64| {
            let before = at.clone().lower_scalar(0.0);
            before.bool_or(at.clone().greater_equal_scalar(size - 1.0))
        };
        let unseen = unseen
            .bool_or(outside(&x, width))
            .bool_or(outside(&y, height));
        let packed = (shade.int() * 1024 + y.int()) * 1024 + x.int();
        let packed = packed.mask_fill(unseen, -1);
        let (packed, _) = packed.radix_sort_by_key(depth, SortOrder::Descending);
        packed
    }
}

fn column(state: &Tensor<2>, number: usize) -> Tensor<1> {
    let n = state.dims()[0];
    state.clone().slice_dim(1, number..number + 1).reshape([n])
}

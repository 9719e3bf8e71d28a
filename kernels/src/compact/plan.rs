//! How a mask is split into tiles, and the launch of its kernel.

use super::mask_tile::{Mark, MaskConfig};
use crate::ScanError;
use crate::error::{Typed, check_types};
use crate::scan::components::tile::TileConfig;
use crate::scan::components::tile_state::{MAX_BLOCK, TileWordsLaunch};
use crate::scan::problem::{elements_before, widest_vector};
use crate::scan::{LaunchOptions, cube_count, scratch, tuning::Tuning};
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl::std::tensor::layout::linear::{LinearViewLaunch, linear_view};
use cubecl::std::tensor::{TensorHandle, is_contiguous};

/// The lines of a mask, `[outer, len, inner]`. Each is compacted on its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MaskLines {
    pub outer: usize,
    pub len: usize,
    pub inner: usize,
}

impl MaskLines {
    /// All elements in one line.
    pub fn flat(mask: &TensorBinding) -> Self {
        Self {
            outer: 1,
            len: mask.shape.iter().product(),
            inner: 1,
        }
    }

    /// The lines along an axis.
    pub fn along(mask: &TensorBinding, axis: usize) -> Self {
        Self {
            outer: mask.shape[..axis].iter().product(),
            len: mask.shape[axis],
            inner: mask.shape[axis + 1..].iter().product(),
        }
    }

    pub fn count(&self) -> usize {
        self.outer * self.inner
    }

    fn is_flat(&self) -> bool {
        self.count() == 1
    }

    /// Elements of the widest vector that straddles no line of any of `tensors`, the mask among them.
    fn lanes<'t>(
        &self,
        client: &Client,
        tensors: impl Iterator<Item = &'t Typed> + Clone,
    ) -> usize {
        let elements = self.count() * self.len;
        if elements == 0 || self.inner > 1 {
            return 1;
        }
        let largest = tensors.clone().map(|(_, dtype)| dtype.size()).max();
        let widths = client.io_optimized_vector_sizes(largest.unwrap_or(1));
        let of_lines = if self.is_flat() { 0 } else { self.len };
        widest_vector(
            // The flags of a vector are one word. CubeCL's CPU runtime offers 64 lanes.
            widths.filter(|&width| width <= u32::BITS as usize),
            tensors.fold(of_lines, |bits, tensor| bits | common_alignment(tensor)),
        )
    }
}

/// The launch of a kernel that walks a mask.
pub(super) struct Plan {
    pub cube_count: CubeCount,
    pub cube_dim: CubeDim,
    /// It is the default until a caller knows all tensors of the launch.
    pub address_type: AddressType,
    /// Lanes of a vector, in the mask and in all tensors accessed with it.
    pub lanes: usize,
    /// Vectors of a line.
    pub vectors: usize,
    pub config: MaskConfig,
    pub lines: MaskLines,
    /// [`per_unit`](super::per_unit) serves these lines.
    pub per_unit: bool,
    /// Lines, and tiles of a line.
    tiles: [usize; 2],
    pub tuning: Tuning,
}

/// The most elements of a line that a unit walks. It reads whole sectors of memory. Not measured.
const SHORT_LINE: usize = 32;

/// The fewest units of a tile: as many as look back together.
const FEWEST_UNITS: usize = MAX_BLOCK;

impl Plan {
    /// `others` holds the tensors that are read or written in vectors at the positions of the mask. `staged` is the
    /// size in bytes of an element that a tile keeps in shared memory, or 0.
    pub fn new(
        client: &Client,
        mask: &Typed,
        others: &[&Typed],
        staged: usize,
        lines: MaskLines,
        mark: Mark,
        launch: LaunchOptions,
    ) -> Result<Self, ScanError> {
        if let Some(reason) = scratch::unsupported_reason(client) {
            return Err(ScanError::LookbackUnsupported { reason });
        }
        let all = || others.iter().copied().chain([mask]);
        check_types(client, all().map(|(_, dtype)| *dtype))?;
        let tuning = Tuning::of(client, &launch);
        let hardware = &client.properties().hardware;
        let room = room_for(tuning.units * staged, hardware.max_shared_memory_size);
        let lanes = lines.lanes(client, all()).min(1 << room.ilog2());
        let tile_vectors = tuning.vectors.min(room / lanes);
        let vectors = lines.len / lanes;
        let is_default = launch == LaunchOptions::default();
        let units = if lines.is_flat() || !is_default {
            tuning.units
        } else {
            // For many short lines, a cube no larger than a line.
            let plane = if tuning.plane {
                hardware.plane_size_max as usize
            } else {
                1
            };
            let fewest = FEWEST_UNITS.max(plane);
            let wanted = vectors.div_ceil(tile_vectors).next_power_of_two();
            wanted.max(fewest).min(tuning.units)
        };
        let max_planes = (units * tuning.max_planes).div_ceil(tuning.units);
        let counts = [units, tile_vectors];
        let tile = TileConfig::of_counts(tuning.plane, counts, max_planes, tuning.plane_size);
        let per_line = vectors.div_ceil(units * tile_vectors).max(1);
        let tests_waiting = launch.stall.is_some() || launch.spin_limit.is_some();
        let tiles = lines.outer * per_line;
        Ok(Self {
            cube_count: cube_count(client, tiles),
            cube_dim: CubeDim::new_1d(units as u32),
            address_type: AddressType::default(),
            lanes,
            vectors,
            lines,
            // A caller who tunes or stalls tiles wants tiles.
            per_unit: lines.inner > 1
                || (is_default && !lines.is_flat() && lines.len <= SHORT_LINE),
            config: MaskConfig {
                tile,
                ballot_words: hardware.plane_size_max.div_ceil(32) as usize,
                lookback: tuning.lookback,
                alone: per_line == 1 && !lines.is_flat() && !tests_waiting,
                mark,
            },
            tiles: [lines.outer, per_line],
            tuning,
        })
    }

    /// The words through which the tiles of a launch communicate.
    pub fn words(&self, client: &Client) -> (BufferArg, TileWordsLaunch) {
        let words = if self.config.alone {
            0
        } else {
            self.config.lookback.words(self.tiles, 1)
        };
        scratch::take(client, words, self.tiles, self.tuning.spin_limit)
    }
}

/// The elements that a unit may stage, where one of each unit takes `bytes`. They take half of the shared memory, so that
/// two cubes share a multiprocessor. At least one.
fn room_for(bytes: usize, shared_memory: usize) -> usize {
    (shared_memory / 2 / bytes.max(1)).max(1)
}

/// What a vector of the tensor must divide, see [`widest_vector`]: offset, length of the last dimension, and strides.
fn common_alignment((tensor, dtype): &Typed) -> usize {
    let offset = elements_before(tensor.handle.offset_start, dtype.size());
    common_alignment_of(offset, &tensor.shape, &tensor.strides)
}

/// [`common_alignment`] of a tensor that begins at element `offset`.
fn common_alignment_of(offset: usize, shape: &[usize], strides: &[usize]) -> usize {
    if is_contiguous(shape, strides) {
        return offset | shape.iter().product::<usize>();
    }
    match strides.split_last() {
        Some((1, outer)) => outer
            .iter()
            .fold(offset | shape[outer.len()], |bits, stride| bits | stride),
        _ => 1,
    }
}

/// A buffer that is bound but never accessed: for what a kernel does not use, and for tensors without elements, because
/// a buffer of no bytes cannot be bound.
pub(crate) fn unused(client: &Client) -> TensorBinding {
    TensorHandle::new_contiguous([4], client.empty(64), u32::elem_type_native()).binding()
}

/// The view of a tensor, or of a stand-in if it has no elements.
pub(super) fn view(client: &Client, tensor: TensorBinding) -> LinearViewLaunch {
    linear_view(bindable(client, tensor))
}

/// The tensor, or a stand-in if it has no elements.
pub(super) fn bindable(client: &Client, tensor: TensorBinding) -> TensorBinding {
    if tensor.shape.iter().product::<usize>() == 0 {
        unused(client)
    } else {
        tensor
    }
}

/// Refuses a `tensor` that has another number of elements than the mask.
pub(super) fn same_elements(
    operand: &'static str,
    tensor: &TensorBinding,
    mask: &TensorBinding,
) -> Result<(), ScanError> {
    let elements = |tensor: &TensorBinding| tensor.shape.iter().product::<usize>();
    if elements(tensor) == elements(mask) {
        return Ok(());
    }
    Err(ScanError::ShapeMismatch {
        operand,
        expected: mask.shape.to_vec(),
        found: tensor.shape.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_straddles_no_row_and_begins_where_the_tensor_does() {
        let wide_from = |offset, shape: &[usize], strides: &[usize]| {
            let alignment = common_alignment_of(offset, shape, strides);
            widest_vector([4, 2].into_iter(), alignment)
        };
        let wide = |shape: &[usize], strides: &[usize]| wide_from(0, shape, strides);
        assert_eq!(wide(&[], &[]), 1, "a scalar");
        assert_eq!(wide(&[3, 4], &[4, 1]), 4, "one flat run");
        assert_eq!(wide(&[4, 3], &[3, 1]), 4, "one flat run of odd rows");
        assert_eq!(wide(&[3, 5], &[5, 1]), 1);
        assert_eq!(wide(&[3, 4], &[8, 1]), 4, "rows with gaps");
        assert_eq!(wide(&[3, 4], &[6, 1]), 2, "a step between rows");
        assert_eq!(wide(&[3, 6], &[8, 1]), 2, "a row");
        assert_eq!(wide(&[3, 2], &[6, 1]), 2, "a row and the step");
        assert_eq!(wide(&[3, 4], &[0, 1]), 4, "a broadcast");
        assert_eq!(wide(&[4, 4], &[1, 4]), 1, "a transposition");
        assert_eq!(wide(&[4, 4], &[8, 2]), 1, "every other element");
        assert_eq!(wide_from(4, &[8], &[1]), 4);
        assert_eq!(wide_from(2, &[8], &[1]), 2);
        assert_eq!(wide_from(1, &[8], &[1]), 1);
        assert_eq!(wide_from(2, &[3, 4], &[8, 1]), 2, "rows with gaps");
        assert_eq!(wide_from(3, &[1], &[1]), 1, "bits that cancel each other");
        assert_eq!(wide_from(1, &[3, 1], &[8, 1]), 1, "and in a row");
    }

    #[test]
    fn half_of_the_shared_memory_is_staged_in() {
        assert_eq!(room_for(1 << 10, 1 << 15), 16);
        assert_eq!(room_for(3 << 10, 1 << 15), 5);
        assert_eq!(room_for(1 << 15, 1 << 15), 1);
    }
}

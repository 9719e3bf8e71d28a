//! Rows of any elements: loaded as accumulators, or converted tile by tile.

use core::mem::MaybeUninit;

use half::{bf16, f16};

use super::super::element::TILE;
use super::super::lanes;
use super::super::total::RowTotal;
use super::super::traits::{Combine, ElementType, Loadable};
use super::{TileTotal, find_rounded_totals, scan_rows};

/// An element type whose rows are scanned in tiles.
pub(crate) trait TiledElement: ElementType {
    /// Scans rows of `len` elements tile by tile, each row from `start`. Returns the carry out of the last row.
    fn scan_rows<O: Combine<Self::Acc>>(
        input: &[Self],
        output: &mut [MaybeUninit<Self>],
        len: usize,
        start: Self::Acc,
        exclusive: bool,
        reverse: bool,
    ) -> Self::Acc;

    /// Finds the totals of whole tiles.
    fn find_totals<O: Combine<Self::Acc>>(
        tiles: &[Self],
        totals: &mut [TileTotal<Self::Acc>],
        reverse: bool,
    );
}

macro_rules! tiled_element {
    ($($scan_rows:ident, $find_totals:ident: $($ty:ty),*;)*) => {$($(
        impl TiledElement for $ty {
            fn scan_rows<O: Combine<Self::Acc>>(
                input: &[Self],
                output: &mut [MaybeUninit<Self>],
                len: usize,
                start: Self::Acc,
                exclusive: bool,
                reverse: bool,
            ) -> Self::Acc {
                $scan_rows::<Self, O>(input, output, len, start, exclusive, reverse)
            }

            fn find_totals<O: Combine<Self::Acc>>(
                tiles: &[Self],
                totals: &mut [TileTotal<Self::Acc>],
                reverse: bool,
            ) {
                $find_totals::<Self, O>(tiles, totals, reverse);
            }
        }
    )*)*};
}

// Integers are compiled without the totals of an operator that rounds.
tiled_element! {
    scan_loaded, find_all_totals: f32, f64, f16, bf16;
    scan_loaded, find_exact_totals: i32, i64, u32, u64;
    scan_converted, find_exact_totals: i8, i16, u8, u16;
}

fn scan_loaded<T: Loadable, O: Combine<T::Acc>>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    len: usize,
    start: T::Acc,
    exclusive: bool,
    reverse: bool,
) -> T::Acc {
    if reverse {
        scan_rows::<T, O, true>(input, output, len, start, exclusive)
    } else {
        scan_rows::<T, O, false>(input, output, len, start, exclusive)
    }
}

fn scan_converted<T: ElementType, O: Combine<T::Acc>>(
    input: &[T],
    output: &mut [MaybeUninit<T>],
    len: usize,
    start: T::Acc,
    exclusive: bool,
    reverse: bool,
) -> T::Acc {
    let scratch = &mut T::Scratch::default();
    let mut carry = start;
    for (input, output) in input.chunks_exact(len).zip(output.chunks_exact_mut(len)) {
        carry = start;
        let tiles = len.div_ceil(TILE);
        for step in 0..tiles {
            let first = if reverse { tiles - 1 - step } else { step } * TILE;
            let tile = first..len.min(first + TILE);
            let slots = &mut output[tile.clone()];
            T::map(&input[tile], slots, scratch, |input, slots| {
                let len = input.len();
                carry = scan_loaded::<T::Acc, O>(input, slots, len, carry, exclusive, reverse);
            });
        }
    }
    carry
}

fn find_all_totals<T: Loadable, O: Combine<T::Acc>>(
    tiles: &[T],
    totals: &mut [TileTotal<T::Acc>],
    reverse: bool,
) {
    if O::EXACT {
        find_exact_totals::<T, O>(tiles, totals, reverse);
    } else if reverse {
        find_rounded_totals::<T, O, true>(tiles, totals);
    } else {
        find_rounded_totals::<T, O, false>(tiles, totals);
    }
}

/// As [`TiledElement::find_totals`], in any order.
fn find_exact_totals<T: ElementType, O: Combine<T::Acc>>(
    tiles: &[T],
    totals: &mut [TileTotal<T::Acc>],
    _reverse: bool,
) {
    let scratch = &mut T::Scratch::default();
    for (tile, total) in tiles.chunks_exact(TILE).zip(totals) {
        let elements = T::widen(tile, scratch);
        *total = TileTotal::exact::<O>(lanes::run(RowTotal::<T::Acc, O>::new(elements)));
    }
}

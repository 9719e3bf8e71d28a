//! The order of keys as an order of unsigned numbers, which digits can sort (Knuth, "The Art of Computer Programming",
//! vol. 3, 5.2.5).
//!
//! ```text
//! unsigned        the bits
//! signed          the bits, with the sign bit flipped
//! floats ≥ 0      the bits, with the sign bit set; −0.0 is 0.0
//! floats < 0      all bits flipped
//! NaN             all bits set
//! descending      all bits of these flipped: equal keys keep their order
//! ```
//!
//! Codes only order keys. The keys themselves move with all their bits.
//!
//! Half-precision floats go through f32, which every device that holds them has. A code still has only as many bits as
//! its own type, which take fewer passes than the bits of an f32.

use super::SortOptions;
use super::SortOrder;
use crate::operator::is_nan;
use cubecl::ir::{ElemType, FloatKind};
use cubecl::prelude::*;

/// Bits of a word of a code.
pub(super) const WORD_BITS: u32 = 32;

/// The comptime facts of the order.
#[derive_cube_comptime]
pub(super) struct KeyOrder {
    /// Bits that count, from the lowest.
    pub bits: u32,
    /// Keys are unsigned numbers, whatever their type says.
    pub unsigned: bool,
    pub descending: bool,
}

impl KeyOrder {
    /// The order of keys of type `dtype`.
    pub fn new(dtype: ElemType, options: SortOptions) -> Self {
        Self {
            bits: options.bits.unwrap_or(bits_of(dtype)),
            unsigned: options.bits.is_some(),
            descending: options.order == SortOrder::Descending,
        }
    }

    /// Words of a code.
    pub fn words(&self) -> usize {
        self.bits.div_ceil(WORD_BITS) as usize
    }

    /// The bits of a word that count.
    pub fn bits_of_word(&self, word: usize) -> u32 {
        self.bits
            .saturating_sub(word as u32 * WORD_BITS)
            .min(WORD_BITS)
    }
}

/// Bits of a key.
pub(super) fn bits_of(dtype: ElemType) -> u32 {
    8 * dtype.size() as u32
}

/// A word of the code of a key, the lowest first. Bits that do not count are 0.
#[cube]
pub(super) fn code_word<K: Numeric>(
    key: K,
    #[comptime] word: usize,
    #[comptime] order: KeyOrder,
) -> u32 {
    let elem = elem_type_of::<K>();
    let mut code = if comptime!(elem.size() == 8) {
        let wide = code_of_wide::<K>(key, order);
        u32::cast_from((wide >> comptime!(WORD_BITS as u64 * word as u64)) & 0xffff_ffffu64)
    } else {
        code_of_narrow::<K>(key, order)
    };
    if comptime!(order.descending) {
        code ^= u32::MAX;
    }
    code & comptime!(u32::MAX >> (WORD_BITS - order.bits_of_word(word)))
}

/// The ascending code of a key of at most 32 bits. Bits above those of the key may have any value.
#[cube]
fn code_of_narrow<K: Numeric>(key: K, #[comptime] order: KeyOrder) -> u32 {
    let elem = elem_type_of::<K>();
    if comptime!(elem == ElemType::Float(FloatKind::F16)) {
        code_of_half(f32::cast_from(key))
    } else if comptime!(elem == ElemType::Float(FloatKind::BF16)) {
        code_of_single(f32::cast_from(key)) >> 16u32
    } else if comptime!(elem.is_float()) {
        code_of_single(f32::cast_from(key))
    } else if comptime!(elem.is_signed_int()) {
        let bits = u32::reinterpret(i32::cast_from(key));
        if comptime!(order.unsigned) {
            bits
        } else {
            bits ^ comptime!(1u32 << (bits_of(elem) - 1))
        }
    } else {
        u32::cast_from(key)
    }
}

#[cube]
fn code_of_single(key: f32) -> u32 {
    let bits = u32::reinterpret(key);
    let magnitude = bits & 0x7fff_ffffu32;
    let code = select(
        bits == magnitude || magnitude == 0u32,
        magnitude | 0x8000_0000u32,
        bits ^ u32::MAX,
    );
    select(is_nan::<f32>(key), u32::MAX, code)
}

/// The code of an f16 that was cast to f32: its own 16 bits. Its subnormals are multiples of 2⁻²⁴.
#[cube]
fn code_of_half(key: f32) -> u32 {
    let bits = u32::reinterpret(key);
    let magnitude = bits & 0x7fff_ffffu32;
    let top = magnitude >> 13u32;
    let multiple = u32::cast_from(f32::reinterpret(magnitude) * 16_777_216.0f32);
    // Exponents count from −127 in an f32, from −15 in an f16; infinity has the largest in both.
    let normal = min(top - comptime!(112u32 << 10), comptime!(31u32 << 10));
    let own = select(top < comptime!(113u32 << 10), multiple, normal);
    let code = select(
        bits == magnitude || magnitude == 0u32,
        own | 0x8000u32,
        own ^ 0x7fffu32,
    );
    select(is_nan::<f32>(key), 0xffffu32, code)
}

/// The ascending code of a key of 64 bits.
#[cube]
fn code_of_wide<K: Numeric>(key: K, #[comptime] order: KeyOrder) -> u64 {
    let elem = elem_type_of::<K>();
    let bits = u64::reinterpret(key);
    let sign = 0x8000_0000_0000_0000u64;
    if comptime!(elem.is_float()) {
        let magnitude = bits & 0x7fff_ffff_ffff_ffffu64;
        let code = select(
            bits == magnitude || magnitude == 0u64,
            magnitude | sign,
            bits ^ u64::MAX,
        );
        select(is_nan::<K>(key), u64::MAX, code)
    } else if comptime!(elem.is_signed_int() && !order.unsigned) {
        bits ^ sign
    } else {
        bits
    }
}

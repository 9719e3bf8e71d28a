//! The associative operators of a scan.
//!
//! An operator is an identity element and a binary `combine`. The left argument of `combine` precedes the right one
//! along the scan axis, so an operator need not commute. Each kernel is compiled once per operator: the choice costs
//! nothing at run time.

#![expect(
    missing_docs,
    reason = "the `cube` macro generates modules without documentation"
)]

use cubecl::ir::{ElemType, FloatKind, IntKind, UIntKind};
use cubecl::prelude::*;

/// What a scan accumulates.
#[derive_cube_comptime]
#[non_exhaustive]
pub enum ScanOp {
    /// Addition. Integers wrap.
    Sum,
    /// Multiplication. Integers wrap.
    Prod,
    /// Running maximum. After a NaN every result is NaN.
    Max,
    /// Running minimum. After a NaN every result is NaN.
    Min,
}

impl ScanOp {
    /// Every operator, for tests and tables.
    pub const ALL: [ScanOp; 4] = [ScanOp::Sum, ScanOp::Prod, ScanOp::Max, ScanOp::Min];

    /// The identity of the operator as a kernel argument: 0, 1, lowest (−∞ for floats), highest (+∞ for floats).
    ///
    /// It is an argument because infinity is not a valid WGSL constant. `dtype` is the type of the *stored* elements:
    /// the identity of a narrow integer stays exact although sums are accumulated in 32 bits.
    pub fn identity(self, dtype: ElemType, accumulator: ElemType) -> InputScalar {
        let float = dtype.is_float();
        match self {
            ScanOp::Sum => InputScalar::new(0, accumulator),
            ScanOp::Prod => InputScalar::new(1, accumulator),
            ScanOp::Max if float => InputScalar::new(f64::NEG_INFINITY, accumulator),
            ScanOp::Min if float => InputScalar::new(f64::INFINITY, accumulator),
            ScanOp::Max => InputScalar::new(integer_limits(dtype).0, accumulator),
            ScanOp::Min => InputScalar::new(integer_limits(dtype).1, accumulator),
        }
    }
}

/// The lowest and the highest value of an integer type.
pub(crate) fn integer_limits(dtype: ElemType) -> (i128, i128) {
    match dtype {
        ElemType::Int(IntKind::I8) => (i8::MIN.into(), i8::MAX.into()),
        ElemType::Int(IntKind::I16) => (i16::MIN.into(), i16::MAX.into()),
        ElemType::Int(IntKind::I64) => (i64::MIN.into(), i64::MAX.into()),
        ElemType::UInt(UIntKind::U8) => (0, u8::MAX.into()),
        ElemType::UInt(UIntKind::U16) => (0, u16::MAX.into()),
        ElemType::UInt(UIntKind::U32) => (0, u32::MAX.into()),
        ElemType::UInt(UIntKind::U64) => (0, u64::MAX.into()),
        _ => (i32::MIN.into(), i32::MAX.into()),
    }
}

/// The type in which elements of `dtype` are accumulated. Shorter and relaxed floats are accumulated in f32, so each
/// result is rounded once. Narrow integers are accumulated in 32 bits, whose low bits wrap alike.
pub fn accumulator_of(dtype: ElemType) -> ElemType {
    match dtype {
        ElemType::Float(kind) if kind != FloatKind::F64 => ElemType::Float(FloatKind::F32),
        ElemType::Int(IntKind::I8 | IntKind::I16) => ElemType::Int(IntKind::I32),
        ElemType::UInt(UIntKind::U8 | UIntKind::U16) => ElemType::UInt(UIntKind::U32),
        other => other,
    }
}

/// `lhs ⊕ rhs`, where `lhs` stands before `rhs` along the scan axis.
#[cube]
pub fn combine<A: Numeric>(lhs: A, rhs: A, #[comptime] op: ScanOp) -> A {
    match op {
        ScanOp::Sum => lhs + rhs,
        ScanOp::Prod => lhs * rhs,
        ScanOp::Max => first_nan::<A>(lhs, rhs, select(lhs >= rhs, lhs, rhs)),
        ScanOp::Min => first_nan::<A>(lhs, rhs, select(lhs <= rhs, lhs, rhs)),
    }
}

/// The left operand if it is NaN, else the right one if it is, else `neither`. Without this, a compiler that assumes no
/// NaN may turn a comparison and a selection into a maximum that drops NaN. It makes two selections and uses no `||`,
/// which is a branch: with 32 of them in a loop a driver compiled for minutes.
#[cube]
fn first_nan<A: Numeric>(lhs: A, rhs: A, neither: A) -> A {
    select(
        is_nan::<A>(lhs),
        lhs,
        select(is_nan::<A>(rhs), rhs, neither),
    )
}

/// Whether the bits of `value` encode a NaN. False for integers.
///
/// The bits decide, because shader compilers may assume that NaN does not occur and fold `value != value` away.
#[cube]
pub(crate) fn is_nan<A: Numeric>(value: A) -> bool {
    let elem = elem_type_of::<A>();
    if comptime!(elem == ElemType::Float(FloatKind::F32)) {
        (u32::reinterpret(value) & 0x7fff_ffffu32) > 0x7f80_0000u32
    } else if comptime!(elem == ElemType::Float(FloatKind::F64)) {
        (u64::reinterpret(value) & 0x7fff_ffff_ffff_ffffu64) > 0x7ff0_0000_0000_0000u64
    } else {
        false.runtime()
    }
}

//! From the dtype of a tensor to a Rust type.

/// Runs `$body` with `$T` the type of `$dtype`.
macro_rules! by_type {
    ($dtype:expr, $T:ident => $body:expr; $($DType:ident $ty:ty),*) => {
        match $dtype {
            $(burn::tensor::DType::$DType => {
                type $T = $ty;
                $body
            })*
            dtype => $crate::check::fail("Scan", &format!("The CPU backend cannot scan {dtype:?}.")),
        }
    };
}

/// Runs `$body` with `$T` the float type `$dtype`.
macro_rules! by_float {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::backends::flex::dtypes::by_type!(
            $dtype, $T => $body;
            F64 f64, F32 f32, Flex32 f32, F16 half::f16, BF16 half::bf16
        )
    };
}

/// Runs `$body` with `$T` the type of numbers `$dtype`.
macro_rules! by_number {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::backends::flex::dtypes::by_type!(
            $dtype, $T => $body;
            F64 f64, F32 f32, Flex32 f32, F16 half::f16, BF16 half::bf16,
            I64 i64, I32 i32, I16 i16, I8 i8, U64 u64, U32 u32, U16 u16, U8 u8
        )
    };
}

/// Runs `$body` with `$T` the integer type `$dtype`.
macro_rules! by_int {
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::backends::flex::dtypes::by_int!(
            $dtype, $T => $body;
            I64 i64, I32 i32, I16 i16, I8 i8, U64 u64, U32 u32, U16 u16, U8 u8
        )
    };
    ($dtype:expr, $T:ident => $body:expr; $($DType:ident $ty:ty),*) => {
        match $dtype {
            $(burn::tensor::DType::$DType => {
                type $T = $ty;
                $body
            })*
            dtype => $crate::check::fail("Partition By Key", &format!("{dtype:?} is not an int dtype.")),
        }
    };
}

/// Runs `$body` with `$T` an integer of the size of `$dtype`, for what moves elements, and for indices that are written.
/// [`by_index`] is compiled half as often.
macro_rules! by_size {
    ($dtype:expr, $T:ident => $body:expr) => {
        match burn::tensor::DType::size(&$dtype) {
            1 => {
                type $T = u8;
                $body
            }
            2 => {
                type $T = u16;
                $body
            }
            4 => {
                type $T = u32;
                $body
            }
            _ => {
                type $T = u64;
                $body
            }
        }
    };
}

/// Runs `$body` with `$I` the integer in which the engine writes indices of type `$int`. [`indices`](super::slices::indices)
/// narrows them where that has fewer than four bytes.
macro_rules! by_index {
    ($int:expr, $I:ident => $body:expr) => {
        if burn::tensor::DType::from($int).size() == size_of::<u64>() {
            type $I = u64;
            $body
        } else {
            type $I = u32;
            $body
        }
    };
}

pub(super) use {by_float, by_index, by_int, by_number, by_size, by_type};

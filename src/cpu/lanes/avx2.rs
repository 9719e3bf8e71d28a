//! Lanes in the registers of AVX2: eight of 32 bits or four of 64.
//!
//! A scan of eight lanes takes three steps. In each, some lanes take in an earlier one, and the others the identity:
//!
//! ```text
//! x         a  b  c   d     e  f  g   h
//! by one    a  ab bc  cd    e  ef fg  gh         each half on its own
//! by two    a  ab abc abcd  e  ef efg efgh
//! halves    a  ab abc abcd  abcde ..             the upper half after the lower one's last
//! ```

use core::arch::x86_64::*;

use half::{bf16, f16};

use super::Lanes;

/// Implements [`Lanes`] for a register: what differs is how elements come and go, the operators, and the names of the
/// shuffles.
macro_rules! lanes {
    (
        $(#[$doc:meta])*
        $Name:ident($register:ty): $elem:ty as $acc:ty; $count:literal lanes;
        load($from:ident) $load:expr;
        store($value:ident, $to:ident) $store:expr;
        splat($one:ident) $splat:expr;
        add($al:ident, $ar:ident) $add:expr;
        mul($ml:ident, $mr:ident) $mul:expr;
        max($xl:ident, $xr:ident) $max:expr;
        min($nl:ident, $nr:ident) $min:expr;
        $($shuffles:tt)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $Name($register);

        // SAFETY of all blocks: a kernel runs in these lanes where the processor has AVX2 and F16C.
        impl Lanes<$elem> for $Name {
            const COUNT: usize = $count;

            #[inline(always)]
            unsafe fn load($from: *const $elem) -> Self {
                // SAFETY: the caller has these elements; the access needs no alignment.
                Self(unsafe { $load })
            }

            #[inline(always)]
            unsafe fn store(self, $to: *mut $elem) {
                let $value = self.0;
                // SAFETY: the caller has room for these elements; the access needs no alignment.
                unsafe { $store }
            }

            #[inline(always)]
            fn splat($one: $acc) -> Self {
                // SAFETY: as above.
                Self(unsafe { $splat })
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                let ($al, $ar) = (self.0, other.0);
                // SAFETY: as above.
                Self(unsafe { $add })
            }

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                let ($ml, $mr) = (self.0, other.0);
                // SAFETY: as above.
                Self(unsafe { $mul })
            }

            #[inline(always)]
            fn max(self, other: Self) -> Self {
                let ($xl, $xr) = (self.0, other.0);
                // SAFETY: as above.
                Self(unsafe { $max })
            }

            #[inline(always)]
            fn min(self, other: Self) -> Self {
                let ($nl, $nr) = (self.0, other.0);
                // SAFETY: as above.
                Self(unsafe { $min })
            }

            shuffles!($acc, $($shuffles)*);

            #[inline(always)]
            fn for_each(self, each: impl FnMut($acc)) {
                // SAFETY: a register of 32 bytes holds that many numbers, all of whose bits are values.
                let lanes: [$acc; $count] = unsafe { core::mem::transmute(self.0) };
                lanes.into_iter().for_each(each);
            }
        }
    };
}

/// The shuffles of eight or four lanes, by way of a register of floats: they cost the same there.
macro_rules! shuffles {
    ($acc:ty, eight, to $to:ident, from $from:ident) => {
        const STEPS: usize = 3;

        #[inline(always)]
        fn taken_in(self, step: usize, fill: Self) -> Self {
            // SAFETY: as above.
            unsafe {
                let (lanes, fill) = ($to(self.0), $to(fill.0));
                Self($from(match step {
                    0 => shifted::<12>(lanes, fill),
                    1 => shifted::<8>(lanes, fill),
                    _ => {
                        let last = _mm256_permute_ps::<0b1111_1111>(lanes);
                        _mm256_permute2f128_ps::<0x02>(last, fill)
                    }
                }))
            }
        }

        #[inline(always)]
        fn last(self) -> Self {
            // SAFETY: as above.
            unsafe {
                Self($from(_mm256_permutevar8x32_ps(
                    $to(self.0),
                    _mm256_set1_epi32(7),
                )))
            }
        }

        #[inline(always)]
        fn shift_in(self, first: Self) -> Self {
            // SAFETY: as above.
            unsafe {
                let up = _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6);
                let shift_in = _mm256_permutevar8x32_ps($to(self.0), up);
                Self($from(_mm256_blend_ps::<1>(shift_in, $to(first.0))))
            }
        }

        #[inline(always)]
        fn reversed(self) -> Self {
            // SAFETY: as above.
            unsafe {
                let down = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
                Self($from(_mm256_permutevar8x32_ps($to(self.0), down)))
            }
        }
    };
    ($acc:ty, four, to $to:ident, from $from:ident) => {
        const STEPS: usize = 2;

        #[inline(always)]
        fn taken_in(self, step: usize, fill: Self) -> Self {
            // SAFETY: as above.
            unsafe {
                let (lanes, fill) = ($to(self.0), $to(fill.0));
                Self($from(match step {
                    0 => _mm256_shuffle_pd::<0b0000>(fill, lanes),
                    _ => {
                        let last = _mm256_permute_pd::<0b1111>(lanes);
                        _mm256_permute2f128_pd::<0x02>(last, fill)
                    }
                }))
            }
        }

        #[inline(always)]
        fn last(self) -> Self {
            // SAFETY: as above.
            unsafe { Self($from(_mm256_permute4x64_pd::<0b1111_1111>($to(self.0)))) }
        }

        #[inline(always)]
        fn shift_in(self, first: Self) -> Self {
            // SAFETY: as above.
            unsafe {
                let shift_in = _mm256_permute4x64_pd::<0b1001_0000>($to(self.0));
                Self($from(_mm256_blend_pd::<1>(shift_in, $to(first.0))))
            }
        }

        #[inline(always)]
        fn reversed(self) -> Self {
            // SAFETY: as above.
            unsafe { Self($from(_mm256_permute4x64_pd::<0b0001_1011>($to(self.0)))) }
        }
    };
}

/// The lanes of each half moved up by so many bytes less than 16, behind those of `fill`.
#[inline(always)]
unsafe fn shifted<const BYTES: i32>(lanes: __m256, fill: __m256) -> __m256 {
    // SAFETY: as above.
    unsafe {
        let lanes = _mm256_castps_si256(lanes);
        let shifted = _mm256_alignr_epi8::<BYTES>(lanes, _mm256_castps_si256(fill));
        _mm256_castsi256_ps(shifted)
    }
}

/// The registers that need no cast on their way through the shuffles.
#[inline(always)]
fn same<R>(register: R) -> R {
    register
}

macro_rules! f32_lanes {
    ($(#[$doc:meta])* $Name:ident: $elem:ty; load($from:ident) $load:expr; store($value:ident, $to:ident) $store:expr;) => {
        lanes! {
            $(#[$doc])*
            $Name(__m256): $elem as f32; 8 lanes;
            load($from) $load;
            store($value, $to) $store;
            splat(x) _mm256_set1_ps(x);
            add(l, r) _mm256_add_ps(l, r);
            mul(l, r) _mm256_mul_ps(l, r);
            // The instruction takes its second operand if the two are equal or one is NaN, which leaves a NaN in
            // the first.
            max(l, r) _mm256_or_ps(_mm256_max_ps(r, l), _mm256_cmp_ps::<_CMP_UNORD_Q>(r, r));
            min(l, r) _mm256_or_ps(_mm256_min_ps(r, l), _mm256_cmp_ps::<_CMP_UNORD_Q>(r, r));
            eight, to same, from same
        }
    };
}

f32_lanes! {
    F32x8: f32;
    load(from) _mm256_loadu_ps(from);
    store(value, to) _mm256_storeu_ps(to, value);
}

f32_lanes! {
    /// Widened as they are loaded, and rounded to nearest, ties to even, as they are stored.
    F16x8: f16;
    load(from) _mm256_cvtph_ps(_mm_loadu_si128(from.cast()));
    store(value, to) _mm_storeu_si128(to.cast(), _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(value));
}

f32_lanes! {
    /// Widened as they are loaded, and rounded to nearest, ties to even, as they are stored.
    Bf16x8: bf16;
    load(from) _mm256_castsi256_ps(
        _mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast())))
    );
    store(value, to) _mm_storeu_si128(to.cast(), round_bf16(value));
}

/// # Safety
///
/// The processor has AVX2.
#[inline(always)]
unsafe fn round_bf16(value: __m256) -> __m128i {
    // SAFETY: as above.
    unsafe {
        let bits = _mm256_castps_si256(value);
        let high = _mm256_srli_epi32::<16>(bits);
        let odd = _mm256_and_si256(high, _mm256_set1_epi32(1));
        let half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF));
        let rounded = _mm256_srli_epi32::<16>(_mm256_add_epi32(bits, half));
        let quiet_nan = _mm256_or_si256(high, _mm256_set1_epi32(0x40));
        let is_nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(value, value));
        let chosen = _mm256_blendv_epi8(rounded, quiet_nan, is_nan);
        _mm_packus_epi32(
            _mm256_castsi256_si128(chosen),
            _mm256_extracti128_si256::<1>(chosen),
        )
    }
}

lanes! {
    F64x4(__m256d): f64 as f64; 4 lanes;
    load(from) _mm256_loadu_pd(from);
    store(value, to) _mm256_storeu_pd(to, value);
    splat(x) _mm256_set1_pd(x);
    add(l, r) _mm256_add_pd(l, r);
    mul(l, r) _mm256_mul_pd(l, r);
    max(l, r) _mm256_or_pd(_mm256_max_pd(r, l), _mm256_cmp_pd::<_CMP_UNORD_Q>(r, r));
    min(l, r) _mm256_or_pd(_mm256_min_pd(r, l), _mm256_cmp_pd::<_CMP_UNORD_Q>(r, r));
    four, to same, from same
}

lanes! {
    I32x8(__m256i): i32 as i32; 8 lanes;
    load(from) _mm256_loadu_si256(from.cast());
    store(value, to) _mm256_storeu_si256(to.cast(), value);
    splat(x) _mm256_set1_epi32(x);
    add(l, r) _mm256_add_epi32(l, r);
    mul(l, r) _mm256_mullo_epi32(l, r);
    max(l, r) _mm256_max_epi32(l, r);
    min(l, r) _mm256_min_epi32(l, r);
    eight, to _mm256_castsi256_ps, from _mm256_castps_si256
}

lanes! {
    U32x8(__m256i): u32 as u32; 8 lanes;
    load(from) _mm256_loadu_si256(from.cast());
    store(value, to) _mm256_storeu_si256(to.cast(), value);
    splat(x) _mm256_set1_epi32(x.cast_signed());
    add(l, r) _mm256_add_epi32(l, r);
    mul(l, r) _mm256_mullo_epi32(l, r);
    max(l, r) _mm256_max_epu32(l, r);
    min(l, r) _mm256_min_epu32(l, r);
    eight, to _mm256_castsi256_ps, from _mm256_castps_si256
}

lanes! {
    I64x4(__m256i): i64 as i64; 4 lanes;
    load(from) _mm256_loadu_si256(from.cast());
    store(value, to) _mm256_storeu_si256(to.cast(), value);
    splat(x) _mm256_set1_epi64x(x);
    add(l, r) _mm256_add_epi64(l, r);
    mul(l, r) mul_64(l, r);
    max(l, r) _mm256_blendv_epi8(l, r, _mm256_cmpgt_epi64(r, l));
    min(l, r) _mm256_blendv_epi8(l, r, _mm256_cmpgt_epi64(l, r));
    four, to _mm256_castsi256_pd, from _mm256_castpd_si256
}

lanes! {
    U64x4(__m256i): u64 as u64; 4 lanes;
    load(from) _mm256_loadu_si256(from.cast());
    store(value, to) _mm256_storeu_si256(to.cast(), value);
    splat(x) _mm256_set1_epi64x(x.cast_signed());
    add(l, r) _mm256_add_epi64(l, r);
    mul(l, r) mul_64(l, r);
    max(l, r) _mm256_blendv_epi8(l, r, _mm256_cmpgt_epi64(signed(r), signed(l)));
    min(l, r) _mm256_blendv_epi8(l, r, _mm256_cmpgt_epi64(signed(l), signed(r)));
    four, to _mm256_castsi256_pd, from _mm256_castpd_si256
}

/// The low halves of the products, of which there is no instruction: three products of halves.
///
/// # Safety
///
/// The processor has AVX2.
#[inline(always)]
unsafe fn mul_64(left: __m256i, right: __m256i) -> __m256i {
    // SAFETY: as above.
    unsafe {
        let swapped = _mm256_shuffle_epi32::<0b1011_0001>(right);
        let crossed = _mm256_mullo_epi32(left, swapped);
        let high = _mm256_add_epi32(crossed, _mm256_srli_epi64::<32>(crossed));
        _mm256_add_epi64(_mm256_mul_epu32(left, right), _mm256_slli_epi64::<32>(high))
    }
}

/// Unsigned numbers as signed ones of the same order.
///
/// # Safety
///
/// The processor has AVX2.
#[inline(always)]
unsafe fn signed(value: __m256i) -> __m256i {
    // SAFETY: as above.
    unsafe { _mm256_xor_si256(value, _mm256_set1_epi64x(i64::MIN)) }
}

//! The shuffles of eight or four lanes. They go through a register of floats, which costs the same.

/// Implements the shuffles of [`Lanes`](super::super::Lanes) for a register, given the casts to floats and back.
macro_rules! shuffles {
    (eight, to $to:ident, from $from:ident) => {
        shuffles! {
            3 steps, to $to, from $from;
            taken_in(step, lanes, fill) match step {
                0 => _mm256_blend_ps::<0b0101_0101>(_mm256_moveldup_ps(lanes), fill),
                1 => _mm256_blend_ps::<0b0011_0011>(_mm256_permute_ps::<0b0101_0101>(lanes), fill),
                _ => _mm256_permute2f128_ps::<0x02>(_mm256_permute_ps::<0b1111_1111>(lanes), fill),
            };
            pairs(step, a, b) match step {
                0 | 1 => (
                    _mm256_shuffle_ps::<0b1000_1000>(a, b),
                    _mm256_shuffle_ps::<0b1101_1101>(a, b),
                ),
                _ => (
                    _mm256_permute2f128_ps::<0x20>(a, b),
                    _mm256_permute2f128_ps::<0x31>(a, b),
                ),
            };
            last(lanes) _mm256_permutevar8x32_ps(lanes, _mm256_set1_epi32(7));
            shift_in(lanes, first) {
                let up = _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6);
                _mm256_blend_ps::<1>(_mm256_permutevar8x32_ps(lanes, up), first)
            };
            reversed(lanes) {
                let down = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
                _mm256_permutevar8x32_ps(lanes, down)
            };
        }
    };
    (four, to $to:ident, from $from:ident) => {
        shuffles! {
            2 steps, to $to, from $from;
            taken_in(step, lanes, fill) match step {
                0 => _mm256_shuffle_pd::<0b0000>(fill, lanes),
                _ => _mm256_permute2f128_pd::<0x02>(_mm256_permute_pd::<0b1111>(lanes), fill),
            };
            pairs(step, a, b) match step {
                0 => (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b)),
                _ => (
                    _mm256_permute2f128_pd::<0x20>(a, b),
                    _mm256_permute2f128_pd::<0x31>(a, b),
                ),
            };
            last(lanes) _mm256_permute4x64_pd::<0b1111_1111>(lanes);
            shift_in(lanes, first)
                _mm256_blend_pd::<1>(_mm256_permute4x64_pd::<0b1001_0000>(lanes), first);
            reversed(lanes) _mm256_permute4x64_pd::<0b0001_1011>(lanes);
        }
    };
    (
        $steps:literal steps, to $to:ident, from $from:ident;
        taken_in($at:ident, $lanes:ident, $fill:ident) $taken:expr;
        pairs($step:ident, $left:ident, $right:ident) $pairs:expr;
        $($method:ident($one:ident $(, $other:ident)?) $shuffled:expr;)*
    ) => {
        const STEPS: usize = $steps;

        #[inline(always)]
        fn taken_in(self, $at: usize, fill: Self) -> Self {
            // SAFETY: `self` has a proof of AVX2.
            let taken = unsafe {
                let ($lanes, $fill) = ($to(self.0), $to(fill.0));
                $from($taken)
            };
            Self(taken, self.1)
        }

        #[inline(always)]
        fn pairs(self, next: Self, $step: usize) -> (Self, Self) {
            // SAFETY: `self` has a proof of AVX2.
            let (left, right) = unsafe {
                let ($left, $right) = ($to(self.0), $to(next.0));
                let (left, right) = $pairs;
                ($from(left), $from(right))
            };
            (Self(left, self.1), Self(right, self.1))
        }

        $(
            #[inline(always)]
            fn $method(self $(, $other: Self)?) -> Self {
                // SAFETY: `self` has a proof of AVX2.
                let shuffled = unsafe {
                    let $one = $to(self.0);
                    $(let $other = $to($other.0);)?
                    $from($shuffled)
                };
                Self(shuffled, self.1)
            }
        )*
    };
}

/// The cast of a register that already holds floats.
#[inline(always)]
pub(super) fn same<R>(register: R) -> R {
    register
}

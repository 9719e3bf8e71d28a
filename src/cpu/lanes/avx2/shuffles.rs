//! The shuffles of eight or four lanes. They go through a register of floats, which costs the same.

/// Implements the shuffles of [`Lanes`](super::super::Lanes) for a register, given the casts to floats and back.
macro_rules! shuffles {
    ($acc:ty, eight, to $to:ident, from $from:ident) => {
        const STEPS: usize = 3;

        #[inline(always)]
        fn taken_in(self, step: usize, fill: Self) -> Self {
            // SAFETY: `self` has a proof of AVX2.
            let taken = unsafe {
                let (lanes, fill) = ($to(self.0), $to(fill.0));
                $from(match step {
                    0 => _mm256_blend_ps::<0b0101_0101>(_mm256_moveldup_ps(lanes), fill),
                    1 => {
                        let second = _mm256_permute_ps::<0b0101_0101>(lanes);
                        _mm256_blend_ps::<0b0011_0011>(second, fill)
                    }
                    _ => {
                        let last = _mm256_permute_ps::<0b1111_1111>(lanes);
                        _mm256_permute2f128_ps::<0x02>(last, fill)
                    }
                })
            };
            Self(taken, self.1)
        }

        #[inline(always)]
        fn last(self) -> Self {
            // SAFETY: `self` has a proof of AVX2.
            let last = unsafe {
                let of_last = _mm256_set1_epi32(7);
                $from(_mm256_permutevar8x32_ps($to(self.0), of_last))
            };
            Self(last, self.1)
        }

        #[inline(always)]
        fn pairs(self, next: Self, step: usize) -> (Self, Self) {
            // SAFETY: `self` has a proof of AVX2.
            let (left, right) = unsafe {
                let (a, b) = ($to(self.0), $to(next.0));
                let (left, right) = match step {
                    0 | 1 => (
                        _mm256_shuffle_ps::<0b1000_1000>(a, b),
                        _mm256_shuffle_ps::<0b1101_1101>(a, b),
                    ),
                    _ => (
                        _mm256_permute2f128_ps::<0x20>(a, b),
                        _mm256_permute2f128_ps::<0x31>(a, b),
                    ),
                };
                ($from(left), $from(right))
            };
            (Self(left, self.1), Self(right, self.1))
        }

        #[inline(always)]
        fn shift_in(self, first: Self) -> Self {
            // SAFETY: `self` has a proof of AVX2.
            let shifted = unsafe {
                let up = _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6);
                let shifted = _mm256_permutevar8x32_ps($to(self.0), up);
                $from(_mm256_blend_ps::<1>(shifted, $to(first.0)))
            };
            Self(shifted, self.1)
        }

        #[inline(always)]
        fn reversed(self) -> Self {
            // SAFETY: `self` has a proof of AVX2.
            let reversed = unsafe {
                let down = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
                $from(_mm256_permutevar8x32_ps($to(self.0), down))
            };
            Self(reversed, self.1)
        }
    };
    ($acc:ty, four, to $to:ident, from $from:ident) => {
        const STEPS: usize = 2;

        #[inline(always)]
        fn taken_in(self, step: usize, fill: Self) -> Self {
            // SAFETY: `self` has a proof of AVX2.
            let taken = unsafe {
                let (lanes, fill) = ($to(self.0), $to(fill.0));
                $from(match step {
                    0 => _mm256_shuffle_pd::<0b0000>(fill, lanes),
                    _ => {
                        let last = _mm256_permute_pd::<0b1111>(lanes);
                        _mm256_permute2f128_pd::<0x02>(last, fill)
                    }
                })
            };
            Self(taken, self.1)
        }

        #[inline(always)]
        fn last(self) -> Self {
            // SAFETY: `self` has a proof of AVX2.
            let last = unsafe { $from(_mm256_permute4x64_pd::<0b1111_1111>($to(self.0))) };
            Self(last, self.1)
        }

        #[inline(always)]
        fn pairs(self, next: Self, step: usize) -> (Self, Self) {
            // SAFETY: `self` has a proof of AVX2.
            let (left, right) = unsafe {
                let (a, b) = ($to(self.0), $to(next.0));
                let (left, right) = match step {
                    0 => (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b)),
                    _ => (
                        _mm256_permute2f128_pd::<0x20>(a, b),
                        _mm256_permute2f128_pd::<0x31>(a, b),
                    ),
                };
                ($from(left), $from(right))
            };
            (Self(left, self.1), Self(right, self.1))
        }

        #[inline(always)]
        fn shift_in(self, first: Self) -> Self {
            // SAFETY: `self` has a proof of AVX2.
            let shifted = unsafe {
                let shifted = _mm256_permute4x64_pd::<0b1001_0000>($to(self.0));
                $from(_mm256_blend_pd::<1>(shifted, $to(first.0)))
            };
            Self(shifted, self.1)
        }

        #[inline(always)]
        fn reversed(self) -> Self {
            // SAFETY: `self` has a proof of AVX2.
            let reversed = unsafe { $from(_mm256_permute4x64_pd::<0b0001_1011>($to(self.0))) };
            Self(reversed, self.1)
        }
    };
}

/// The cast of a register that already holds floats.
#[inline(always)]
pub(super) fn same<R>(register: R) -> R {
    register
}

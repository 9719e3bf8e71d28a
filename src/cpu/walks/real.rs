//! The exponentials and logarithms of log-sum-exp.
//!
//! The functions of the standard library are calls, one for each element. Those of `f32` here are a few dozen operations
//! without a branch, which the compiler turns into vector instructions. They cover what log-sum-exp needs: exponentials
//! of differences from the largest element, and logarithms of sums that contain the 1 of the largest.

use super::super::traits::Accumulator;

/// Numbers with exponentials.
pub(crate) trait Real: Accumulator {
    /// `exp(x − largest)`, which may be 0 if it is far below the precision of 1; 1 for the largest itself, infinite or
    /// not; NaN if one of the two is NaN.
    fn relative_to(self, largest: Self) -> Self;

    /// The logarithm of a finite number of at least 1; NaN of NaN; of 0 any finite number.
    fn ln_of_sum(self) -> Self;
}

impl Real for f64 {
    #[inline(always)]
    fn relative_to(self, largest: Self) -> Self {
        if self == largest {
            1.0
        } else {
            (self - largest).exp()
        }
    }

    #[inline(always)]
    fn ln_of_sum(self) -> Self {
        if self == 0.0 { 0.0 } else { self.ln() }
    }
}

/// The sum of this and a small number has no bits for a fraction: its lowest bits are the nearest integer.
const ROUNDING: f32 = (3 << 22) as f32;

/// Below it, exponentials are 0. The smallest normal number is 2^−126.
const LEAST: f32 = -87.0;

/// `ln 2` as a sum. The first part has so few bits that its products with exponents are exact.
const LN_2: [f32; 2] = [
    f32::from_bits(core::f32::consts::LN_2.to_bits() & !0xfff),
    (core::f64::consts::LN_2 - f32::from_bits(core::f32::consts::LN_2.to_bits() & !0xfff) as f64)
        as f32,
];

/// The exponential of a number that is not positive: `2^n · exp(r)` with the nearest integer `n` to `x / ln 2`. The
/// Taylor polynomial leaves out less than 2^−27 of `exp(r)`, since `r` is at most 0.35.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let shifted = x * core::f32::consts::LOG2_E + ROUNDING;
    let n = shifted - ROUNDING;
    let r = x - n * LN_2[0] - n * LN_2[1];
    let high = ((r * (1.0 / 5040.0) + 1.0 / 720.0) * r + 1.0 / 120.0) * r + 1.0 / 24.0;
    let sum = (((high * r + 1.0 / 6.0) * r + 0.5) * r + 1.0) * r + 1.0;
    // The exponent of 1, and `n`.
    let exponent = shifted.to_bits().wrapping_add(127) << 23;
    let scaled = sum * f32::from_bits(exponent);
    if x < LEAST { 0.0 } else { scaled }
}

impl Real for f32 {
    #[inline(always)]
    fn relative_to(self, largest: Self) -> Self {
        let relative = exp(self - largest);
        if self == largest { 1.0 } else { relative }
    }

    /// `e · ln 2 + ln m` with `x = m · 2^e`, and `m` between the square roots of ½ and 2. With `t = (m − 1) / (m + 1)`,
    /// the logarithm of `m` is `2 · (t + t³/3 + t⁵/5 + …)`. The sum leaves out less than 2^−28 of it, since `t` is at most
    /// 0.172.
    #[inline(always)]
    fn ln_of_sum(self) -> Self {
        let bits = self.to_bits() as i32;
        let e = (bits - core::f32::consts::FRAC_1_SQRT_2.to_bits() as i32) >> 23;
        let m = f32::from_bits((bits - (e << 23)) as u32);
        let t = (m - 1.0) / (m + 1.0);
        let square = t * t;
        let sum = ((square * (1.0 / 9.0) + 1.0 / 7.0) * square + 1.0 / 5.0) * square + 1.0 / 3.0;
        let e = e as f32;
        let of_m = 2.0 * t + 2.0 * t * square * sum;
        // NaN stays.
        let nothing = self * 0.0;
        e * LN_2[0] + (e * LN_2[1] + of_m) + nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error of a result in units of its last place.
    fn ulp(found: f32, expected: f64) -> f64 {
        let place = (expected as f32).abs().max(f32::MIN_POSITIVE);
        let place = f32::from_bits(place.to_bits() + 1) - place;
        (f64::from(found) - expected).abs() / f64::from(place)
    }

    #[test]
    fn exponentials_are_within_two_units() {
        for step in 0..200_000 {
            let x = -87.0 * (step as f32 / 200_000.0).powi(3);
            let found = exp(x);
            assert!(ulp(found, f64::from(x).exp()) <= 2.0, "{x}: {found}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-88.0), 0.0);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert!(exp(f32::NAN).is_nan());
    }

    #[test]
    fn logarithms_are_within_two_units() {
        for step in 0..200_000 {
            let x = (step as f32 / 8000.0).exp2().min(3.0e9) + step as f32 * 1e-6;
            let found = x.ln_of_sum();
            assert!(ulp(found, f64::from(x).ln()) <= 2.0, "{x}: {found}");
        }
        assert_eq!(1f32.ln_of_sum(), 0.0);
        assert!(f32::NAN.ln_of_sum().is_nan());
        assert!(0f32.ln_of_sum().is_finite() && 0f64.ln_of_sum().is_finite());
    }
}

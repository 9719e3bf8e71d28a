//! Seeded pseudo-random numbers, the same on every machine: SplitMix64 (Steele, Lea & Flood 2014).

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// In 0 .. 1, in steps of 2^-20, so that a product with it stays below the other factor in f32, too.
    pub fn uniform(&mut self) -> f32 {
        (self.bits() >> 44) as f32 / (1 << 20) as f32
    }

    /// In 0 .. `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// Mean 0, variance 1, nearly normal: the sum of twelve uniform numbers.
    pub fn normal(&mut self) -> f32 {
        (0..12).map(|_| self.uniform()).sum::<f32>() - 6.0
    }
}

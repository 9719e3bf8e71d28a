//! What is scanned: five kinds of values. With ones alone, a lost carry and one that is added twice would cancel out.

/// A kind of values. Sums wrap: every bit of a carry counts.
#[derive(Clone, Copy, Debug)]
pub enum Data {
    /// One value throughout: the scan counts.
    Constant,
    /// Each value is one more than the last.
    Monotonic,
    /// All 32 bits at random.
    Random,
    /// Small values of either sign, no long run of one of them.
    Uneven,
    /// Zeros, and about one value in a hundred at random: carries travel far.
    Sparse,
}

impl Data {
    pub const ALL: [Data; 5] = [
        Data::Constant,
        Data::Monotonic,
        Data::Random,
        Data::Uneven,
        Data::Sparse,
    ];

    /// `n` values, different for every `seed`.
    pub fn values(self, n: usize, seed: u64) -> Vec<i32> {
        (0..n as u64)
            .map(|i| {
                let random = mix(seed << 40 ^ i);
                match self {
                    Data::Constant => 1 + seed as i32,
                    Data::Monotonic => seed as i32 + i as i32,
                    Data::Random => random as i32,
                    Data::Uneven => (random % 17) as i32 - 8,
                    Data::Sparse if random % 97 == 0 => (random >> 32) as i32,
                    Data::Sparse => 0,
                }
            })
            .collect()
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
fn mix(index: u64) -> u64 {
    let z = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

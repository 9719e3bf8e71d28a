//! The devices that are played, told apart by their planes.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "a browser's, or NVIDIA's")]
pub enum Planes {
    /// No plane operations.
    None = 0,
    /// Plane operations of planes of 4, as Chromium's SwiftShader has them.
    OfFour = 1,
    /// Plane operations of planes of 8 to 128, which CubeCL assumes where a browser does not say.
    Varying = 2,
    /// An NVIDIA GPU.
    OfThirtyTwo = 3,
}

impl Planes {
    /// For the names of groups of cases.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::None | Self::OfThirtyTwo => "",
            Self::OfFour => ", planes",
            Self::Varying => ", planes that vary",
        }
    }
}

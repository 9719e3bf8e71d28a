//! The devices that are emulated, one for each size of planes.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "a browser's, NVIDIA's, or AMD's")]
pub enum Planes {
    /// No plane operations.
    None = 0,
    /// Plane operations of planes of 4, as Chromium's SwiftShader has them.
    OfFour = 1,
    /// Plane operations of planes of 8 to 128, which CubeCL assumes where a browser does not say.
    Varying = 2,
    /// An NVIDIA GPU, or one of AMD's for games.
    OfThirtyTwo = 3,
    /// One of AMD's for data centres.
    OfSixtyFour = 4,
}

impl Planes {
    /// The [`Planes`] of a device's number.
    pub fn numbered(index: u16) -> Self {
        [
            Self::None,
            Self::OfFour,
            Self::Varying,
            Self::OfThirtyTwo,
            Self::OfSixtyFour,
        ][usize::from(index)]
    }

    /// For the names of groups of cases.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::None | Self::OfThirtyTwo => "",
            Self::OfFour => ", planes",
            Self::Varying => ", planes that vary",
            Self::OfSixtyFour => ", planes of 64",
        }
    }
}

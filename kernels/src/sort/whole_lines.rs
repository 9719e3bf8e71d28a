//! The whole lines that a cube sorts at once.

use cubecl::prelude::*;
use cubecl::std::FastDivmod;

/// The lines of a launch.
#[derive(CubeType, CubeLaunch)]
pub(super) struct WholeLines {
    lines: usize,
    pub len: FastDivmod<usize>,
    pub keys_of_line: usize,
    /// The lines of a cube.
    of_cube: usize,
    /// The first keys of a line that are written.
    pub kept: usize,
}

/// The lines of one cube.
#[derive(CubeType, Clone, Copy)]
#[expand(derive(Clone, Copy))]
pub(super) struct OwnLines {
    pub first: usize,
    /// The first key, and the number of keys: 0 after the last line.
    pub begin: usize,
    pub count: usize,
}

#[cube]
impl WholeLines {
    /// The lines of this cube.
    pub fn own(&self) -> OwnLines {
        let first = min(CUBE_POS * self.of_cube, self.lines);
        OwnLines {
            first,
            begin: first * self.keys_of_line,
            count: min(self.lines - first, self.of_cube) * self.keys_of_line,
        }
    }
}

//! Scans of tensors: problem → strategy → routine → kernel.

pub mod components;
mod launch;
mod problem;
mod routines;
pub(crate) mod scratch;
mod strategy;
pub(crate) mod tuning;

pub use components::mute::Mute;
pub(crate) use launch::cube_count;
pub use launch::{scan, scan_with};
pub use problem::ScanOptions;
pub use strategy::{LaunchOptions, RoutineKind, Strategy};

//! Scans of tensors: problem → strategy → routine → kernel.

pub mod components;
mod launch;
mod problem;
mod routines;
mod scratch;
mod strategy;
mod tuning;

pub use launch::{scan, scan_with};
pub use problem::ScanOptions;
pub use strategy::{LaunchOptions, RoutineKind, Strategy};

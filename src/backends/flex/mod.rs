//! The CPU backend: tensors as slices for the CPU engine.

mod cache;
mod cached_bytes;
mod dtypes;
mod layouts;
mod masks;
mod scans;
mod segments;
mod selections;
mod slices;
mod sort;

pub use cache::{free_kept_memory, set_cache_limit};

use crate::ops::ScanOps;
use crate::ops::rows::functions_of;
use crate::ops::scans::scan_operations;
use crate::{ScanOp, ScanOptions};
use burn::tensor::{BoolDType, IntDType, Shape};
use burn_flex::{Flex, FlexTensor};
use {masks::*, scans::*, segments::*};

scan_operations! { functions_of(FlexTensor, FlexTensor, FlexTensor) Flex all }

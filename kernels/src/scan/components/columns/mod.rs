//! Columns: neighbouring units take neighbouring vectors of columns.
//! Each unit walks the axis over its own chunk of them.
//!
//! [`view`] says which unit walks which chunk. [`rows`] loads, combines and writes the rows of a chunk.

mod rows;
mod view;

pub(crate) use rows::{fold_rows, load_prefetched, scan_row, splat};
pub(crate) use view::{Column, ColumnsConfig, ColumnsView, columns_arg, columns_without_inputs};

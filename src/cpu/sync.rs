//! What threads share, in one place: a model checker compiles [`carries`](super::carries) and
//! [`buffer_list`](super::buffer_list) with another `sync`.

pub(super) use core::hint::spin_loop;
pub(super) use core::sync::atomic::{AtomicUsize, Ordering};
pub(super) use std::sync::{Mutex, MutexGuard, PoisonError};

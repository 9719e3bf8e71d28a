//! The same engine with a lock that does not lock. A model must find this.

mod sync {
    pub use crate::engine::sync::{AtomicUsize, Ordering, PoisonError, begin, spin_loop};
    use loom::cell::{MutPtr, UnsafeCell};
    use std::marker::PhantomData;
    use std::ops::{Deref, DerefMut};

    pub struct Mutex<T>(UnsafeCell<T>);

    pub struct MutexGuard<'a, T>(MutPtr<T>, PhantomData<&'a T>);

    // SAFETY: none. Loom runs one thread at a time, and ends the model where two threads have the lock.
    unsafe impl<T: Send> Sync for Mutex<T> {}

    impl<T> Mutex<T> {
        pub fn new(value: T) -> Self {
            Self(UnsafeCell::new(value))
        }

        pub fn lock(&self) -> Result<MutexGuard<'_, T>, PoisonError<MutexGuard<'_, T>>> {
            Ok(MutexGuard(self.0.get_mut(), PhantomData))
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            // SAFETY: loom has let this thread in alone.
            unsafe { self.0.deref() }
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            // SAFETY: as above.
            unsafe { self.0.deref() }
        }
    }
}

#[path = "../../../../src/cpu/buffer_list.rs"]
mod buffer_list;
#[path = "../../../../src/cpu/carries.rs"]
mod carries;
#[path = "threads.rs"]
pub mod threads;

//! What threads do with the carries and with the buffers that are kept.

use super::buffer_list::{BufferList, Memory};
use super::carries::Carries;
use super::sync::{Mutex, begin};
use loom::cell::UnsafeCell;
use std::alloc::Layout;
use std::sync::Arc;

/// The carry behind a block: of another order, another one.
fn behind(step: usize, carry: usize) -> usize {
    carry * 10 + step + 1
}

/// Threads scan a row of so many blocks; each writes its blocks, and loom sees two that write one.
pub fn scan(threads: usize, blocks: usize, spin_limit: usize) {
    let carries = Arc::new(Carries::new(0));
    let outputs: Arc<[_]> = (0..blocks).map(|_| UnsafeCell::new(0)).collect();
    let work = |number: usize| {
        let (carries, outputs) = (carries.clone(), outputs.clone());
        move || {
            begin(number);
            loop {
                let step = carries.take();
                if step >= blocks {
                    return;
                }
                let carry = carries.wait(step, spin_limit, behind);
                carries.publish(step + 1, behind(step, carry));
                // SAFETY: loom checks that nobody else has it.
                outputs[step].with_mut(|output| unsafe { *output += carry + 1 });
            }
        }
    };
    in_parallel((0..threads).map(work).collect());
    let mut carry = 0;
    for (step, output) in outputs.iter().enumerate() {
        // SAFETY: all threads have ended.
        let output = output.with(|output| unsafe { *output });
        assert_eq!(
            output,
            carry + 1,
            "each block is written once, from its carry"
        );
        carry = behind(step, carry);
    }
    assert_eq!(carries.get(blocks), carry);
}

/// The last one on this thread.
fn in_parallel<F: FnOnce() + 'static>(mut threads: Vec<F>) {
    let here = threads.pop();
    let others: Vec<_> = threads.into_iter().map(loom::thread::spawn).collect();
    here.into_iter().for_each(|work| work());
    for other in others {
        other.join().expect("a thread that panics ends the model");
    }
}

/// A buffer; who has it writes to it, and loom sees two that do.
struct Buffer(UnsafeCell<usize>);

const BYTES: usize = 64;

impl Memory for Buffer {
    fn layout(&self) -> Layout {
        Layout::array::<u32>(BYTES / 4).expect("not large")
    }
}

impl Buffer {
    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    fn write(&self) {
        // SAFETY: loom checks that nobody else has it.
        self.0.with_mut(|uses| unsafe { *uses += 1 });
    }
}

/// Each thread gives back buffers and takes one, and the last one frees what is kept: there is room for `most` buffers. None is lost or given
/// to two.
pub fn keep(given: &'static [usize], most: usize) {
    let kept = Arc::new(BufferList::new(Mutex::new(Vec::new()), most * BYTES));
    let out = Arc::new(std::sync::Mutex::new(Vec::new()));
    let free = move |kept: &BufferList<Buffer>| {
        let freed = kept.trim();
        assert!(freed.len() <= most, "no more is kept than may be");
        freed
    };
    let work = |number: usize| {
        let (kept, out) = (kept.clone(), out.clone());
        let count = given[number];
        move || {
            begin(number);
            let mut mine = Vec::new();
            for _ in 0..count {
                let buffer = Buffer::new();
                buffer.write();
                mine.extend(kept.give(buffer));
            }
            match count {
                0 => mine.extend(free(&kept)),
                _ => mine.extend(kept.take(BYTES, align_of::<u32>(), size_of::<u32>())),
            }
            mine.iter().for_each(Buffer::write);
            out.lock().expect("no panic before").extend(mine);
        }
    };
    in_parallel((0..given.len()).map(work).collect());
    let rest = free(&kept);
    let count = out.lock().expect("no panic before").len() + rest.len();
    let all: usize = given.iter().sum();
    assert_eq!(count, all, "none is lost, none is doubled");
}

//! What threads do with the carries and with the buffer cache.

use super::buffer_list::{BufferList, Memory};
use super::carries::Carries;
use super::sync::{AtomicUsize, Mutex, begin};
use loom::cell::UnsafeCell;
use std::alloc::Layout;
use std::sync::Arc;

/// The carry after a block. It depends on the order of the blocks.
fn after(step: usize, carry: usize) -> usize {
    carry * 10 + step + 1
}

/// Threads scan a row of `blocks` blocks. Each thread writes its blocks, and loom notices if two write the same.
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
                let carry = carries.wait(step, spin_limit, after);
                carries.publish(step + 1, after(step, carry));
                // SAFETY: loom checks that no other thread has access to it.
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
        carry = after(step, carry);
    }
    assert_eq!(carries.get(blocks), carry);
}

/// Runs all threads, the last of them on this thread.
fn in_parallel<F: FnOnce() + 'static>(mut threads: Vec<F>) {
    let here = threads.pop();
    let others: Vec<_> = threads.into_iter().map(loom::thread::spawn).collect();
    here.into_iter().for_each(|work| work());
    for other in others {
        other.join().expect("a thread that panics ends the model");
    }
}

/// A buffer. Its owner writes to it, and loom notices two owners.
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
        // SAFETY: loom checks that no other thread has access to it.
        self.0.with_mut(|uses| unsafe { *uses += 1 });
    }
}

type List = BufferList<Buffer>;

/// A list with room for `most` buffers.
fn list(most: usize) -> Arc<List> {
    let limit = AtomicUsize::new(most * BYTES);
    Arc::new(BufferList::new(Mutex::new(Vec::new()), limit))
}

/// Gives `count` new buffers to the list, and returns those that it frees for them.
fn give(list: &List, count: usize) -> Vec<Buffer> {
    let give = |_| {
        let buffer = Buffer::new();
        buffer.write();
        list.give(buffer)
    };
    (0..count).flat_map(give).collect()
}

/// Frees all buffers, of which there are at most `most`.
fn trim(list: &List, most: usize) -> Vec<Buffer> {
    let freed = list.trim();
    assert!(freed.len() <= most, "the list keeps no more than its limit");
    freed
}

/// Runs `work(number)` on each of `threads` threads, and then takes what is left in the list. Together these must be
/// `count` buffers, `most` of which are in the list.
fn with_buffers(
    list: &Arc<List>,
    threads: usize,
    [count, most]: [usize; 2],
    work: impl Fn(&List, usize) -> Vec<Buffer> + Copy + 'static,
) {
    let out = Arc::new(std::sync::Mutex::new(Vec::new()));
    let thread = |number: usize| {
        let (list, out) = (list.clone(), out.clone());
        move || {
            begin(number);
            let mine = work(&list, number);
            mine.iter().for_each(Buffer::write);
            out.lock().expect("no panic before").extend(mine);
        }
    };
    in_parallel((0..threads).map(thread).collect());
    let rest = trim(list, most);
    let all = out.lock().expect("no panic before").len() + rest.len();
    assert_eq!(all, count, "none is lost, none is doubled");
}

/// Each thread gives buffers and then takes one; a thread that gives none writes to all in the list and trims it. No
/// buffer is lost or has two owners, and there are never more than `most` in the list.
pub fn keep(given: &'static [usize], most: usize) {
    let count = given.iter().sum();
    with_buffers(
        &list(most),
        given.len(),
        [count, most],
        move |list, number| {
            let mut mine = give(list, given[number]);
            match given[number] {
                0 => {
                    list.for_each(|buffer| buffer.write());
                    mine.extend(trim(list, most));
                }
                _ => mine.extend(list.take(BYTES, align_of::<u32>(), size_of::<u32>())),
            }
            mine
        },
    );
}

/// Each thread gives buffers; a thread that gives none lowers the limit from two buffers to `most`. At the end the list
/// keeps to the new limit, and no buffer is lost or has two owners.
pub fn lower_limit(given: &'static [usize], most: usize) {
    let count = given.iter().sum();
    with_buffers(
        &list(2),
        given.len(),
        [count, most],
        move |list, number| match given[number] {
            0 => list.set_limit(most * BYTES),
            count => give(list, count),
        },
    );
}

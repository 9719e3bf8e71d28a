//! Lines to where they are sorted, and back.
//!
//! Rows of elements without positions are sorted where they end up. All other lines are loaded into a buffer, several
//! columns side by side so that each line of memory is read once, and are stored from there.
//!
//! Tasks have whole lines. Where there are few lines, and long ones, the lines are taken one after the other, each by
//! all threads.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::buffer::{Output, Shared};
use super::super::buffer_cache::{self, Buffer};
use super::super::compress::Index;
use super::super::parallel::{self, GRAIN, PARALLEL};
use super::keys::{Bits, Order};
use super::radix::{self, Item, Placed};

/// Columns that are loaded together: a cache line of 32-bit elements.
const COLUMNS: usize = 16;

/// The lines of a contiguous `[outer, len, inner]` along its middle dimension.
pub(super) struct Lines<'a, B> {
    pub(super) values: &'a [B],
    pub(super) outer: usize,
    pub(super) len: usize,
    pub(super) inner: usize,
}

/// Some columns of a plane.
pub(super) struct Group {
    plane: usize,
    columns: Range<usize>,
}

impl Group {
    /// A row, where nothing is behind it.
    pub(super) fn row(row: usize) -> Self {
        Self {
            plane: row,
            columns: 0..1,
        }
    }
}

impl<'a, B: Bits> Lines<'a, B> {
    pub(super) fn new(values: &'a [B], [outer, len, inner]: [usize; 3]) -> Self {
        assert_eq!(
            values.len(),
            outer * len * inner,
            "the values are not [{outer}, {len}, {inner}]"
        );
        Self {
            values,
            outer,
            len,
            inner,
        }
    }

    pub(super) fn sort<O: Order<B>>(&self, order: O) -> Vec<B> {
        let mut output = Output::new(self.values.len());
        match self.inner {
            1 => self.sort_rows(output.slots(), order),
            _ => {
                let slots = Shared::new(output.slots());
                self.sort_groups::<B, O>(order, &|group, items| {
                    self.store(group, items, self.len, &slots, |bits| bits);
                });
            }
        }
        // SAFETY: every line has been written.
        unsafe { output.finish() }
    }

    pub(super) fn argsort<O: Order<B>, P: Index, I: Index>(&self, order: O) -> Vec<I> {
        let mut output = Output::new(self.values.len());
        let slots = Shared::new(output.slots());
        self.sort_groups::<Placed<B, P>, O>(order, &|group, items| {
            self.store(group, items, self.len, &slots, position);
        });
        // SAFETY: every line has been written.
        unsafe { output.finish() }
    }

    /// The first `k` elements of each line in order, and their positions.
    pub(super) fn sort_with_positions<O: Order<B>, P: Index, I: Index>(
        &self,
        k: usize,
        order: O,
    ) -> (Vec<B>, Vec<I>) {
        let elements = self.outer * k * self.inner;
        let (mut values, mut positions) = (Output::new(elements), Output::new(elements));
        let value_slots = Shared::new(values.slots());
        let position_slots = Shared::new(positions.slots());
        self.sort_groups::<Placed<B, P>, O>(order, &|group, items| {
            self.store(group, items, k, &value_slots, Item::bits);
            self.store(group, items, k, &position_slots, position);
        });
        // SAFETY: the first `k` places of every line have been written.
        unsafe { (values.finish(), positions.finish()) }
    }

    /// Whether all threads work on one line at a time.
    pub(super) fn are_long(&self) -> bool {
        self.len >= PARALLEL && self.outer * self.inner < 4 * rayon::current_num_threads()
    }

    fn sort_rows<O: Order<B>>(&self, output: &mut [MaybeUninit<B>], order: O) {
        let is_long = self.are_long();
        let sort_row = |first: usize, row: &mut [MaybeUninit<B>], spare: &mut [MaybeUninit<B>]| {
            let row = copy(&self.values[first..first + self.len], row, is_long);
            radix::sort(row, spare, order, is_long);
        };
        if self.values.is_empty() {
            return;
        }
        let share = match is_long {
            true => output.len(),
            false => GRAIN.div_ceil(self.len) * self.len,
        };
        let work = |first: usize, part: &mut [MaybeUninit<B>]| {
            let mut spare = Scratch::new(self.len);
            for (at, row) in part.chunks_exact_mut(self.len).enumerate() {
                sort_row(first + at * self.len, row, spare.slots());
            }
        };
        match is_long {
            true => work(0, output),
            false => parallel::for_each_part_of(self.values.len(), output, share, &work),
        }
    }

    /// Sorts all lines, and calls `store` with each group of them, one line after the other.
    fn sort_groups<T: Item<B>, O: Order<B>>(
        &self,
        order: O,
        store: &(dyn Fn(&Group, &[T]) + Sync),
    ) {
        let is_long = self.are_long();
        let work = |spare: &mut Scratch<T>, group: &Group, items: &mut [T]| {
            for line in items.chunks_exact_mut(self.len) {
                radix::sort(line, spare.slots(), order, is_long);
            }
            store(group, items);
        };
        self.for_each_group(is_long, &|groups| {
            let mut spare = Scratch::new(self.len);
            self.load_each(groups, is_long, &mut |group, items| {
                work(&mut spare, group, items);
            });
        });
    }

    /// Calls `body` with the numbers of groups, each once.
    pub(super) fn for_each_group(&self, is_long: bool, body: &(dyn Fn(Range<usize>) + Sync)) {
        if self.values.is_empty() {
            return;
        }
        let width = self.width(is_long);
        let groups = self.outer * self.inner.div_ceil(width);
        if is_long {
            return body(0..groups);
        }
        let share = GRAIN.div_ceil(self.len * width);
        parallel::for_each_of(
            self.values.len(),
            groups.div_ceil(share),
            1,
            &|task: usize| body(task * share..groups.min((task + 1) * share)),
        );
    }

    /// Calls `body` with the lines of each group, one line after the other.
    pub(super) fn load_each<T: Item<B>>(
        &self,
        groups: Range<usize>,
        is_long: bool,
        body: &mut dyn FnMut(&Group, &mut [T]),
    ) {
        let width = self.width(is_long);
        let groups_of_plane = self.inner.div_ceil(width);
        let mut buffer = Scratch::new(self.len * width);
        for group in groups {
            let first = group % groups_of_plane * width;
            let group = Group {
                plane: group / groups_of_plane,
                columns: first..self.inner.min(first + width),
            };
            body(&group, self.load(&group, buffer.slots(), is_long));
        }
    }

    /// The columns of a group.
    fn width(&self, is_long: bool) -> usize {
        if is_long { 1 } else { COLUMNS.min(self.inner) }
    }

    fn load<'b, T: Item<B>>(
        &self,
        group: &Group,
        buffer: &'b mut [MaybeUninit<T>],
        is_long: bool,
    ) -> &'b mut [T] {
        let columns = &group.columns;
        let plane = &self.values[group.plane * self.len * self.inner..];
        let buffer = &mut buffer[..columns.len() * self.len];
        if columns.len() == 1 {
            let line = |first: usize, part: &mut [MaybeUninit<T>]| {
                let values = plane[first * self.inner + columns.start..].iter();
                let values = values.step_by(self.inner);
                for (at, (slot, &bits)) in part.iter_mut().zip(values).enumerate() {
                    slot.write(T::new(bits, first + at));
                }
            };
            let elements = if is_long { self.len } else { 0 };
            parallel::for_each_part_of(elements, buffer, GRAIN, &line);
        } else {
            for (position, row) in plane.chunks_exact(self.inner).take(self.len).enumerate() {
                for (column, &bits) in row[columns.clone()].iter().enumerate() {
                    buffer[column * self.len + position].write(T::new(bits, position));
                }
            }
        }
        // SAFETY: both ways write every element of every column.
        unsafe { buffer.assume_init_mut() }
    }

    /// Writes the first `k` items of each line of a group, as `value` has them.
    fn store<T: Copy + Sync, V: Copy + Send>(
        &self,
        group: &Group,
        items: &[T],
        k: usize,
        output: &Shared<V>,
        value: impl Fn(T) -> V + Sync,
    ) {
        if self.inner == 1 {
            // SAFETY: no other task has this row.
            let row = unsafe { output.slice(group.plane * k..(group.plane + 1) * k) };
            let elements = if self.are_long() { k } else { 0 };
            return parallel::for_each_part_of(elements, row, GRAIN, &|first, part| {
                for (slot, &item) in part.iter_mut().zip(&items[first..]) {
                    slot.write(value(item));
                }
            });
        }
        let columns = &group.columns;
        for position in 0..k {
            let first = (group.plane * k + position) * self.inner;
            // SAFETY: no other task has these columns of this plane.
            let row = unsafe { output.slice(first + columns.start..first + columns.end) };
            for (slot, line) in row.iter_mut().zip(items.chunks_exact(self.len)) {
                slot.write(value(line[position]));
            }
        }
    }

    /// Writes the first elements of a line, given by their positions.
    pub(super) fn store_line<V: Copy + Send>(
        &self,
        group: &Group,
        column: usize,
        values: &[V],
        output: &Shared<V>,
    ) {
        for (position, &value) in values.iter().enumerate() {
            let row = (group.plane * values.len() + position) * self.inner;
            let at = row + group.columns.start + column;
            // SAFETY: no other task has this column of this plane.
            let slot = unsafe { output.slice(at..at + 1) };
            slot[0].write(value);
        }
    }
}

fn position<B, P: Index, I: Index>(item: Placed<B, P>) -> I {
    I::from_usize(item.position.to_usize())
}

/// Copies `from` into `to`.
fn copy<'a, T: Copy + Send + Sync>(
    from: &[T],
    to: &'a mut [MaybeUninit<T>],
    is_long: bool,
) -> &'a mut [T] {
    let elements = if is_long { from.len() } else { 0 };
    let part = if is_long { GRAIN } else { from.len() };
    parallel::for_each_part_of(elements, to, part, &|first, part| {
        part.write_copy_of_slice(&from[first..first + part.len()]);
    });
    // SAFETY: the parts are the whole slice.
    unsafe { to.assume_init_mut() }
}

/// Memory for a while, from the buffer cache and back into it.
struct Scratch<T: Copy> {
    vec: Vec<T>,
    len: usize,
}

impl<T: Copy> Scratch<T> {
    fn new(len: usize) -> Self {
        Self {
            vec: buffer_cache::take(len),
            len,
        }
    }

    fn slots(&mut self) -> &mut [MaybeUninit<T>] {
        &mut self.vec.spare_capacity_mut()[..self.len]
    }
}

impl<T: Copy> Drop for Scratch<T> {
    fn drop(&mut self) {
        buffer_cache::give(Buffer::new(core::mem::take(&mut self.vec)));
    }
}

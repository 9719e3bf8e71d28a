//! Moves lines to where they are sorted, and back.
//!
//! Rows of elements without positions are sorted in the output. All other lines are loaded into a buffer, several
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

/// Columns that are loaded together: a cache line of 32-bit elements. Not measured.
const COLUMNS: usize = 16;

/// The lines of a contiguous `[outer, len, inner]` along its middle dimension.
pub(super) struct SortInput<'a, B> {
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
    /// A row, where each row is a plane.
    pub(super) fn row(row: usize) -> Self {
        Self {
            plane: row,
            columns: 0..1,
        }
    }
}

impl<'a, B: Bits> SortInput<'a, B> {
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
                    for (column, keys) in items.chunks_exact_mut(self.len).enumerate() {
                        self.restore(group, column, keys, order);
                    }
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
            let shared = order.shared();
            let first = group.plane * self.len * self.inner + group.columns.start;
            self.store_with(group, items, k, &value_slots, |item, column| {
                let key = item.key();
                if shared.is_some_and(|shared| shared.contains(&key)) {
                    self.values[first + item.position.to_usize() * self.inner + column]
                } else {
                    order.bits(key)
                }
            });
            self.store(group, items, k, &position_slots, position);
        });
        // SAFETY: the first `k` places of every line have been written.
        unsafe { (values.finish(), positions.finish()) }
    }

    /// Turns the sorted keys of a line into the bits of its elements. Elements that share a key are in the order of the
    /// line.
    fn restore<O: Order<B>>(&self, group: &Group, column: usize, keys: &mut [B], order: O) {
        let mut places = order.shared().map(|shared| {
            shared.map(|key| {
                let first = keys.partition_point(|&other| other < key);
                (key, first, keys.get(first) == Some(&key))
            })
        });
        let elements = if self.are_long() { keys.len() } else { 0 };
        parallel::for_each_part_of(elements, keys, GRAIN, &|_, part| {
            for key in part {
                *key = order.bits(*key);
            }
        });
        let Some(places) = &mut places else { return };
        if !places.iter().any(|&(_, _, is_there)| is_there) {
            return;
        }
        let first = group.plane * self.len * self.inner + group.columns.start + column;
        let line = self.values[first..].iter().step_by(self.inner);
        for &bits in line.take(self.len) {
            let own = order.key(bits);
            for (key, place, _) in &mut *places {
                if own == *key {
                    keys[*place] = bits;
                    *place += 1;
                }
            }
        }
    }

    /// Whether all threads work on one line at a time.
    pub(super) fn are_long(&self) -> bool {
        self.len >= PARALLEL && self.outer * self.inner < 4 * rayon::current_num_threads()
    }

    fn sort_rows<O: Order<B>>(&self, output: &mut [MaybeUninit<B>], order: O) {
        if self.values.is_empty() {
            return;
        }
        let is_long = self.are_long();
        let output = Shared::new(output);
        self.for_each_group(is_long, &|rows| {
            let mut spare = Scratch::new(self.len);
            for row in rows {
                let group = Group::row(row);
                // SAFETY: no other task has this row.
                let row = unsafe { output.slice(row * self.len..(row + 1) * self.len) };
                let row = self.load(&group, row, order, is_long);
                radix::sort(row, spare.slots(), order.mask(), is_long);
                self.restore(&group, 0, row, order);
            }
        });
    }

    /// Sorts all lines, and calls `store` with each group of them, one line after the other.
    fn sort_groups<T: Item<B>, O: Order<B>>(
        &self,
        order: O,
        store: &(dyn Fn(&Group, &mut [T]) + Sync),
    ) {
        let is_long = self.are_long();
        self.for_each_group(is_long, &|groups| {
            let mut spare = Scratch::new(self.len);
            self.load_each(groups, order, is_long, &mut |group, items| {
                for line in items.chunks_exact_mut(self.len) {
                    radix::sort(line, spare.slots(), order.mask(), is_long);
                }
                store(group, items);
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
    pub(super) fn load_each<T: Item<B>, O: Order<B>>(
        &self,
        groups: Range<usize>,
        order: O,
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
            body(&group, self.load(&group, buffer.slots(), order, is_long));
        }
    }

    /// The columns of a group.
    fn width(&self, is_long: bool) -> usize {
        if is_long { 1 } else { COLUMNS.min(self.inner) }
    }

    fn load<'b, T: Item<B>, O: Order<B>>(
        &self,
        group: &Group,
        buffer: &'b mut [MaybeUninit<T>],
        order: O,
        is_long: bool,
    ) -> &'b mut [T] {
        let columns = &group.columns;
        let plane = &self.values[group.plane * self.len * self.inner..];
        let buffer = &mut buffer[..columns.len() * self.len];
        if columns.len() == 1 {
            let line = |first: usize, part: &mut [MaybeUninit<T>]| {
                if self.inner == 1 {
                    for (at, (slot, &bits)) in part.iter_mut().zip(&plane[first..]).enumerate() {
                        slot.write(T::new(order.key(bits), first + at));
                    }
                    return;
                }
                let values = plane[first * self.inner + columns.start..].iter();
                let values = values.step_by(self.inner);
                for (at, (slot, &bits)) in part.iter_mut().zip(values).enumerate() {
                    slot.write(T::new(order.key(bits), first + at));
                }
            };
            let elements = if is_long { self.len } else { 0 };
            parallel::for_each_part_of(elements, buffer, GRAIN, &line);
        } else {
            for (position, row) in plane.chunks_exact(self.inner).take(self.len).enumerate() {
                for (column, &bits) in row[columns.clone()].iter().enumerate() {
                    buffer[column * self.len + position].write(T::new(order.key(bits), position));
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
        self.store_with(group, items, k, output, |item, _| value(item));
    }

    /// As [`store`](Self::store), where `value` takes the item and its column.
    fn store_with<T: Copy + Sync, V: Copy + Send>(
        &self,
        group: &Group,
        items: &[T],
        k: usize,
        output: &Shared<V>,
        value: impl Fn(T, usize) -> V + Sync,
    ) {
        if self.inner == 1 {
            // SAFETY: no other task has this row.
            let row = unsafe { output.slice(group.plane * k..(group.plane + 1) * k) };
            let elements = if self.are_long() { k } else { 0 };
            return parallel::for_each_part_of(elements, row, GRAIN, &|first, part| {
                for (slot, &item) in part.iter_mut().zip(&items[first..]) {
                    slot.write(value(item, 0));
                }
            });
        }
        let columns = &group.columns;
        for position in 0..k {
            let first = (group.plane * k + position) * self.inner;
            // SAFETY: no other task has these columns of this plane.
            let row = unsafe { output.slice(first + columns.start..first + columns.end) };
            let lines = items.chunks_exact(self.len);
            for (column, (slot, line)) in row.iter_mut().zip(lines).enumerate() {
                slot.write(value(line[position], column));
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
            unsafe { output.set(at, MaybeUninit::new(value)) };
        }
    }
}

fn position<B, P: Index, I: Index>(item: Placed<B, P>) -> I {
    I::from_usize(item.position.to_usize())
}

/// Temporary memory, from the buffer cache and back into it.
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

//! Moves lines to where they are sorted, and back.
//!
//! Rows of elements without positions are sorted in the output. All other lines are loaded into a buffer, several
//! columns side by side so that each line of memory is read once, and are stored from there. Short lines are
//! sorted several at a time, see [`network`].
//!
//! Tasks have whole lines. Where there are few lines, and long ones, the lines are taken one after the other, each by
//! all threads.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::buffer::{Output, Shared};
use super::super::compress::Index;
use super::super::parallel::{self, GRAIN, PARALLEL};
use super::super::processor::vectorize;
use super::item::{Item, Placed};
use super::keys::{Bits, Order};
use super::network::{self, LANES};
use super::radix;

/// The lines of `[outer, len, inner]` along its middle dimension. Planes begin `apart` from each other, and have no gaps.
pub(super) struct SortInput<'a, B> {
    values: &'a [B],
    pub(super) outer: usize,
    pub(super) len: usize,
    pub(super) inner: usize,
    apart: usize,
}

/// Neighbouring lines: columns of a plane, or rows where each row is a plane.
pub(super) type Group = Range<usize>;

impl<'a, B: Bits> SortInput<'a, B> {
    pub(super) fn new(values: &'a [B], [outer, len, inner]: [usize; 3], apart: usize) -> Self {
        let plane = len * inner;
        let places = match outer * plane {
            0 => 0,
            _ => (outer - 1) * apart + plane,
        };
        assert!(
            values.len() == places && apart >= plane,
            "the values are not [{outer}, {len}, {inner}]"
        );
        Self {
            values,
            outer,
            len,
            inner,
            apart,
        }
    }

    fn elements(&self) -> usize {
        self.outer * self.len * self.inner
    }

    pub(super) fn sort<O: Order<B>>(&self, order: O) -> Vec<B> {
        let mut output = Output::new(self.elements());
        let slots = Shared::new(output.slots());
        if self.inner == 1 {
            self.for_each_group::<B>(&|groups| {
                let mut rooms = Rooms::new(self.len);
                for group in groups {
                    // SAFETY: no other task has these rows.
                    let rows = unsafe { slots.slice(group.start * self.len..group.end * self.len) };
                    let rows = self.load(&group, rows, order);
                    self.sort_lines(rows, &mut rooms, order.mask());
                    self.restore(&group, rows, order);
                }
            });
        } else {
            self.sort_groups::<B, O>(order, &|group, keys| {
                self.restore(group, keys, order);
                self.store(group, keys, self.len, &slots, |bits, _| bits);
            });
        }
        // SAFETY: every line has been written.
        unsafe { output.finish() }
    }

    pub(super) fn argsort<O: Order<B>, P: Index, I: Index>(&self, order: O) -> Vec<I> {
        let mut output = Output::new(self.elements());
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
            self.store(group, items, k, &value_slots, |item, line| {
                if shared.is_some_and(|shared| shared.contains(&item.key)) {
                    self.values[self.start(line) + item.position.to_usize() * self.inner]
                } else {
                    order.bits(item.key)
                }
            });
            self.store(group, items, k, &position_slots, position);
        });
        // SAFETY: the first `k` places of every line have been written.
        unsafe { (values.finish(), positions.finish()) }
    }

    /// Where the first element of a line is.
    fn start(&self, line: usize) -> usize {
        line / self.inner * self.apart + line % self.inner
    }

    /// The elements of a row.
    pub(super) fn row(&self, row: usize) -> &'a [B] {
        &self.values[row * self.apart..][..self.len]
    }

    /// Where the first element of a line is in a result that has `len` elements of each line.
    fn start_among(&self, line: usize, len: usize) -> usize {
        line / self.inner * len * self.inner + line % self.inner
    }

    /// Turns the sorted keys of lines into the bits of their elements.
    fn restore<O: Order<B>>(&self, group: &Group, keys: &mut [B], order: O) {
        let all_bits = |keys: &mut [B]| {
            self.for_each_part(keys, &|_, part| {
                for key in part {
                    *key = order.bits(*key);
                }
            });
        };
        // Of a long line the search is shorter than a look at each key.
        let shared = order
            .shared()
            .filter(|shared| self.are_long() || contains(keys, *shared));
        let Some(shared) = shared else {
            return all_bits(keys);
        };
        for (line, keys) in group.clone().zip(keys.chunks_exact_mut(self.len)) {
            let places = shared.map(|key| (key, keys.partition_point(|&other| other < key)));
            let is_there = places
                .iter()
                .any(|&(key, first)| keys.get(first) == Some(&key));
            all_bits(keys);
            if is_there {
                self.restore_shared(line, keys, places, order);
            }
        }
    }

    /// Writes the elements that share one of the keys, in the order of the line. Those of a key begin at its place.
    fn restore_shared<O: Order<B>>(
        &self,
        line: usize,
        sorted: &mut [B],
        mut places: [(B, usize); 2],
        order: O,
    ) {
        let elements = self.values[self.start(line)..].iter().step_by(self.inner);
        for &bits in elements.take(self.len) {
            let own = order.key(bits);
            for (key, place) in &mut places {
                if own == *key {
                    sorted[*place] = bits;
                    *place += 1;
                }
            }
        }
    }

    /// Whether all threads work on one line at a time.
    pub(super) fn are_long(&self) -> bool {
        self.len >= PARALLEL && self.outer * self.inner < 4 * rayon::current_num_threads()
    }

    /// Calls `each` with parts of a line's items: on all threads if they work on one line at a time.
    fn for_each_part<T: Send>(&self, items: &mut [T], each: &(dyn Fn(usize, &mut [T]) + Sync)) {
        let elements = if self.are_long() { items.len() } else { 0 };
        parallel::for_each_part_of(elements, items, GRAIN, each);
    }

    /// Sorts all lines, and calls `store` with each group of them, one line after the other.
    fn sort_groups<T: Item<B>, O: Order<B>>(
        &self,
        order: O,
        store: &(dyn Fn(&Group, &mut [T]) + Sync),
    ) {
        self.for_each_group::<T>(&|groups| {
            let mut rooms = Rooms::new(self.len);
            self.load_each(groups, order, &mut |group, items| {
                self.sort_lines(items, &mut rooms, order.mask());
                store(group, items);
            });
        });
    }

    /// Sorts the lines of a group, which lie one after the other.
    fn sort_lines<T: Item<B>>(&self, lines: &mut [T], rooms: &mut Rooms<B, T>, mask: B) {
        if mask == B::ALL && self.is_short::<T>(lines.len() / self.len) {
            return network::sort(lines, self.len, &mut rooms.places);
        }
        for line in lines.chunks_exact_mut(self.len) {
            radix::sort(line, rooms.spare.slots(), mask, self.are_long());
        }
    }

    /// Calls `body` with groups of lines. Each line is in one of them.
    pub(super) fn for_each_group<T: Item<B>>(
        &self,
        body: &(dyn Fn(&mut dyn Iterator<Item = Group>) + Sync),
    ) {
        if self.values.is_empty() {
            return;
        }
        let (side, width) = (self.side(), self.width::<T>());
        let of_side = side.div_ceil(width);
        let group = |number: usize| {
            let (sides, first) = (number / of_side * side, number % of_side * width);
            sides + first..sides + side.min(first + width)
        };
        let groups = self.outer * self.inner / side * of_side;
        if self.are_long() {
            return body(&mut (0..groups).map(group));
        }
        let share = GRAIN.div_ceil(self.len * width);
        let tasks = groups.div_ceil(share);
        parallel::for_each_of(self.elements(), tasks, 1, &|task: usize| {
            body(&mut (task * share..groups.min((task + 1) * share)).map(group));
        });
    }

    /// Calls `body` with the lines of each group, one line after the other.
    pub(super) fn load_each<T: Item<B>, O: Order<B>>(
        &self,
        groups: &mut dyn Iterator<Item = Group>,
        order: O,
        body: &mut dyn FnMut(&Group, &mut [T]),
    ) {
        let mut buffer = Output::new(self.len * self.width::<T>());
        for group in groups {
            body(&group, self.load(&group, buffer.slots(), order));
        }
    }

    /// Whether this number of lines is sorted side by side.
    fn is_short<T: Item<B>>(&self, lines: usize) -> bool {
        self.len <= T::NETWORK && network::serves(lines)
    }

    /// Lines that lie side by side: all rows, or the columns of a plane.
    fn side(&self) -> usize {
        if self.inner == 1 {
            self.outer
        } else {
            self.inner
        }
    }

    /// The most lines of a group.
    fn width<T: Item<B>>(&self) -> usize {
        let is_single = if self.inner == 1 {
            !self.is_short::<T>(LANES)
        } else {
            self.are_long()
        };
        if is_single { 1 } else { LANES.min(self.side()) }
    }

    fn load<'b, T: Item<B>, O: Order<B>>(
        &self,
        group: &Group,
        buffer: &'b mut [MaybeUninit<T>],
        order: O,
    ) -> &'b mut [T] {
        let buffer = &mut buffer[..group.len() * self.len];
        let first = self.start(group.start);
        if self.inner == 1 {
            for (line, buffer) in group.clone().zip(buffer.chunks_exact_mut(self.len)) {
                let values = self.row(line);
                self.for_each_part(buffer, &|first, part| {
                    for (at, (slot, &bits)) in part.iter_mut().zip(&values[first..]).enumerate() {
                        slot.write(T::new(order.key(bits), first + at));
                    }
                });
            }
        } else if group.len() == 1 {
            self.for_each_part(buffer, &|start, part| {
                let values = self.values[first + start * self.inner..].iter();
                let values = values.step_by(self.inner);
                for (at, (slot, &bits)) in part.iter_mut().zip(values).enumerate() {
                    slot.write(T::new(order.key(bits), start + at));
                }
            });
        } else {
            let rows = self.values[first..].chunks(self.inner).take(self.len);
            for (position, row) in rows.enumerate() {
                for (column, &bits) in row[..group.len()].iter().enumerate() {
                    buffer[column * self.len + position].write(T::new(order.key(bits), position));
                }
            }
        }
        // SAFETY: each way writes every element of every line.
        unsafe { buffer.assume_init_mut() }
    }

    /// Writes the first `k` items of each line of a group, as `value` has them, which takes an item and its line.
    fn store<T: Copy + Sync, V: Copy + Send>(
        &self,
        group: &Group,
        items: &[T],
        k: usize,
        output: &Shared<V>,
        value: impl Fn(T, usize) -> V + Sync,
    ) {
        let lines = items.chunks_exact(self.len);
        if self.inner == 1 {
            for (line, items) in group.clone().zip(lines) {
                // SAFETY: no other task has this row.
                let row = unsafe { output.slice(line * k..(line + 1) * k) };
                self.for_each_part(row, &|first, part| {
                    for (slot, &item) in part.iter_mut().zip(&items[first..]) {
                        slot.write(value(item, line));
                    }
                });
            }
            return;
        }
        for position in 0..k {
            let first = self.start_among(group.start, k) + position * self.inner;
            // SAFETY: no other task has these columns of this plane.
            let row = unsafe { output.slice(first..first + group.len()) };
            for ((line, slot), items) in group.clone().zip(row).zip(lines.clone()) {
                slot.write(value(items[position], line));
            }
        }
    }

    /// Writes the first elements of a line, given by their positions.
    pub(super) fn store_line<V: Copy + Send>(&self, line: usize, values: &[V], output: &Shared<V>) {
        let first = self.start_among(line, values.len());
        for (position, &value) in values.iter().enumerate() {
            // SAFETY: no other task has this line.
            unsafe { output.set(first + position * self.inner, MaybeUninit::new(value)) };
        }
    }
}

fn position<B, P: Index, I: Index>(item: Placed<B, P>, _line: usize) -> I {
    I::from_usize(item.position.to_usize())
}

fn contains<B: Bits>(keys: &[B], wanted: [B; 2]) -> bool {
    vectorize!({
        keys.iter().fold(false, |any, &key| {
            any | (key == wanted[0]) | (key == wanted[1])
        })
    })
}

/// Scratch memory of the sorts of lines.
struct Rooms<B: Bits, T: Item<B>> {
    spare: Output<T>,
    places: Vec<T::Place>,
}

impl<B: Bits, T: Item<B>> Rooms<B, T> {
    fn new(len: usize) -> Self {
        Self {
            spare: Output::new(len),
            places: Vec::new(),
        }
    }
}

//! An input of a walk: a tensor with any strides, read in place.

use core::mem::MaybeUninit;
use core::ops::Range;

use super::super::element::TILE;
use super::WalkShape;
use super::abreast::Turned;
use super::places::Places;

/// A tensor as a walk reads it: `[outer, len, inner]`, where `outer` and `inner` may stand for several dimensions each.
///
/// A line here is the `inner` elements of one position along the axis, which the walk reads in one step.
#[derive(Clone)]
pub(crate) struct View<'a, T> {
    pub(super) elements: &'a [T],
    /// The place of the first element.
    start: isize,
    pub(super) planes: Places,
    pub(in crate::cpu) lines: usize,
    /// From one line to the next.
    pub(in crate::cpu) step: isize,
    columns: Places,
    /// The columns of a plane, if planes are abreast and blocks of them are transposed.
    transposed: Option<usize>,
}

impl<'a, T: Copy> View<'a, T> {
    /// The view of a tensor whose first element is `elements[start]`, with these sizes and strides, along `dim`.
    ///
    /// # Panics
    ///
    /// If an element would lie outside of `elements`.
    pub(crate) fn new(
        elements: &'a [T],
        start: usize,
        shape: &[usize],
        strides: &[isize],
        dim: usize,
    ) -> Self {
        let reach = |towards: fn(isize) -> bool| -> isize {
            let dims = shape.iter().zip(strides);
            dims.map(|(&size, &stride)| (size as isize - 1) * stride)
                .filter(|&far| towards(far))
                .sum()
        };
        let (lowest, highest) = (reach(|far| far < 0), reach(|far| far > 0));
        // A tensor without elements may begin beyond its memory.
        let start = if shape.contains(&0) {
            0
        } else {
            start as isize
        };
        assert!(
            shape.contains(&0) || start + lowest >= 0 && start + highest < elements.len() as isize,
            "a tensor reaches out of its memory"
        );
        Self {
            elements,
            start,
            planes: Places::new(&shape[..dim], &strides[..dim]),
            lines: shape[dim],
            step: strides[dim],
            columns: Places::new(&shape[dim + 1..], &strides[dim + 1..]),
            transposed: None,
        }
    }

    /// The view of a contiguous tensor.
    pub(in crate::cpu) fn contiguous(elements: &'a [T], lines: &WalkShape) -> Self {
        let WalkShape {
            outer, len, inner, ..
        } = *lines;
        let strides = [len * inner, inner, 1].map(|stride| stride as isize);
        Self::new(elements, 0, &[outer, len, inner], &strides, 1)
    }

    /// The same elements as a type of the same size.
    pub(crate) fn cast<U: Copy + bytemuck::Pod>(&self) -> View<'a, U>
    where
        T: bytemuck::Pod,
    {
        View {
            elements: bytemuck::cast_slice(self.elements),
            start: self.start,
            planes: self.planes.clone(),
            lines: self.lines,
            step: self.step,
            columns: self.columns.clone(),
            transposed: self.transposed,
        }
    }

    /// The view as a walk goes through it.
    pub(super) fn along(&self, lines: &WalkShape) -> Self {
        let mut view = self.clone();
        if let Some(columns) = lines.abreast {
            let is_contiguous = self.step == columns as isize
                && self.columns.are_side_by_side()
                && self.planes.stride() == Some((self.lines * columns) as isize);
            view.transposed = is_contiguous.then_some(columns);
            view.columns = view.planes.and(&view.columns);
            view.planes = Places::new(&[], &[]);
        }
        view
    }

    /// How many lines a walk reads at once, as one line of as many columns: those that fit a tile, if lines follow one
    /// another and the walk takes all their columns.
    pub(super) fn lines_at_once(&self, columns: &Range<usize>) -> usize {
        let inner = self.columns.len();
        let follow = self.columns.are_side_by_side() && self.step == inner as isize;
        if follow && columns.len() == inner {
            (TILE / inner).max(1)
        } else {
            1
        }
    }

    /// The place of a line of a plane.
    #[inline]
    pub(super) fn at(&self, plane: usize, line: usize) -> isize {
        self.start + self.planes.at(plane) + line as isize * self.step
    }

    /// Some columns of a line, gathered in `lines` where they do not lie side by side.
    #[inline]
    pub(super) fn line<'b>(
        &'b self,
        plane: usize,
        line: usize,
        columns: Range<usize>,
        lines: &'b mut Turned<T>,
    ) -> &'b [T] {
        if let Some(size) = self.transposed {
            let place = |column: usize| self.start as usize + column * self.lines;
            let planes = &self.elements[place(columns.start)..place(columns.end)];
            return lines.line_of(planes, [self.lines, size], line);
        }
        let first = self.at(plane, line);
        if self.columns.are_side_by_side() {
            let first = first as usize;
            return &self.elements[first + columns.start..first + columns.end];
        }
        let room = &mut lines.room()[..columns.len()];
        let mut filled = 0;
        assert!(plane < self.planes.len() && line < self.lines);
        self.columns.for_each_run(columns, |place, stride, count| {
            let mut at = first + place;
            for slot in &mut room[filled..filled + count] {
                // SAFETY: the tensor lies in its memory, and so does a column of one of its lines.
                slot.write(unsafe { *self.elements.get_unchecked(at as usize) });
                at += stride;
            }
            filled += count;
        });
        assert_eq!(filled, room.len());
        // SAFETY: all slots were filled.
        unsafe { room.assume_init_ref() }
    }

    /// A column of some lines, gathered in `room` where the lines do not follow one another.
    #[inline]
    pub(super) fn chunk<'b>(
        &'b self,
        (plane, column): (usize, usize),
        lines: Range<usize>,
        room: &'b mut [MaybeUninit<T>],
    ) -> &'b [T] {
        let first = self.at(plane, 0) + self.columns.at(column);
        let at = |line: usize| (first + line as isize * self.step) as usize;
        match self.step {
            1 => &self.elements[at(lines.start)..at(lines.start) + lines.len()],
            _ => {
                let room = &mut room[..lines.len()];
                self.gather(at(lines.start) as isize, self.step, room);
                // SAFETY: all slots were filled.
                unsafe { room.assume_init_ref() }
            }
        }
    }

    /// Fills `room` with elements that lie `stride` apart.
    #[inline(always)]
    pub(super) fn gather(&self, first: isize, stride: isize, room: &mut [MaybeUninit<T>]) {
        let last = first + (room.len() as isize - 1) * stride;
        let inside = |place: isize| (place as usize) < self.elements.len();
        assert!(room.is_empty() || inside(first) && inside(last));
        for (index, slot) in room.iter_mut().enumerate() {
            let place = first + index as isize * stride;
            // SAFETY: the place lies between the first and the last.
            slot.write(unsafe { *self.elements.get_unchecked(place as usize) });
        }
    }

    /// The number of elements.
    pub(in crate::cpu) fn len(&self) -> usize {
        self.planes.len() * self.lines * self.columns.len()
    }

    /// The elements, if they are rows that follow one another in memory.
    pub(in crate::cpu) fn rows(&self) -> Option<&'a [T]> {
        let len = self.planes.len() * self.lines;
        let follow = self.planes.len() == 1 || self.planes.stride() == Some(self.lines as isize);
        let are_rows = self.step == 1 && self.columns.len() == 1 && follow;
        are_rows.then(|| &self.elements[self.start as usize..][..len])
    }

    /// Whether the view has the shape of a walk.
    pub(super) fn fits(&self, lines: &WalkShape) -> bool {
        lines.is_empty() || (self.planes.len() == lines.outer && self.columns.len() == lines.inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_in_place_or_gathered() {
        let elements: Vec<i32> = (0..24).collect();
        let plain = View::new(&elements, 0, &[2, 3, 4], &[12, 4, 1], 1);
        assert_eq!(plain.line(1, 2, 1..3, &mut Turned::default()), [21, 22]);
        let broadcast = View::new(&elements, 4, &[2, 3, 2, 2], &[0, 0, 0, 1], 1);
        assert_eq!(
            broadcast.line(1, 2, 1..4, &mut Turned::default()),
            [5, 4, 5]
        );
    }

    #[test]
    #[should_panic(expected = "out of its memory")]
    fn nothing_outside_is_read() {
        View::new(&[1, 2, 3], 1, &[3], &[1], 0);
    }
}

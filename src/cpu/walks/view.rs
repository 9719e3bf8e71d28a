//! An input of a walk: a tensor with any strides, read in place.

use core::ops::Range;

use super::Lines;

/// A tensor as a walk reads it: `[outer, len, inner]`, where `outer` and `inner` may stand for several dimensions each.
///
/// Here a line is the `inner` elements of one position along the axis, which the walk reads in one step.
pub(crate) struct View<'a, T> {
    elements: &'a [T],
    /// The place of each plane.
    planes: Vec<isize>,
    /// From one line to the next.
    step: isize,
    /// The place of each column in a line, unless the columns lie side by side.
    columns: Option<Vec<isize>>,
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
        if shape.contains(&0) {
            return Self {
                elements,
                planes: Vec::new(),
                step: 0,
                columns: None,
            };
        }
        let reach = |towards: fn(isize) -> bool| -> isize {
            let dims = shape.iter().zip(strides);
            dims.map(|(&size, &stride)| (size as isize - 1) * stride)
                .filter(|&far| towards(far))
                .sum()
        };
        let (lowest, highest) = (reach(|far| far < 0), reach(|far| far > 0));
        assert!(
            start as isize + lowest >= 0 && start as isize + highest < elements.len() as isize,
            "a tensor reaches out of its memory"
        );
        let mut planes = places(&shape[..dim], &strides[..dim]);
        planes.iter_mut().for_each(|place| *place += start as isize);
        let columns = places(&shape[dim + 1..], &strides[dim + 1..]);
        let side_by_side = columns.iter().enumerate().all(|(i, &at)| at == i as isize);
        Self {
            elements,
            planes,
            step: strides[dim],
            columns: (!side_by_side).then_some(columns),
        }
    }

    /// Some columns of a line, gathered in `room` where they do not lie side by side.
    #[inline]
    pub(super) fn line<'b>(
        &'b self,
        plane: usize,
        line: usize,
        columns: Range<usize>,
        room: &'b mut [T],
    ) -> &'b [T] {
        let first = self.planes[plane] + line as isize * self.step;
        match &self.columns {
            None => {
                let first = first as usize;
                &self.elements[first + columns.start..first + columns.end]
            }
            Some(places) => {
                let room = &mut room[..columns.len()];
                for (slot, place) in room.iter_mut().zip(&places[columns]) {
                    *slot = self.elements[(first + place) as usize];
                }
                room
            }
        }
    }

    /// The only column of some lines, gathered in `room` where the lines do not follow one another.
    #[inline]
    pub(super) fn chunk<'b>(
        &'b self,
        plane: usize,
        lines: Range<usize>,
        room: &'b mut [T],
    ) -> &'b [T] {
        let at = |line: usize| (self.planes[plane] + line as isize * self.step) as usize;
        match self.step {
            1 => &self.elements[at(lines.start)..at(lines.start) + lines.len()],
            0 => {
                let room = &mut room[..lines.len()];
                room.fill(self.elements[at(0)]);
                room
            }
            _ => {
                let room = &mut room[..lines.len()];
                for (slot, line) in room.iter_mut().zip(lines) {
                    *slot = self.elements[at(line)];
                }
                room
            }
        }
    }

    /// Whether the view has the shape of a walk.
    pub(super) fn fits(&self, lines: &Lines) -> bool {
        let inner = self.columns.as_ref().map_or(lines.inner, Vec::len);
        lines.is_empty() || (self.planes.len() == lines.outer && inner == lines.inner)
    }
}

/// The places of the elements of some dimensions, in row-major order.
fn places(shape: &[usize], strides: &[isize]) -> Vec<isize> {
    let mut places = vec![0];
    for (&size, &stride) in shape.iter().zip(strides) {
        places = places
            .iter()
            .flat_map(|&place| (0..size as isize).map(move |i| place + i * stride))
            .collect();
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_in_place_or_gathered() {
        let elements: Vec<i32> = (0..24).collect();
        let plain = View::new(&elements, 0, &[2, 3, 4], &[12, 4, 1], 1);
        assert_eq!(plain.line(1, 2, 1..3, &mut [0; 4]), [21, 22]);
        let broadcast = View::new(&elements, 4, &[2, 3, 2, 2], &[0, 0, 0, 1], 1);
        assert_eq!(broadcast.line(1, 2, 1..4, &mut [0; 4]), [5, 4, 5]);
        let flipped = View::new(&elements, 23, &[1, 6], &[0, -4], 1);
        assert_eq!(flipped.chunk(0, 1..4, &mut [0; 8]), [19, 15, 11]);
        let one = View::new(&elements, 7, &[3, 5], &[0, 0], 1);
        assert_eq!(one.chunk(2, 1..3, &mut [0; 8]), [7, 7]);
    }

    #[test]
    #[should_panic(expected = "out of its memory")]
    fn nothing_outside_is_read() {
        View::new(&[1, 2, 3], 1, &[3], &[1], 0);
    }
}

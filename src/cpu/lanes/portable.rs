//! Lanes in arrays, for any processor.

use core::mem::MaybeUninit;

use super::super::traits::{Accumulator, ElementType, Lanes};

#[derive(Clone, Copy)]
pub(crate) struct Portable<A, const COUNT: usize>([A; COUNT]);

/// The value of each lane. `core::array::from_fn` handles a panic halfway, and its functions were an eighth of the code
/// that this crate gives to LLVM.
#[inline(always)]
fn each<A: Copy, const COUNT: usize>(of: impl Fn(usize) -> A) -> [A; COUNT] {
    let mut lanes = MaybeUninit::<[A; COUNT]>::uninit();
    let first = lanes.as_mut_ptr().cast::<A>();
    for lane in 0..COUNT {
        // SAFETY: the array has room for this lane.
        unsafe { first.add(lane).write(of(lane)) };
    }
    // SAFETY: the loop wrote each lane.
    unsafe { lanes.assume_init() }
}

impl<A: Accumulator, const COUNT: usize> Portable<A, COUNT> {
    #[inline(always)]
    fn zip(self, other: Self, combine: impl Fn(A, A) -> A) -> Self {
        Self(each(|lane| combine(self.0[lane], other.0[lane])))
    }
}

impl<T: ElementType, const COUNT: usize> Lanes<T> for Portable<T::Acc, COUNT> {
    type Proof = ();

    const COUNT: usize = COUNT;
    const STEPS: usize = COUNT.ilog2() as usize;

    #[inline(always)]
    fn proof(self) {}

    #[inline(always)]
    unsafe fn load((): (), from: *const T) -> Self {
        Self(each(|lane| {
            // SAFETY: the caller has `COUNT` elements there.
            let element = unsafe { from.add(lane).read() };
            element.to_acc()
        }))
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        for lane in 0..COUNT {
            // SAFETY: the caller has room for `COUNT` elements there.
            unsafe { to.add(lane).write(T::from_acc(self.0[lane])) };
        }
    }

    #[inline(always)]
    fn splat((): (), value: T::Acc) -> Self {
        Self([value; COUNT])
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, Accumulator::add)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, Accumulator::mul)
    }

    #[inline(always)]
    fn mul_or_zero(self, other: Self) -> Self {
        self.zip(other, Accumulator::mul_or_zero)
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, Accumulator::max)
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, Accumulator::min)
    }

    #[inline(always)]
    fn taken_in(self, step: usize, fill: Self) -> Self {
        let by = 1 << step;
        Self(each(|lane| {
            let first = lane / by * by;
            if first / by % 2 == 1 {
                self.0[first - 1]
            } else {
                fill.0[lane]
            }
        }))
    }

    #[inline(always)]
    fn last(self) -> Self {
        Self([self.0[COUNT - 1]; COUNT])
    }

    #[inline(always)]
    fn pairs(self, next: Self, _step: usize) -> (Self, Self) {
        let at = |place: usize| match place.checked_sub(COUNT) {
            None => self.0[place],
            Some(place) => next.0[place],
        };
        let side = |right| Self(each(|lane| at(2 * lane + right)));
        (side(0), side(1))
    }

    #[inline(always)]
    fn shift_in(self, first: Self) -> Self {
        Self(each(|lane| {
            if lane == 0 {
                first.0[0]
            } else {
                self.0[lane - 1]
            }
        }))
    }

    #[inline(always)]
    fn reversed(self) -> Self {
        Self(each(|lane| self.0[COUNT - 1 - lane]))
    }

    #[inline(always)]
    fn for_each(self, mut each: impl FnMut(T::Acc)) {
        for &lane in &self.0 {
            each(lane);
        }
    }
}

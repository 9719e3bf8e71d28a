//! What a scan carries: scalars, alone or in pairs. How they are held in registers, passed between units and split into
//! words.

use cubecl::prelude::*;

/// One or several scalars of 32 or 64 bits that are accumulated together.
///
/// Every [`Numeric`] scalar is a state, and so is a [`Pair`] of states. An operator picks one of these; it need not
/// implement this trait.
#[cube]
pub trait State: CubeType<ExpandType: Assign + Clone> + Clone + Send + Sync + 'static {
    /// An array of states in shared memory.
    type Shared: CubeType;

    /// `yes` if the condition holds, else `no`. Without a branch.
    fn select(condition: bool, yes: &Self, no: &Self) -> Self;

    /// A copy of the state. `clone` would be another name for the same variable.
    fn copy(value: &Self) -> Self;

    /// The state of another unit of the plane. Every unit takes part.
    fn shuffle(value: &Self, lane: u32) -> Self;

    /// The state of the unit `distance` before this one; unspecified if there is none. Every unit takes part.
    fn shuffle_up(value: &Self, distance: u32) -> Self;

    /// Room for `len` states.
    fn allocate(#[comptime] len: usize) -> Self::Shared;

    /// The state at an index of the array.
    fn get(shared: &Self::Shared, at: usize) -> Self;

    /// Sets the state at an index of the array.
    fn set(shared: &mut Self::Shared, at: usize, value: &Self);

    /// The bits of the state in words, the lowest first.
    fn to_words(value: &Self) -> Sequence<u32>;

    /// The state whose bits begin with word `first`.
    fn from_words(words: &Sequence<u32>, #[comptime] first: usize) -> Self;

    /// How many words [`to_words`](State::to_words) gives.
    fn words() -> comptime_type!(usize);
}

#[cube]
impl<A: Numeric> State for A {
    type Shared = Shared<[A]>;

    fn select(condition: bool, yes: &A, no: &A) -> A {
        select(condition, *yes, *no)
    }

    fn copy(value: &A) -> A {
        *value
    }

    fn shuffle(value: &A, lane: u32) -> A {
        plane_shuffle(*value, lane)
    }

    fn shuffle_up(value: &A, distance: u32) -> A {
        plane_shuffle_up(*value, distance)
    }

    fn allocate(#[comptime] len: usize) -> Shared<[A]> {
        Shared::new_slice(len)
    }

    #[allow(
        clippy::let_and_return,
        reason = "without a variable the kernel gets a reference to shared memory"
    )]
    fn get(shared: &Shared<[A]>, at: usize) -> A {
        let value = shared[at];
        value
    }

    fn set(shared: &mut Shared<[A]>, at: usize, value: &A) {
        shared[at] = *value;
    }

    fn to_words(value: &A) -> Sequence<u32> {
        let mut words = Sequence::<u32>::new();
        let elem = elem_type_of::<A>();
        if comptime!(elem.size() <= 4) {
            words.push(u32::reinterpret(*value));
        } else {
            let bits = u64::reinterpret(*value);
            words.push(u32::cast_from(bits & 0xffff_ffffu64));
            words.push(u32::cast_from(bits >> 32u64));
        }
        words
    }

    fn from_words(words: &Sequence<u32>, #[comptime] first: usize) -> A {
        let elem = elem_type_of::<A>();
        if comptime!(elem.size() <= 4) {
            A::reinterpret(words[first])
        } else {
            let low = u64::cast_from(words[first]);
            let high = u64::cast_from(words[comptime!(first + 1)]);
            A::reinterpret(low | (high << 32u64))
        }
    }

    fn words() -> comptime_type!(usize) {
        let elem = elem_type_of::<A>();
        comptime!(elem.size().div_ceil(4))
    }
}

/// State number `at` of a buffer of states.
#[cube]
pub fn read_state<S: State>(buffer: &[u32], at: usize) -> S {
    let count = S::words().comptime();
    let mut words = Sequence::<u32>::new();
    #[unroll]
    for word in 0..count {
        words.push(buffer[at * count + word]);
    }
    S::from_words(&words, 0usize)
}

/// Writes state number `at` of a buffer of states.
#[cube]
pub fn write_state<S: State>(buffer: &mut [u32], at: usize, value: &S) {
    let count = S::words().comptime();
    let words = S::to_words(value);
    #[unroll]
    for word in 0..count {
        buffer[at * count + word] = words[word];
    }
}

/// Two states that are accumulated together.
#[derive(CubeType, CubeTypeMut, Clone)]
#[expand(derive(Clone))]
pub struct Pair<S: State, R: State> {
    /// One state.
    pub first: S,
    /// The other.
    pub second: R,
}

/// Two arrays of the same length.
#[derive(CubeType)]
pub struct SharedPair<S: State, R: State> {
    first: S::Shared,
    second: R::Shared,
}

#[cube]
impl<S: State, R: State> Pair<S, R> {
    /// Both states.
    pub fn new(first: S, second: R) -> Pair<S, R> {
        Pair::<S, R> { first, second }
    }
}

#[cube]
impl<S: State, R: State> State for Pair<S, R> {
    type Shared = SharedPair<S, R>;

    fn select(condition: bool, yes: &Pair<S, R>, no: &Pair<S, R>) -> Pair<S, R> {
        Pair::<S, R> {
            first: S::select(condition, &yes.first, &no.first),
            second: R::select(condition, &yes.second, &no.second),
        }
    }

    fn shuffle(value: &Pair<S, R>, lane: u32) -> Pair<S, R> {
        Pair::<S, R> {
            first: S::shuffle(&value.first, lane),
            second: R::shuffle(&value.second, lane),
        }
    }

    fn copy(value: &Pair<S, R>) -> Pair<S, R> {
        Pair::<S, R> {
            first: S::copy(&value.first),
            second: R::copy(&value.second),
        }
    }

    fn shuffle_up(value: &Pair<S, R>, distance: u32) -> Pair<S, R> {
        Pair::<S, R> {
            first: S::shuffle_up(&value.first, distance),
            second: R::shuffle_up(&value.second, distance),
        }
    }

    fn allocate(#[comptime] len: usize) -> SharedPair<S, R> {
        SharedPair::<S, R> {
            first: S::allocate(len),
            second: R::allocate(len),
        }
    }

    fn get(shared: &SharedPair<S, R>, at: usize) -> Pair<S, R> {
        Pair::<S, R> {
            first: S::get(&shared.first, at),
            second: R::get(&shared.second, at),
        }
    }

    fn set(shared: &mut SharedPair<S, R>, at: usize, value: &Pair<S, R>) {
        S::set(&mut shared.first, at, &value.first);
        R::set(&mut shared.second, at, &value.second);
    }

    fn to_words(value: &Pair<S, R>) -> Sequence<u32> {
        let mut words = S::to_words(&value.first);
        let others = R::to_words(&value.second);
        let count = R::words().comptime();
        #[unroll]
        for i in 0..count {
            words.push(others[i]);
        }
        words
    }

    fn from_words(words: &Sequence<u32>, #[comptime] first: usize) -> Pair<S, R> {
        let of_first = S::words().comptime();
        Pair::<S, R> {
            first: S::from_words(words, first),
            second: R::from_words(words, comptime!(first + of_first)),
        }
    }

    fn words() -> comptime_type!(usize) {
        let first = S::words().comptime();
        let second = R::words().comptime();
        comptime!(first + second)
    }
}

//! Lanes in the registers of AVX2: eight of 32 bits or four of 64.
//!
//! A scan of eight lanes takes three steps. In each step some lanes take in an earlier lane, and the others take in the
//! identity:
//!
//! ```text
//! x         a  b  c   d     e  f  g   h
//! by one    a  ab bc  cd    e  ef fg  gh         each half on its own
//! by two    a  ab abc abcd  e  ef efg efgh
//! halves    a  ab abc abcd  abcde ..             the upper half after the lower one's last
//! ```

#[macro_use]
mod shuffles;

/// Implements [`Lanes`] for a register. Registers differ in loads and stores, in the operators, and in the names of the
/// shuffles. A value holds its register and a proof of AVX2.
macro_rules! lanes {
    (
        $(#[$doc:meta])*
        $Name:ident($register:ty): $elem:ty as $acc:ty; $count:literal lanes;
        load($from:ident) $load:expr;
        store($value:ident, $to:ident) $store:expr;
        splat($one:ident) $splat:expr;
        operators { $($operator:ident($left:ident, $right:ident) $result:expr;)* }
        $($shuffles:tt)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $Name($register, Widest);

        impl Lanes<$elem> for $Name {
            type Proof = Widest;

            const COUNT: usize = $count;

            #[inline(always)]
            fn proof(self) -> Widest {
                self.1
            }

            #[inline(always)]
            unsafe fn load(proof: Widest, $from: *const $elem) -> Self {
                // SAFETY: `proof` proves AVX2 and F16C. The caller has these elements; the access needs no alignment.
                Self(unsafe { $load }, proof)
            }

            #[inline(always)]
            unsafe fn store(self, $to: *mut $elem) {
                let $value = self.0;
                // SAFETY: `self` has a proof of AVX2 and F16C. The caller has the room; the access needs no alignment.
                unsafe { $store }
            }

            #[inline(always)]
            fn splat(proof: Widest, $one: $acc) -> Self {
                // SAFETY: `proof` proves AVX2.
                Self(unsafe { $splat }, proof)
            }

            $(
                #[inline(always)]
                fn $operator(self, other: Self) -> Self {
                    let ($left, $right) = (self.0, other.0);
                    // SAFETY: `self` has a proof of AVX2.
                    Self(unsafe { $result }, self.1)
                }
            )*

            shuffles!($($shuffles)*);

            #[inline(always)]
            fn for_each(self, mut each: impl FnMut($acc)) {
                // SAFETY: a register of 32 bytes holds that many numbers, all of whose bits are values.
                let lanes: [$acc; $count] = unsafe { core::mem::transmute(self.0) };
                for &lane in &lanes {
                    each(lane);
                }
            }
        }
    };
}

mod floats;
mod integers;

pub(crate) use floats::{Bf16x8, F16x8, F32x8, F64x4};
pub(crate) use integers::{I8x8, I16x8, I32x8, I64x4, U8x8, U16x8, U32x8, U64x4};

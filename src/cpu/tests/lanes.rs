//! The lanes of the processor at hand against those of any processor.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use half::{bf16, f16};

use super::super::element::Element;
use super::super::lanes::{Kernel, Lanes, run};
use super::super::operator::{Max, Min, Operator, Prod, Sum};
use super::super::tile;
use super::*;

struct Tile<'a, T, O, const REVERSE: bool> {
    input: &'a [T],
    exclusive: bool,
    operator: PhantomData<O>,
}

impl<T: Element, O: Operator<T::Acc>, const REVERSE: bool> Kernel<T> for Tile<'_, T, O, REVERSE> {
    type Output = Vec<T>;

    fn run<L: Lanes<T>>(self) -> Vec<T> {
        let mut output = vec![MaybeUninit::uninit(); self.input.len()];
        tile::scan::<T, O, L, REVERSE>(self.input, &mut output, O::IDENTITY, self.exclusive);
        // SAFETY: the scan has written the whole output.
        output
            .into_iter()
            .map(|slot| unsafe { slot.assume_init() })
            .collect()
    }
}

fn check<T: Element, O: Operator<T::Acc>, const REVERSE: bool>(input: &[T]) {
    for len in [1, 3, 8, 13, 100, 1000, TILE] {
        for exclusive in [false, true] {
            let tile = || Tile::<T, O, REVERSE> {
                input: &input[..len],
                exclusive,
                operator: PhantomData,
            };
            let bytes = |elements: Vec<T>| -> Vec<u8> {
                // SAFETY: every element is a number without padding.
                let bytes = unsafe {
                    core::slice::from_raw_parts(
                        elements.as_ptr().cast::<u8>(),
                        size_of_val(elements.as_slice()),
                    )
                };
                bytes.to_vec()
            };
            assert!(
                bytes(run(tile())) == bytes(tile().run::<T::Portable>()),
                "{len} of {} by {}, exclusive {exclusive} reverse {REVERSE}",
                core::any::type_name::<T>(),
                core::any::type_name::<O>()
            );
        }
    }
}

fn check_all<T: Element>(number: impl Fn(u64) -> T) {
    let mut random = Random(2025);
    let input: Vec<T> = (0..TILE).map(|_| number(random.next())).collect();
    check::<T, Sum, false>(&input);
    check::<T, Sum, true>(&input);
    check::<T, Prod, false>(&input);
    check::<T, Prod, true>(&input);
    check::<T, Max, false>(&input);
    check::<T, Max, true>(&input);
    check::<T, Min, false>(&input);
    check::<T, Min, true>(&input);
}

#[test]
fn all_lanes_give_the_same_bits() {
    check_all(|bits| bits as i64 | 1);
    check_all(|bits| bits << 16 | 1);
    check_all(|bits| bits as i32 | 1);
    check_all(|bits| bits as u32 | 1);
    check_all(|bits| bits as i16 | 1);
    check_all(|bits| bits as u8 | 1);
    check_all(|bits| (bits % 4096) as f64 / 3000.0 - 0.4);
    check_all(|bits| (bits % 4096) as f32 / 3000.0 - 0.4);
    check_all(|bits| f16::from_f32((bits % 4096) as f32 / 3000.0 - 0.4));
    check_all(|bits| bf16::from_f32((bits % 4096) as f32 / 3000.0 - 0.4));
}

//! The lanes of the processor at hand against the portable lanes.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use half::{bf16, f16};

use super::super::lanes::{run, run_portable};
use super::super::operator::{Max, Min, Prod, Sum};
use super::super::tile::Rows;
use super::super::traits::{Combine, ElementType};
use super::*;

fn check<T: ElementType, O: Combine<T::Acc>, const REVERSE: bool>(input: &[T]) {
    for len in [1, 3, 8, 13, 100, 1000, TILE] {
        for exclusive in [false, true] {
            let bytes = |run: fn(Rows<T, O, REVERSE>) -> T::Acc| -> Vec<u8> {
                let mut output = vec![MaybeUninit::uninit(); len];
                run(Rows {
                    input: &input[..len],
                    output: &mut output,
                    len,
                    carry: O::IDENTITY,
                    exclusive,
                    operator: PhantomData,
                });
                // SAFETY: the scan has written the whole output.
                let written = unsafe { output.assume_init_ref() };
                bytemuck::cast_slice(written).to_vec()
            };
            assert!(
                bytes(|rows| run(rows)) == bytes(|rows| run_portable(rows)),
                "{len} of {} by {}, exclusive {exclusive} reverse {REVERSE}",
                core::any::type_name::<T>(),
                core::any::type_name::<O>()
            );
        }
    }
}

fn check_all<T: ElementType>(number: impl Fn(u64) -> T) {
    let mut random = Random(2025);
    let input: Vec<T> = (0..TILE).map(|_| number(random.next())).collect();
    let wrapping: &[T::Wrapping] = bytemuck::cast_slice(&input);
    check::<T::Wrapping, Sum, false>(wrapping);
    check::<T::Wrapping, Sum, true>(wrapping);
    check::<T::Wrapping, Prod, false>(wrapping);
    check::<T::Wrapping, Prod, true>(wrapping);
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
    check_all(|bits| bits as u16 | 1);
    check_all(|bits| bits as i8 | 1);
    check_all(|bits| (bits % 4096) as f64 / 3000.0 - 0.4);
    check_all(|bits| (bits % 4096) as f32 / 3000.0 - 0.4);
    check_all(|bits| f16::from_f32((bits % 4096) as f32 / 3000.0 - 0.4));
    check_all(|bits| bf16::from_f32((bits % 4096) as f32 / 3000.0 - 0.4));
}

//! Compaction, expansion and grouping.

use core::mem::MaybeUninit;

use super::super::buffer::as_slots;
use super::super::compress::{self, Word};
use super::super::huge_pages;
#[cfg(target_arch = "x86_64")]
use super::super::processor::HasAvx2;
use super::*;

/// Some masks of each length.
fn for_each_mask(mut check: impl FnMut(&mut Random, &[u8])) {
    let mut random = Random(4242);
    for len in LENGTHS
        .into_iter()
        .filter(|&len| len < 1 << 20 && has_time_for(len))
        .chain([(1 << 14) - 1, (1 << 14) + 1])
    {
        for percent in [0, 1, 50, 99, 100] {
            let mask = random.mask(len, percent);
            check(&mut random, &mask);
        }
    }
}

fn positions(mask: &[u8]) -> Vec<usize> {
    (0..mask.len()).filter(|&index| mask[index] != 0).collect()
}

#[test]
fn compacts() {
    fn check<T: Word + PartialEq>(mask: &[u8], value: impl Fn(u64) -> T, random: &mut Random) {
        let values: Vec<T> = mask.iter().map(|_| value(random.next())).collect();
        let mut expected: Vec<T> = positions(mask)
            .into_iter()
            .map(|index| values[index])
            .collect();
        assert!(compact(&values, mask) == expected);
        let count = expected.len();
        #[cfg(target_arch = "x86_64")]
        if HasAvx2::test().is_some() {
            let words = packed(mask, compress::pack).0;
            // SAFETY: the processor has AVX2. `compact` takes this form only where AVX-512 is missing.
            let compressed = filled(count, |slots| unsafe {
                compress::avx2::compress(&values, &words, slots);
            });
            assert!(compressed == expected);
        }
        expected.resize(mask.len(), T::default());
        assert!(compact_padded(&values, mask) == (expected, count));
    }
    for_each_mask(|random, mask| {
        assert_eq!(count_true(mask), positions(mask).len());
        assert_eq!(all_true(mask), !mask.contains(&0));
        assert!(compact_indices::<usize>(mask) == positions(mask));
        check(mask, |bits| bits as u8, random);
        check(mask, |bits| bits as u16, random);
        check(mask, |bits| bits as u32, random);
        check(mask, |bits| bits, random);
    });
}

/// In the form for the processor at hand and in the portable one. Any byte but zero is true.
#[test]
fn trues_are_counted() {
    let mut random = Random(3);
    for len in [0, 1, 31, 32, 33, 64, 100, 64 * 255, 2 * 64 * 255 + 77] {
        for most in [1, 2, 255] {
            let mask: Vec<u8> = (0..len)
                .map(|_| (random.next() % (most + 1)) as u8)
                .collect();
            let expected = mask.iter().filter(|&&byte| byte != 0).count();
            assert_eq!(count_true(&mask), expected, "{len}");
            let [(words, count), portable] =
                [compress::pack as Pack, compress::portable::pack].map(|pack| packed(&mask, pack));
            assert_eq!(count, expected, "{len}");
            assert!((words, count) == portable, "{len}");
        }
    }
}

type Pack = fn(&[u8], &mut [MaybeUninit<u64>]) -> usize;

/// The words of a mask, and its trues.
fn packed(mask: &[u8], pack: Pack) -> (Vec<u64>, usize) {
    let mut count = 0;
    let words = filled(mask.len().div_ceil(64), |words| count = pack(mask, words));
    for (index, &byte) in mask.iter().enumerate() {
        assert_eq!(words[index / 64] >> (index % 64) & 1, u64::from(byte != 0));
    }
    (words, count)
}

/// Every pattern of eight trues in the middle of a mask, in the form for the processor at hand and in the portable one.
#[test]
fn compresses_and_expands_every_pattern() {
    fn check<T: Word + PartialEq>(value: fn(u64) -> T) {
        let mut random = Random(17);
        for bits in 0..256 {
            let mut mask = random.mask(19, 50);
            mask.extend((0..8).map(|bit| 128 * (bits >> bit & 1) as u8));
            mask.extend(random.mask(13, 50));
            let trues = positions(&mask);
            let values: Vec<T> = mask.iter().map(|_| value(random.next())).collect();
            let kept: Vec<T> = trues.iter().map(|&index| values[index]).collect();
            let mut expanded = vec![T::default(); mask.len()];
            for &index in &trues {
                expanded[index] = values[index];
            }
            let words = &packed(&mask, compress::pack).0;
            for (compress, expand_by) in [
                (
                    compress::compress::<T> as Compress<T>,
                    compress::expand::<T> as Expand<T>,
                ),
                (
                    |values, words, kept, slots| {
                        assert_eq!(compress::portable::compress(values, words, slots), kept);
                    },
                    compress::portable::expand,
                ),
            ] {
                // With no slot more than survivors, and with as many slots as values.
                for len in [kept.len(), mask.len()] {
                    let mut slots = vec![MaybeUninit::new(T::default()); len];
                    compress(&values, words, kept.len(), &mut slots);
                    assert!(
                        filled(kept.len(), |all| all.copy_from_slice(&slots[..kept.len()])) == kept
                    );
                }
                assert!(filled(mask.len(), |slots| expand_by(&kept, words, slots)) == expanded);
            }
            let shifted: Vec<usize> = trues.iter().map(|&index| index + 1000).collect();
            let narrow: Vec<u32> = shifted.iter().map(|&index| index as u32).collect();
            let find = |slots: &mut [_]| compress::positions::<u32>(words, 1000, slots);
            assert!(filled(trues.len(), find) == narrow);
            let find = |slots: &mut [_]| compress::positions::<usize>(words, 1000, slots);
            assert!(filled(trues.len(), find) == shifted);
            let find = |slots: &mut [_]| {
                assert_eq!(
                    compress::portable::positions::<usize>(words, 1000, slots),
                    trues.len()
                );
            };
            assert!(filled(trues.len(), find) == shifted);
        }
    }
    type Compress<T> = fn(&[T], &[u64], usize, &mut [MaybeUninit<T>]);
    type Expand<T> = fn(&[T], &[u64], &mut [MaybeUninit<T>]);
    check(|bits| bits as u8);
    check(|bits| bits as u16);
    check(|bits| bits as u32);
    check(|bits| bits);
}

/// `len` slots as `fill` has written them.
fn filled<T: Copy>(len: usize, fill: impl FnOnce(&mut [MaybeUninit<T>])) -> Vec<T> {
    let mut output = Output::new(len);
    fill(output.slots());
    // SAFETY: `fill` writes every slot.
    unsafe { output.finish() }
}

#[test]
fn expands() {
    for_each_mask(|random, mask| {
        let count = count_true(mask);
        for given in [count, count / 2, count + 3, 0] {
            let values: Vec<u32> = (0..given).map(|_| random.next() as u32).collect();
            let mut expected = vec![0; mask.len()];
            for (&value, index) in values.iter().zip(positions(mask)) {
                expected[index] = value;
            }
            assert!(expand(&values, mask) == expected);
        }
    });
}

#[test]
fn finds_coordinates() {
    let mut random = Random(99);
    for shape in [
        &[5usize][..],
        &[0, 3],
        &[3, 1],
        &[1, 7],
        &[70, 90],
        &[20, 3, 1, 41],
        &[2, 40_000, 2],
        &[1],
    ] {
        for percent in [0, 5, 50, 100] {
            let mask = random.mask(shape.iter().product(), percent);
            let mut expected = Vec::new();
            for index in positions(&mask) {
                let mut stride = mask.len();
                for &size in shape {
                    stride /= size;
                    expected.push((index / stride % size) as i64);
                }
            }
            assert_eq!(argwhere::<i64>(&mask, shape), expected);
        }
    }
}

#[test]
fn selects_and_restores_rows() {
    let mut random = Random(7);
    for [outer, len, inner] in [
        [1, 1, 1],
        [0, 4, 2],
        [2, 0, 3],
        [3, 5, 0],
        [4, 7, 1],
        [1, 50_000, 1],
        [3, 129, 5],
        [70, 31, 64],
    ] {
        for percent in [0, 30, 100] {
            let mask = random.mask(len, percent);
            let values: Vec<u16> = (0..outer * len * inner)
                .map(|_| random.next() as u16)
                .collect();
            let kept = positions(&mask);
            let row = |plane: usize, line: usize| &values[(plane * len + line) * inner..][..inner];
            let (mut compacted, mut padded, mut restored) =
                (Vec::<u16>::new(), Vec::new(), Vec::<u16>::new());
            for plane in 0..outer {
                for &line in &kept {
                    compacted.extend(row(plane, line));
                    padded.extend(row(plane, line));
                }
                padded.extend(vec![0; (len - kept.len()) * inner]);
                for (line, &byte) in mask.iter().enumerate() {
                    restored.extend(
                        row(plane, line)
                            .iter()
                            .map(|&x| if byte != 0 { x } else { 0 }),
                    );
                }
            }
            assert_eq!(compact_rows(&values, &mask, outer, inner), compacted);
            assert_eq!(
                compact_rows_padded(&values, &mask, outer, inner),
                (padded, kept.len())
            );
            assert_eq!(expand_rows(&compacted, &mask, outer, inner), restored);
        }
    }
}

#[test]
fn partitions() {
    let mut random = Random(31);
    for len in [0, 1, 5, 1000, (1 << 15) - 1, 150_003] {
        for num_keys in [0, 1, 2, 7, 300, 9000] {
            let keys: Vec<i64> = (0..len)
                .map(|_| (random.next() % (num_keys as u64 + 2)) as i64 - 1)
                .collect();
            let valid = 0..num_keys as i64;
            let mut order: Vec<usize> = (0..len)
                .filter(|&index| valid.contains(&keys[index]))
                .collect();
            order.sort_by_key(|&index| keys[index]);
            let mut ranks = vec![-1; len];
            for (rank, &index) in order.iter().enumerate() {
                ranks[index] = rank as i64;
            }
            let offsets: Vec<i64> = (0..=num_keys)
                .map(|key| order.partition_point(|&index| keys[index] < key as i64) as i64)
                .collect();
            let narrow = |indices: &[i64]| indices.iter().map(|&i| i as i32).collect::<Vec<_>>();
            let narrowed = (narrow(&ranks), narrow(&offsets));
            assert!(partition_ranks::<i64, i32>(&keys, num_keys) == narrowed);
            assert!(partition_ranks::<i32, i64>(&narrow(&keys), num_keys) == (ranks, offsets));
        }
    }
}

#[test]
fn scatters_and_gathers() {
    let mut random = Random(5);
    for len in [0, 1, 1000, (1 << 17) + 5] {
        // A permutation. Every seventh element has no destination: below zero, or too large.
        let destinations: Vec<i64> = (0..len)
            .map(|index: i64| match index % 14 {
                3 => -1 - index,
                10 => len + index,
                _ => len - 1 - index,
            })
            .collect();
        let values: Vec<u32> = destinations
            .iter()
            .map(|_| random.next() as u32 | 1)
            .collect();
        let (mut scattered, mut gathered) =
            (vec![0; destinations.len()], vec![0; destinations.len()]);
        for (index, &to) in destinations.iter().enumerate() {
            if (0..len).contains(&to) {
                scattered[to as usize] = values[index];
                gathered[index] = values[to as usize];
            }
        }
        assert!(scatter(&values, &destinations) == scattered);
        assert!(gather(&values, &destinations) == gathered);
    }
}

/// Memory that was used before, as the buffer cache has it.
#[test]
fn cleared_pages_are_zero() {
    for len in [0, 1000, 5 << 20] {
        let mut memory = vec![u32::MAX; len + 2];
        let (before, after) = huge_pages::clear(&mut as_slots(&mut memory)[1..=len]);
        let (before, after) = (before.len(), after.len());
        assert!(before + after <= len);
        if cfg!(target_os = "linux") && len > 1 << 20 {
            assert!(before + after <= 1 << 20, "{before} and {after} are left");
        }
        let (written, rest) = memory.split_at(1 + before);
        let (cleared, last) = rest.split_at(len - before - after);
        assert!(written.iter().chain(last).all(|&word| word == u32::MAX));
        assert!(cleared.iter().all(|&word| word == 0));
    }
}

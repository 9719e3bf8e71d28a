//! Compaction, expansion and grouping.

use half::f16;

use super::*;

/// Some masks of each length.
fn for_each_mask(mut check: impl FnMut(&mut Random, &[u8])) {
    let mut random = Random(4242);
    for len in LENGTHS
        .into_iter()
        .filter(|&len| len < 1 << 20)
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
    fn check<T: Copy + Default + Send + Sync + PartialEq>(
        mask: &[u8],
        value: impl Fn(u64) -> T,
        random: &mut Random,
    ) {
        let values: Vec<T> = mask.iter().map(|_| value(random.next())).collect();
        let mut expected: Vec<T> = positions(mask)
            .into_iter()
            .map(|index| values[index])
            .collect();
        assert!(compact(&values, mask) == expected);
        let count = expected.len();
        expected.resize(mask.len(), T::default());
        assert!(compact_padded(&values, mask) == (expected, count));
    }
    for_each_mask(|random, mask| {
        assert_eq!(count_true(mask), positions(mask).len());
        assert!(compact_indices::<usize>(mask) == positions(mask));
        check(mask, |bits| bits as u8, random);
        check(mask, |bits| f16::from_bits(bits as u16 & 0x7BFF), random);
        check(mask, |bits| bits as u32, random);
        check(mask, |bits| bits as i64, random);
    });
}

#[test]
fn expands() {
    for_each_mask(|random, mask| {
        let count = count_true(mask);
        for given in [count, count / 2, count + 3, 0] {
            let values: Vec<i32> = (0..given).map(|_| random.next() as i32).collect();
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
        &[2, 30_000, 2],
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
fn keeps_and_restores_rows() {
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
            let values: Vec<i16> = (0..outer * len * inner)
                .map(|_| random.next() as i16)
                .collect();
            let kept = positions(&mask);
            let row = |plane: usize, line: usize| &values[(plane * len + line) * inner..][..inner];
            let (mut compacted, mut padded, mut restored) =
                (Vec::<i16>::new(), Vec::new(), Vec::<i16>::new());
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
    for len in [0, 1, 5, 1000, (1 << 15) - 1, 100_003] {
        for num_keys in [0, 1, 2, 7, 300, 9000] {
            let keys: Vec<i64> = (0..len)
                .map(|_| (random.next() % (num_keys as u64 + 2)) as i64 - 1)
                .collect();
            let mut order: Vec<usize> = (0..len)
                .filter(|&index| (0..num_keys as i64).contains(&keys[index]))
                .collect();
            order.sort_by_key(|&index| keys[index]);
            let offsets: Vec<usize> = (0..=num_keys)
                .map(|key| order.partition_point(|&index| keys[index] < key as i64))
                .collect();
            assert!(partition_permutation(&keys, num_keys) == (order, offsets));
        }
    }
}

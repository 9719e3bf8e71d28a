//! Rows of any length, and runs.

use super::*;

/// Offsets outside of the elements count as their number, and offsets below an earlier one as that one.
#[test]
fn bad_offsets_are_bounded() {
    let bounds = Bounds::new(&[0, 4, 2, 9], 6);
    assert_eq!(segment_ids::<i32>(&bounds), [0, 0, 0, 0, 2, 2]);
    assert_eq!(repeat_rows(&[7u8, 8, 9], &bounds, 1), [7, 7, 7, 7, 9, 9]);
    let sums = segment_reduce(&[1, 2, 3, 4, 5, 6], &bounds, 1, ScanOp::Sum);
    assert_eq!(sums, [10, 0, 11]);
    let below = Bounds::new(&[0, -1, 3], 4);
    assert_eq!(segment_ids::<i32>(&below), [0; 4]);
}

#[test]
fn rows_of_several_blocks() {
    let bounds = Bounds::new(&[0, 16_384, 16_384, 40_000, 40_001, 50_000], 50_000);
    for width in [1, 3] {
        let sums = segment_reduce(&vec![1; 50_000 * width], &bounds, width, ScanOp::Sum);
        let lengths = [16_384, 0, 23_616, 1, 9_999].map(|length| vec![length; width]);
        assert_eq!(sums, lengths.concat());
    }
}

#[test]
fn runs_of_several_blocks() {
    let mut random = Random(55);
    let elements: Vec<u32> = (0..150_000).map(|_| random.next() as u32 % 4 / 3).collect();
    let (values, lengths): (Vec<_>, Vec<_>) = (elements.chunk_by(|a, b| a == b))
        .map(|run| (run[0], run.len()))
        .unzip();
    let found = run_lengths::<u32, usize>(&elements, false);
    let count = values.len();
    assert!(found == (values, lengths, count));
}

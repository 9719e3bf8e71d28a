//! Segments given by offsets, and segmented sums.

use crate::{offsets, with_guarded_scratch};
use cubecl::prelude::*;
use cubecl_scan::ScanOp;
use cubecl_scan::monoid::Fold;
use cubecl_scan::segments::{repeat, segment_ids, segment_reduce, segment_sums};
use scan_testing::Guarded;
use scan_testing::kernels::*;
use scan_testing::reference;

/// Offsets of many kinds. Some lead out of the rows.
#[test]
fn write_nothing_but_their_output() {
    let (client, int) = (client(), i32::elem_type_native());
    for offset in offsets(&client, size_of::<i32>()) {
        for (starts, len) in [
            (vec![0, 3, 3, 90, 130], 130),
            (vec![0, 3, 3, 90, 200], 130),
            (vec![0, 5, 5, 3001, 3002, 5000], 5001),
            (vec![9, 2, -4, i32::MAX, 40], 130),
            (vec![0, 0], 64),
        ] {
            let is_good = starts.is_sorted() && starts[starts.len() - 1] as usize <= len;
            let data: Vec<i32> = (1..=len as i32).collect();
            let n = starts.len() - 1;
            let offsets_in = Guarded::new(&client, &starts, offset);
            let data_in = Guarded::new(&client, &data, offset);
            let ids = Guarded::empty(&client, len * size_of::<i32>(), offset);
            let totals = Guarded::empty(&client, n * size_of::<i32>(), offset);
            let repeated = Guarded::empty(&client, len * size_of::<i32>(), offset);
            let rows: Vec<i32> = (1..=n as i32).collect();
            let rows_in = Guarded::new(&client, &rows, offset);
            let offsets_arg = || (flat(&offsets_in.handle(), n + 1), int);
            let launches = || {
                segment_ids(&client, offsets_arg(), flat(&ids.handle(), len), len)
                    .expect("supported");
                segment_reduce::<Fold>(
                    &client,
                    flat(&data_in.handle(), len),
                    offsets_arg(),
                    flat(&totals.handle(), n),
                    [len, 1],
                    int,
                    ScanOp::Sum,
                )
                .expect("supported");
                let (rows, room) = (flat(&rows_in.handle(), n), flat(&repeated.handle(), len));
                repeat(&client, rows, offsets_arg(), room, [len, 1], int).expect("supported");
            };
            with_guarded_scratch(&client, launches);
            let repeated = repeated.read::<i32>(&client);
            assert_eq!(offsets_in.read::<i32>(&client), starts);
            assert_eq!(data_in.read::<i32>(&client), data);
            let (ids, totals) = (ids.read::<i32>(&client), totals.read::<i32>(&client));
            if is_good {
                let ends = &starts[1..];
                let expected =
                    (0..len as i32).map(|i| ends.iter().filter(|&&end| end <= i).count());
                let row = |id: usize| rows.get(id).copied().unwrap_or_default();
                assert!(repeated.into_iter().eq(expected.clone().map(row)));
                assert!(ids.into_iter().map(|id| id as usize).eq(expected));
                let rows = starts
                    .windows(2)
                    .map(|row| row[0] as usize..row[1] as usize);
                assert!(
                    totals
                        .into_iter()
                        .eq(rows.map(|row| data[row].iter().sum::<i32>()))
                );
            }
        }
    }
}

#[test]
fn sums_of_segments_stay_inside() {
    let (client, int) = (client(), i32::elem_type_native());
    for offset in offsets(&client, size_of::<i32>()) {
        for (shape, axis) in [([1, 200], 1), ([5000, 3], 1), ([130, 7], 0)] {
            let n = shape[0] * shape[1];
            let values: Vec<i32> = (0..n).map(|i| i as i32 % 11 + 1).collect();
            let heads: Vec<u32> = (0..n).map(|i| u32::from(mixed(i) % 5 == 0)).collect();
            let [values_in, heads_in] = [
                Guarded::new(&client, &values, offset),
                Guarded::new(&client, &heads, offset),
            ];
            let output = Guarded::empty(&client, size_of_val(&values[..]), offset);
            let view = View::contiguous(&shape);
            with_guarded_scratch(&client, || {
                segment_sums(
                    &client,
                    tensor(values_in.handle(), &view),
                    (tensor(heads_in.handle(), &view), u32::elem_type_native()),
                    tensor(output.handle(), &view),
                    axis,
                    int,
                    false,
                )
                .expect("supported");
            });
            let expected = reference::segment_sums(&values, &heads, &shape, axis, false);
            assert_eq!(output.read::<i32>(&client), expected, "{shape:?}");
            assert_eq!(values_in.read::<i32>(&client), values, "the values changed");
            assert_eq!(heads_in.read::<u32>(&client), heads, "the heads changed");
        }
    }
}

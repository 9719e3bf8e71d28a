//! Gradients of recurrences.

use crate::{offsets, with_guarded_scratch};
use cubecl::prelude::*;
use cubecl_scan::adjoint::{RecurrenceGradients, recurrence_adjoint};
use scan_testing::Guarded;
use scan_testing::kernels::*;
use scan_testing::reference;

#[test]
fn of_recurrences_stay_inside() {
    let (client, float) = (client(), f32::elem_type_native());
    let launch = launch();
    for offset in offsets(&client, size_of::<f32>()) {
        for shape in [[3, 200, 1], [2, 33, 3], [1, 9, 64]] {
            let (n, lines) = (shape.iter().product::<usize>(), shape[0] * shape[2]);
            let small = |i: usize| (mixed(i) % 3) as f32 - 1.0;
            let all: [Vec<f32>; 4] = [n, n, n, lines].map(|n| (0..n).map(small).collect());
            let inputs = [0, 1, 2, 3].map(|i| Guarded::new(&client, &all[i], offset));
            let outputs =
                [n, n, lines].map(|n| Guarded::empty(&client, n * size_of::<f32>(), offset));
            let [view, ends] =
                [&shape, &[shape[0], 1, shape[2]]].map(|shape| View::contiguous(shape));
            let of = |it: &Guarded| tensor(it.handle(), &view);
            let of_line = |it: &Guarded| tensor(it.handle(), &ends);
            with_guarded_scratch(&client, || {
                let gradients = RecurrenceGradients {
                    flow: of(&inputs[0]),
                    decay: of(&inputs[1]),
                    results: of(&inputs[2]),
                    of_values: of(&outputs[0]),
                    of_decay: of(&outputs[1]),
                    initial: Some([of_line(&inputs[3]), of_line(&outputs[2])]),
                };
                recurrence_adjoint(&client, gradients, 1, float, false, launch).expect("supported");
            });
            let three = [&all[0][..], &all[1], &all[2]];
            let expected = reference::recurrence_adjoint(three, &all[3], &shape, 1, false);
            for (output, expected) in outputs.iter().zip(expected) {
                assert_eq!(output.read::<f32>(&client), expected, "{shape:?}");
            }
            for (input, values) in inputs.iter().zip(&all) {
                assert_eq!(input.read::<f32>(&client), *values, "an input changed");
            }
        }
    }
}

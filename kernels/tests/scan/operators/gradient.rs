//! The gradient of a linear recurrence: its inputs, its results by a plain loop, and its tensors on the device.

use super::oracle::Oracle;
use super::oracles::{Recurrences, Sums};
use cubecl::client::Client;
use cubecl::server::Handle;
use cubecl_scan::adjoint::RecurrenceGradients;
use scan_testing::kernels::{View, sentinel, tensor, upload};
use scan_testing::reference;

pub struct Gradient {
    /// `[outer, len, inner]`, scanned along `len`.
    pub shape: [usize; 3],
    pub flow: Vec<f32>,
    pub decay: Vec<f32>,
    pub results: Vec<f32>,
    pub initial: Vec<f32>,
}

impl Gradient {
    /// Decays of −1, 0 and 1, and other inputs small integers: every result is exact.
    pub fn drawn(shape: [usize; 3]) -> Self {
        let (n, lines) = (shape.iter().product(), shape[0] * shape[2]);
        let [flow, decay] = Recurrences::elements(n).try_into().expect("two inputs");
        let mut results = Sums::elements(n + lines).swap_remove(0);
        let initial = results.split_off(n);
        Self {
            shape,
            flow,
            decay,
            results,
            initial,
        }
    }

    /// The gradients of values, decays and initial values.
    pub fn expected(&self, reverse: bool) -> [Vec<f32>; 3] {
        let inputs = [&self.flow[..], &self.decay, &self.results];
        reference::recurrence_adjoint(inputs, &self.initial, &self.shape, 1, reverse)
    }

    /// All tensors, and the buffers for the device's results.
    pub fn tensors(&self, client: &Client, resumes: bool) -> (RecurrenceGradients, [Handle; 3]) {
        let [outer, _, inner] = self.shape;
        let [view, ends] = [&self.shape, &[outer, 1, inner]].map(|shape| View::contiguous(shape));
        let of = |values: &[f32], view: &View| tensor(upload(client, values), view);
        let lengths = [self.flow.len(), self.flow.len(), self.initial.len()];
        let rooms = lengths.map(|n| sentinel(client, n));
        let [of_values, of_decay, of_initial] = rooms.clone();
        let tensors = RecurrenceGradients {
            flow: of(&self.flow, &view),
            decay: of(&self.decay, &view),
            results: of(&self.results, &view),
            of_values: tensor(of_values, &view),
            of_decay: tensor(of_decay, &view),
            initial: resumes.then(|| [of(&self.initial, &ends), tensor(of_initial, &ends)]),
        };
        (tensors, rooms)
    }
}

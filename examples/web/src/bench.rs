//! One operation on one size, run again and again. The page takes the time.

use burn::tensor::{Bool, Device, Distribution, Tensor};
use burn_scan::prelude::*;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::{device, elements};

/// An operation and its input on the device.
#[wasm_bindgen]
pub struct Bench {
    operation: Operation,
    device: Device,
    values: Tensor<1>,
    mask: Tensor<1, Bool>,
}

type Operation = fn(Tensor<1>, Tensor<1, Bool>) -> Tensor<1>;

/// Operations by the page's names. A copy, for comparison, reads and writes each element once.
const OPERATIONS: [(&str, Operation); 5] = [
    ("copy", |x, _| x + 1.0),
    ("cumsum", |x, _| x.inclusive_cumsum(0)),
    ("compaction", |x, mask| x.compact_by_mask_padded(mask).0),
    ("sort", |x, _| x.radix_sort(0, SortOrder::Ascending)),
    ("burn", |x, _| x.cumsum(0)),
];

#[wasm_bindgen]
impl Bench {
    /// Makes `n` random elements, of which a mask keeps half.
    ///
    /// # Errors
    ///
    /// An operation that is not in the table.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, n: usize) -> Result<Bench, String> {
        let device = device();
        let known = OPERATIONS.iter().find(|(known, _)| *known == name);
        let (_, operation) = known.ok_or_else(|| format!("no operation `{name}`"))?;
        let values = Tensor::<1>::random([n], Distribution::Uniform(-1.0, 1.0), &device);
        Ok(Self {
            operation: *operation,
            mask: values.clone().greater_scalar(0.0),
            values,
            device,
        })
    }

    /// Runs it `rounds` times and waits for the device.
    ///
    /// # Errors
    ///
    /// What the device said.
    pub async fn run(&self, rounds: usize) -> Result<(), String> {
        let mut last = None;
        for _ in 0..rounds {
            last = Some((self.operation)(self.values.clone(), self.mask.clone()));
            // Burn would fuse the copies of several rounds into one.
            let flushed = self.device.flush();
            flushed.map_err(|error| format!("the GPU does not answer: {error:?}"))?;
        }
        match last {
            Some(last) => elements::<f32, 1, _>(last.slice_dim(0, 0..1))
                .await
                .map(drop),
            None => Ok(()),
        }
    }
}

//! [`Sharded`].

mod carry;
mod checks;
mod compact;
mod recurrence;
mod scan;
mod together;
mod total;

use super::transfer::{joined, of_its_kind, transfer};
use crate::check;
use burn::tensor::kind::Basic;
use burn::tensor::{AsIndex, Device, Tensor};
use checks::{SHARDED, SPLIT};
use together::together;

/// A tensor that is split along one dimension into consecutive shards. The shards lie on devices of the caller's
/// choice: on this machine, and on servers of Burn's remote backend.
///
/// The shards agree in dtype and in all dimensions but the split one. Along the split dimension each shard has its own
/// length, which may be 0. Several shards may lie on one device.
///
/// # Results
///
/// Integer results equal the results of the whole tensor, bit for bit. Float results do so as far as their operations
/// are exact: a carry is rounded to the dtype between shards, and the lengths of the shards are part of the order of
/// operations. f16 and bf16 are an exception: they are scanned as f32, and a result is rounded once. NaN and infinities
/// go from shard to shard as from element to element. The same shards on the same devices give the same bits in every
/// run, whatever the speed of the devices: the order of operations depends on the positions alone.
///
/// Float results are differentiable with respect to all shards. Gradients travel the path of the carries backwards.
///
/// # Waiting
///
/// The only results that are waited for are the counts of [`compact_dim_by_mask`](Self::compact_dim_by_mask). Tensors
/// move with Burn's [`Tensor::to_device`]. It waits if a tensor leaves a device that queues operations for a backend of
/// another kind (from a GPU to the CPU or to a server, from a server to this machine), because the tensor then goes
/// through the memory of the host. It does not wait between servers, nor between devices of one runtime. Use servers on
/// Iroh where shards lie on several: between two WebSocket servers of Burn 0.22.1 a move under load can miss its tensor
/// and wait for ever. Burn moves nothing between a server on Iroh and one on WebSocket.
///
/// # Panics
///
/// In Burn's message form: where the operation on one tensor does; no shards; shards that differ in dtype (booleans
/// count as one dtype, however each device stores them) or in a dimension other than the split one; float shards of
/// which only some are on autodiff devices; no devices to split over, or a device that does not hold the dtype; shards
/// of masks and decays whose number differs from the shards of values, or that do not fit them. Everything is checked
/// before anything is launched.
///
/// # Algorithm
///
/// Reduce, then scan (Blelloch, "Prefix sums and their applications", 1990). Every shard but the last is reduced to
/// its total, on all devices at once. The totals are folded in order, each on its device; only the running total moves
/// on. Then every shard but the first is scanned from the running total before it.
///
/// ```text
/// device       A            B            C
/// shard     | 1 2 3 |    | 4 5 |     | 6 7 8 |
/// total         6            9                      at once
/// carry         └──── 6 ────→└──── 15 ───→          one element per line, S − 1 times
/// scan       1 3 6        10 15       21 28 36      at once
/// ```
///
/// `S − 1` elements of each line move, however long the shards are. A shard is read twice. On the CPU a total is a
/// reduction, elsewhere the last slice of a scan. The order of additions of both is always the same. Burn's own
/// reductions do not promise that: they choose their routine by measured time.
///
/// # Example
///
/// ```
/// use burn::tensor::{Int, Tensor};
/// use burn_scan::prelude::*;
///
/// let device = burn::tensor::Device::flex(); // any devices, this machine's or servers
/// let tensor = Tensor::<1, Int>::from_data([1, 2, 3, 4, 5], &device);
/// let shards = Sharded::split(tensor, 0, &[device.clone(), device.clone()]);
/// let sums = shards.inclusive_cumsum();
/// assert_eq!(sums.shards()[1].clone().into_data().try_to_vec::<i32>().unwrap(), [10, 15]);
/// assert_eq!(sums.gather(&device).into_data().try_to_vec::<i32>().unwrap(), [1, 3, 6, 10, 15]);
/// ```
#[derive(Clone, Debug)]
pub struct Sharded<const D: usize, K: Basic> {
    shards: Vec<Tensor<D, K>>,
    dim: usize,
}

impl<const D: usize, K: Basic> Sharded<D, K> {
    /// Takes tensors as the consecutive shards of a tensor that is split along `dim`. Nothing moves.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::Tensor;
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let first = Tensor::<2>::ones([2, 3], &device);
    /// let second = Tensor::<2>::ones([2, 1], &device);
    /// let rows = Sharded::new(vec![first, second], -1).reverse_cumsum().gather(&device);
    /// assert_eq!(rows.into_data().try_to_vec::<f32>().unwrap(), [4., 3., 2., 1., 4., 3., 2., 1.]);
    /// ```
    pub fn new<I: AsIndex>(shards: Vec<Tensor<D, K>>, dim: I) -> Self {
        let dim = check::dim(SHARDED, dim, D);
        checks::shards(&shards, dim);
        Self { shards, dim }
    }

    /// Splits a tensor into one part for each device, and moves each part to its device. The lengths differ by at most
    /// one; the longer parts come first.
    ///
    /// # Example
    ///
    /// ```
    /// use burn::tensor::Tensor;
    /// use burn_scan::prelude::*;
    ///
    /// let device = burn::tensor::Device::flex();
    /// let devices = vec![device.clone(); 3];
    /// let parts = Sharded::split(Tensor::<1>::ones([8], &device), 0, &devices);
    /// let lengths: Vec<usize> = parts.shards().iter().map(|shard| shard.dims()[0]).collect();
    /// assert_eq!(lengths, [3, 3, 2]);
    /// ```
    pub fn split<I: AsIndex>(tensor: Tensor<D, K>, dim: I, devices: &[Device]) -> Self {
        let dim = check::dim(SPLIT, dim, D);
        checks::devices(&tensor, devices);
        let tensor = of_its_kind(tensor);
        let (len, parts) = (tensor.dims()[dim], devices.len());
        let begin = |part: usize| len / parts * part + part.min(len % parts);
        let part = |(part, device)| {
            let range = begin(part)..begin(part + 1);
            let part = if range.len() == len {
                tensor.clone()
            } else {
                tensor.clone().slice_dim(dim, range)
            };
            transfer(part, device)
        };
        Self {
            shards: devices.iter().enumerate().map(part).collect(),
            dim,
        }
    }

    /// The shards in order, each on its device.
    pub fn shards(&self) -> &[Tensor<D, K>] {
        &self.shards
    }

    /// The shards in order, each on its device.
    pub fn into_shards(self) -> Vec<Tensor<D, K>> {
        self.shards
    }

    /// All shards as one tensor on `device`.
    pub fn gather(self, device: &Device) -> Tensor<D, K> {
        let Self { shards, dim } = self;
        checks::gathered(&shards, dim, device);
        // All devices start their queued operations before the first device is waited for.
        let shards = together(&shards, |shard, _| Some(shard.clone()));
        let moved = |shard: Option<Tensor<D, K>>| transfer(shard.expect("each"), device);
        joined(shards.into_iter().map(moved).collect(), dim)
    }
}

//! [`Sharded`].

mod carry;
mod checks;
mod compact;
mod recurrence;
mod scan;
mod together;
mod total;

use super::transfer::{joined, transfer};
use crate::check;
use burn::tensor::kind::Basic;
use burn::tensor::{AsIndex, Device, Tensor};
use checks::{SHARDED, SPLIT};
use together::together;

/// A tensor cut along one dimension into consecutive shards, which lie on devices of the caller's choice: this
/// machine's, and those of servers of Burn's remote backend.
///
/// The shards agree in dtype and in all dimensions but the one that is cut; along that each has a length of its own,
/// which may be 0. Several may lie on one device.
///
/// # Results
///
/// Integers are those of the uncut tensor, bit for bit. Floats are so as far as their operations are exact: a carry
/// is rounded to the dtype between shards, and the cut into shards is part of the order of operations. f16 and bf16
/// are an exception: they are scanned as f32, and a result is rounded once. NaN and infinities go from shard to shard
/// as from element to element. The same shards on the same devices give the same bits in every run, whatever the
/// devices' speed: what is combined with what depends on the positions alone.
///
/// Float results are differentiable with respect to all shards; gradients travel back as the carries came.
///
/// # Waiting
///
/// No result is waited for but the counts of [`compact_dim_by_mask`](Self::compact_dim_by_mask). Tensors move by
/// Burn's [`Tensor::to_device`], which waits where a tensor leaves a device that queues for a backend of another kind
/// (from a GPU to the CPU or to a server, from a server to this machine), because it goes through the host's memory
/// there. Between servers, and between devices of one runtime, it does not wait; Burn moves nothing between a server
/// on Iroh and one on WebSocket.
///
/// # Panics
///
/// In Burn's message form: where the operation on one tensor does; no shards; shards that differ in dtype (booleans
/// count as one dtype, however each device stores them) or in another dimension than the one that is cut; float
/// shards of which some are on autodiff devices and some are not; no devices to split over, or one that does not hold
/// the dtype; shards of masks and decays that are not as many, or do not fit those of the values. All is checked
/// before anything is launched.
///
/// # Algorithm
///
/// Reduce, then scan (Blelloch, "Prefix sums and their applications", 1990). Every shard but the last is reduced to
/// its total, on all devices at once; the totals are folded in order, each where it is, and only the running total
/// moves on; every shard but the first is then scanned from what came before it.
///
/// ```text
/// device       A            B            C
/// shard     | 1 2 3 |    | 4 5 |     | 6 7 8 |
/// total         6            9                      at once
/// carry         └──── 6 ────→└──── 15 ───→          one element a line, S − 1 moves
/// scan       1 3 6        10 15       21 28 36      at once
/// ```
///
/// What moves are `S − 1` times as many elements as there are lines, however long the shards are. A shard is read
/// twice. On the CPU a total is a reduction, elsewhere the last slice of a scan; either adds in an order of its own
/// that is always the same, which Burn's reductions, whose routine is chosen by the clock, do not promise.
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
    /// Takes tensors as the consecutive shards of one that is cut along `dim`. Nothing moves.
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

    /// Cuts a tensor into one part a device, and moves each to its device. The lengths differ by at most one, the
    /// longer ones first.
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
        let (len, parts) = (tensor.dims()[dim], devices.len());
        let begin = |part: usize| len / parts * part + part.min(len % parts);
        let part = |(part, device)| {
            let range = begin(part)..begin(part + 1);
            let part = match range.len() == len {
                true => tensor.clone(),
                false => tensor.clone().slice_dim(dim, range),
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
        // What is still queued on a device is begun before the first of them is waited for.
        let shards = together(&shards, |shard, _| Some(shard.clone()));
        let moved = |shard: Option<Tensor<D, K>>| transfer(shard.expect("each"), device);
        joined(shards.into_iter().map(moved).collect(), dim)
    }
}

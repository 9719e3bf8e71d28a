//! The kernels that graphs with scans compile. CubeCL's compilation log names every kernel of the process, so
//! this is the only test of its process.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use crate::fusion_support::{floats, hooked_device};
use burn::tensor::{Device, Tensor, s};

processes! {
    fn compiled_kernels() {
        let log = Log::start();
        let Some(device) = hooked_device() else {
            return;
        };
        a_gradient_flips_nothing(&log, &device);
        reversals_by_slices_are_part_of_the_scan(&log, &device);
        neighbours_of_a_scan_are_part_of_it(&log, &device);
        rows_are_one_launch_of_the_tiles(&log, &device);
        what_a_load_declines_is_one_kernel_before_the_scan(&log, &device);
        fs::remove_file(log.0).expect("the log is this test's own");
    }
}

fn a_gradient_flips_nothing(log: &Log, device: &Device) {
    let x = floats(&device.clone().autodiff(), [4096]).require_grad();
    let backward = log.kernels(|| {
        let gradients = (x.clone() * 2.0).cumsum(0).backward();
        x.grad(&gradients).expect("x is tracked").into_data();
    });
    let flip = log.kernels(|| drop(floats(device, [4096]).flip([0]).into_data()));
    assert_none_of(&flip, &backward);
}

fn reversals_by_slices_are_part_of_the_scan(log: &Log, device: &Device) {
    let x = floats(device, [300, 2]);
    device.sync().expect("the device syncs");
    let reversed = || x.clone().slice(s![..;-1, ..]);
    let flip_scan_flip = log.kernels(|| compute(reversed().cumsum(0).slice(s![..;-1, ..])));
    let slice = log.kernels(|| compute(reversed()));
    assert_none_of(&slice, &flip_scan_flip);
}

fn neighbours_of_a_scan_are_part_of_it(log: &Log, device: &Device) {
    let x = floats(device, [800, 8]);
    device.sync().expect("the device syncs");
    let both = log.kernels(|| compute((x.clone() * 2.0 + 0.5).cumsum(0) * 3.0 + 4.0));
    let apart = log.kernels(|| compute((x.clone() * 2.0 + 0.5) * 3.0 + 4.0));
    assert_eq!(apart, [ELEMENT_WISE]);
    assert_none_of(&apart, &both);
}

/// Along the last axis the tiles of the scan take the operations: there is no kernel before or after them.
fn rows_are_one_launch_of_the_tiles(log: &Log, device: &Device) {
    // The first tiles that look back have their words cleared.
    compute(floats(device, [1, 40_000]).cumsum(-1));
    let kernels = |shape| {
        let [x, y] = [0.5, 1.5].map(|scale| floats(device, shape) * scale);
        device.sync().expect("the device syncs");
        log.kernels(|| compute((x.clone() * y.clone()).cumsum(-1) * 3.0 + 4.0))
    };
    for long in [[1, 40_000], [2, 20_001]] {
        assert_eq!(kernels(long), ["SinglePassKernel | Fold | FusedArgs"]);
    }
    for short in [[400, 100], [300, 7]] {
        assert_eq!(kernels(short), ["ShortRowsKernel | Fold | FusedArgs"]);
    }
    // The tile of the device decides whether a row has a cube or shares it.
    let of_a_tile = kernels([5, 4095]);
    let is_fused = of_a_tile.iter().all(|name| name.ends_with("FusedArgs"));
    assert!(is_fused && of_a_tile.len() == 1, "{of_a_tile:?}");
}

/// Strided tensors would be read element by element, which is slower than a kernel before the scan.
fn what_a_load_declines_is_one_kernel_before_the_scan(log: &Log, device: &Device) {
    let x = floats(device, [70, 90]);
    let y = floats(device, [90, 70]).transpose();
    device.sync().expect("the device syncs");
    let store = || compute((x.clone() + y.clone() + 0.5).cumsum(0) * 3.0 + 4.0);
    assert_eq!(around_scan(&log.kernels(store)), [true, false]);
    let neither = || compute((y.clone() * 2.0 + 0.5).cummax(0) * 3.0 + 4.0);
    assert_eq!(around_scan(&log.kernels(neither)), [true, false, true]);
}

/// Whether each kernel is element-wise. The kernels of a scan count as one, because their number depends on the
/// device.
fn around_scan(kernels: &[String]) -> Vec<bool> {
    let mut places: Vec<bool> = kernels.iter().map(|name| name == ELEMENT_WISE).collect();
    places.dedup_by(|next, place| !*next && !*place);
    places
}

/// The name of the kernels that Burn's fuser compiles for element-wise operations.
const ELEMENT_WISE: &str = "ElemwiseFuse";

/// `compiled` must not have the kernels `apart`, which the log does name.
#[track_caller]
fn assert_none_of(apart: &[String], compiled: &[String]) {
    assert!(!apart.is_empty() && !compiled.is_empty());
    let spared = |name: &String| !apart.contains(name);
    assert!(compiled.iter().all(spared), "{apart:?} in {compiled:?}");
}

fn compute(tensor: Tensor<2>) {
    tensor.into_data();
}

/// The log of this process.
struct Log(PathBuf);

impl Log {
    fn start() -> Self {
        let name = format!("burn-scan-kernels-{}.log", std::process::id());
        let path = std::env::temp_dir().join(name);
        // SAFETY: no other code reads or writes the environment yet. This is the only test of the process, and no
        // device has been started.
        unsafe { std::env::set_var("CUBECL_DEBUG_LOG", &path) };
        Self(path)
    }

    /// The kernels that `work` compiles, in order. A process compiles each kernel once.
    fn kernels(&self, work: impl FnOnce()) -> Vec<String> {
        let before = self.settled().len();
        work();
        self.settled().split_off(before)
    }

    /// The names of all kernels so far. Another thread writes the log, so this waits a moment for it.
    fn settled(&self) -> Vec<String> {
        sleep(Duration::from_millis(400));
        let log = fs::read_to_string(&self.0).unwrap_or_default();
        // `| 530.9µs   | CopyKernel_386c367a`
        let kernel = |line: &str| Some(line.strip_prefix("| ")?.split_once("| ")?.1.to_owned());
        let name = |kernel: String| kernel.split('_').next().expect("one").to_owned();
        log.lines().filter_map(kernel).map(name).collect()
    }
}

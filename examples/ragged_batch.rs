//! Packs a batch of texts of different lengths into one flat array and back, on the device.
//!
//! Texts differ in length, tensors are rectangular. So a batch is padded to its longest text, and most of the
//! work is done on padding. Packed, the tokens of all texts follow one another, and `offsets` says where each text
//! starts. Variable-length attention takes this form and calls the offsets cu_seqlens.
//!
//! - offsets: `lengths_to_offsets`;
//! - packing: `compact_by_mask` of the batch by the mask of its tokens;
//! - padding again: `expand_by_mask` of the packed tokens by the same mask.
//!
//! Each file is a row, each byte a token:
//!
//! ```text
//! cargo run --release --example ragged_batch [-- [--device flex|wgpu|vulkan|cuda|..] [--json] [--verbose] [FILE..]]
//! ```
//!
//! Without files it takes the Rust sources of this repository. It checks each result against the host, and
//! prints (here for three files of 5, 2 and 3 bytes)
//!
//! ```text
//! device: wgpu (llvmpipe (LLVM 15.0.6, 256 bits), Vulkan)
//! files: 3  longest: 5
//! offsets: [0, 5, 7, 10]
//! packed: 10 tokens (33.3 % of the padded batch was padding)
//! round trip: ok
//! lengths_to_offsets   0.1230 ms   Burn     0.4560 ms     3.7x   cumsum after a zero
//! compact_by_mask     ..
//! expand_by_mask      ..
//! All 3 texts were packed into 10 tokens and came back unchanged.
//! ```
//!
//! The time of each operation is next to the time of Burn's own way of doing it. `--verbose` prints every offset.
//! `--json` prints one JSON object and nothing else on standard output: the same counts, every offset, the times in
//! milliseconds and the outcome of each check. The exit code is 0 if all results agree, 1 if any does not, 2 if the run
//! could not start.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use burn::tensor::{Bool, Device, Int, Tensor, TensorData};
use burn_scan::prelude::*;
use common::Checks;
use common::arguments::Arguments;
use common::timing::Comparison;
use serde_json::{Value, json};

const USAGE: &str = "ragged_batch [--device NAME] [--json] [--verbose] [FILE..]";

/// Offsets that are printed at either end without `--verbose`.
const SHOWN: usize = 4;

fn main() -> ExitCode {
    common::run(USAGE, run)
}

/// Returns whether all results agree, or the reason why there are none.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let mut files = arguments.files.clone();
    if files.is_empty() {
        let repository = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        sources(Path::new(repository), &mut files)?;
    }
    let host = HostBatch::read(&files)?;
    let (device, description) = common::device::choose(arguments.device())?;
    let batch = Batch::upload(&host, &device);
    let report = Report::new(&host, &batch, description);
    if arguments.flag("--json") {
        let mut times = Vec::new();
        batch.compare(&device, |comparison| times.push(comparison));
        println!("{}", report.json(&times));
        return Ok(report.checks.iter().all(|(_, right)| *right));
    }
    report.print(arguments.flag("--verbose"));
    let mut checks = Checks::default();
    for (what, right) in report.checks {
        if checks.check(what, right) && what == ROUND_TRIP {
            println!("{ROUND_TRIP}: ok");
        }
    }
    batch.compare(&device, |comparison| println!("{comparison}"));
    if checks.passed() {
        let (files, tokens) = (report.files, report.tokens);
        println!("All {files} texts were packed into {tokens} tokens and came back unchanged.");
    }
    Ok(checks.passed())
}

/// The check of the batch that was packed and padded again.
const ROUND_TRIP: &str = "round trip";

/// All results except the times.
struct Report {
    device: String,
    files: usize,
    longest: usize,
    /// Elements of the padded batch.
    padded: usize,
    tokens: usize,
    offsets: Vec<i32>,
    /// Each check, and whether its result is right.
    checks: [(&'static str, bool); 5],
}

impl Report {
    fn new(host: &HostBatch, batch: &Batch, device: String) -> Self {
        let offsets = read(batch.offsets());
        let packed = batch.pack();
        let expected = host.offsets();
        Self {
            device,
            files: host.lengths.len(),
            longest: host.longest,
            padded: host.padded.len(),
            tokens: packed.dims()[0],
            checks: [
                ("offsets", offsets == expected),
                ("packed", read(packed.clone()) == host.packed),
                (ROUND_TRIP, read(batch.unpack(packed)) == host.padded),
                ("Burn's cumsum", read(batch.offsets_by_burn()) == expected),
                (
                    "Burn's mask_select",
                    read(batch.pack_by_burn()) == host.packed,
                ),
            ],
            offsets,
        }
    }

    fn print(&self, verbose: bool) {
        println!("device: {}", self.device);
        println!("files: {}  longest: {}", self.files, self.longest);
        let offsets = &self.offsets;
        if verbose || offsets.len() <= 2 * SHOWN {
            println!("offsets: {offsets:?}");
        } else {
            let more = offsets.len() - 2 * SHOWN;
            let shown = [&offsets[..SHOWN], &offsets[offsets.len() - SHOWN..]];
            let [first, last] = shown.map(|part| {
                let numbers: Vec<String> = part.iter().map(i32::to_string).collect();
                numbers.join(", ")
            });
            println!("offsets: {first}, … {more} more …, {last}");
        }
        let padding = 100.0 * (self.padded - self.tokens) as f64 / self.padded as f64;
        println!(
            "packed: {} tokens ({padding:.1} % of the padded batch was padding)",
            self.tokens
        );
    }

    fn json(&self, times: &[Comparison]) -> Value {
        let times = times.iter().map(|time| {
            json!({
                "operation": time.name,
                "milliseconds": time.ours,
                "burn": time.way,
                "burn_milliseconds": time.burns,
            })
        });
        let checks = self.checks.iter();
        let checks = checks.map(|&(what, right)| (what.to_owned(), Value::from(right)));
        json!({
            "device": self.device,
            "files": self.files,
            "longest": self.longest,
            "padded_elements": self.padded,
            "tokens": self.tokens,
            "offsets": self.offsets,
            "times": times.collect::<Vec<_>>(),
            "checks": Value::Object(checks.collect()),
        })
    }
}

/// Adds the Rust files under `folder` that are not empty, in the order of their paths.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let cannot_read = |error| format!("cannot read {}: {error}", folder.display());
    let entries = fs::read_dir(folder)
        .map_err(cannot_read)?
        .collect::<Result<Vec<_>, _>>();
    let mut paths: Vec<PathBuf> = entries
        .map_err(cannot_read)?
        .iter()
        .map(|e| e.path())
        .collect();
    paths.sort();
    for path in paths {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let is_source =
            name.ends_with(".rs") && fs::metadata(&path).is_ok_and(|data| data.len() > 0);
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            sources(&path, files)?;
        } else if path.is_file() && is_source {
            files.push(path);
        }
    }
    Ok(())
}

/// The batch and every expected result, by plain loops.
struct HostBatch {
    lengths: Vec<i32>,
    longest: usize,
    padded: Vec<i32>,
    packed: Vec<i32>,
}

impl HostBatch {
    fn read(files: &[PathBuf]) -> Result<Self, String> {
        let mut texts = Vec::new();
        for path in files {
            let text = fs::read(path);
            let text = text.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            if text.is_empty() {
                return Err(format!(
                    "{} is empty: a row needs at least one token",
                    path.display()
                ));
            }
            texts.push(text);
        }
        let longest = texts.iter().map(Vec::len).max().unwrap_or_default();
        let elements = texts.len().saturating_mul(longest);
        if i32::try_from(elements).is_err() {
            let files = texts.len();
            return Err(format!(
                "{files} rows of {longest} tokens are {elements}; tensors here hold up to 2^31"
            ));
        }
        let mut padded = vec![0; elements];
        for (row, text) in padded.chunks_mut(longest.max(1)).zip(&texts) {
            for (token, &byte) in row.iter_mut().zip(text) {
                *token = byte.into();
            }
        }
        let packed = texts.iter().flatten().map(|&byte| byte.into()).collect();
        let lengths = texts.iter().map(|text| text.len() as i32).collect();
        Ok(Self {
            lengths,
            longest,
            padded,
            packed,
        })
    }

    /// The start of each text, and the end of the last one.
    fn offsets(&self) -> Vec<i32> {
        let mut offsets = vec![0];
        for length in &self.lengths {
            offsets.push(offsets[offsets.len() - 1] + length);
        }
        offsets
    }
}

/// The batch on the device.
struct Batch {
    lengths: Tensor<1, Int>,
    tokens: Tensor<2, Int>,
    is_token: Tensor<2, Bool>,
}

impl Batch {
    fn upload(host: &HostBatch, device: &Device) -> Self {
        let (files, longest) = (host.lengths.len(), host.longest);
        let lengths = Tensor::<1, Int>::from_data(host.lengths.as_slice(), device);
        let tokens = TensorData::new(host.padded.clone(), [files, longest]);
        let columns = Tensor::<1, Int>::arange(0..longest as i64, device).reshape([1, longest]);
        let ends = lengths.clone().reshape([files, 1]);
        let shape = [files, longest];
        let is_token = columns.expand(shape).lower(ends.expand(shape));
        Self {
            lengths,
            tokens: Tensor::from_data(tokens, device),
            is_token,
        }
    }

    /// Measures each operation and Burn's way of doing it, and passes on each pair of times at once.
    fn compare(&self, device: &Device, mut measured: impl FnMut(Comparison)) {
        measured(Comparison::measure(
            device,
            ("lengths_to_offsets", || self.offsets()),
            ("cumsum after a zero", || self.offsets_by_burn()),
        ));
        measured(Comparison::measure(
            device,
            ("compact_by_mask", || self.pack()),
            ("mask_select", || self.pack_by_burn()),
        ));
        let packed = self.pack();
        measured(Comparison::measure(
            device,
            ("expand_by_mask", || self.unpack(packed.clone())),
            ("Burn has none: a loop on the host", || {
                self.unpack_on_host(packed.clone())
            }),
        ));
    }

    fn offsets(&self) -> Tensor<1, Int> {
        self.lengths.clone().lengths_to_offsets()
    }

    fn offsets_by_burn(&self) -> Tensor<1, Int> {
        let zero = Tensor::zeros([1], &self.lengths.device());
        Tensor::cat(vec![zero, self.lengths.clone().cumsum(0)], 0)
    }

    fn pack(&self) -> Tensor<1, Int> {
        self.tokens.clone().compact_by_mask(self.is_token.clone())
    }

    fn pack_by_burn(&self) -> Tensor<1, Int> {
        self.tokens.clone().mask_select(self.is_token.clone())
    }

    fn unpack(&self, packed: Tensor<1, Int>) -> Tensor<2, Int> {
        packed.expand_by_mask(self.is_token.clone())
    }

    /// Burn has no inverse of `mask_select`: this reads both, loops and uploads.
    fn unpack_on_host(&self, packed: Tensor<1, Int>) -> Tensor<2, Int> {
        let (shape, device) = (self.is_token.dims(), packed.device());
        let mut tokens = read(packed).into_iter();
        let mask = self.is_token.to_data();
        let restore = |is_token| {
            if is_token {
                tokens.next().unwrap_or_default()
            } else {
                0
            }
        };
        let restored: Vec<i32> = mask.iter::<bool>().map(restore).collect();
        Tensor::from_data(TensorData::new(restored, shape), &device)
    }
}

fn read<const D: usize>(tensor: Tensor<D, Int>) -> Vec<i32> {
    tensor.try_into_vec_as().expect("the device is read")
}

//! Packs a batch of texts of different lengths into one flat array and back, on the device.
//!
//! Texts differ in length, tensors are rectangular. A batch is therefore padded to its longest text, and most of what
//! is then computed is computed on padding. Packed, the tokens of all texts stand one after the other, and `offsets`
//! says where each text begins: the form that variable-length attention takes (there called cu_seqlens).
//!
//! - offsets: `lengths_to_offsets`;
//! - packing: `compact_by_mask` of the batch by the mask of what is not padding;
//! - padding again: `expand_by_mask` of the packed tokens by the same mask.
//!
//! One row a file, one token a byte:
//!
//! ```text
//! cargo run --release --example ragged_batch [-- [--device flex|wgpu|vulkan|cuda|..] [--verbose] [FILE..]]
//! ```
//!
//! Without files it takes the Rust sources of this repository. It checks each result against the host, and prints
//! (here for three files of 5, 2 and 3 bytes)
//!
//! ```text
//! device: wgpu (llvmpipe (LLVM 15.0.6, 256 bits), Vulkan)
//! files: 3  longest: 5
//! offsets: [0, 5, 7, 10]
//! packed: 10 tokens (33.3 % of the padded batch was padding)
//! round trip: ok
//! lengths_to_offsets   0.1230 ms   Burn     0.4560 ms     3.7x   cumsum behind a zero
//! compact_by_mask     ..
//! expand_by_mask      ..
//! All 3 texts were packed into 10 tokens and came back unchanged.
//! ```
//!
//! The times of each operation stand beside those of Burn's own way of doing it. The exit code is 0 if all
//! results agree, 1 if any does not, 2 if the run could not start.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use burn::tensor::{Bool, Device, Int, Tensor, TensorData};
use burn_scan::prelude::*;
use common::Checks;
use common::arguments::Arguments;
use common::timing::compare;

const USAGE: &str = "ragged_batch [--device NAME] [--verbose] [FILE..]";

/// Offsets that are printed at either end without `--verbose`.
const SHOWN: usize = 4;

fn main() -> ExitCode {
    common::run(USAGE, run)
}

/// Whether all results agree; or why there are none.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let mut files = arguments.files.clone();
    if files.is_empty() {
        sources(Path::new(env!("CARGO_MANIFEST_DIR")), &mut files)?;
    }
    let host = HostBatch::read(&files)?;
    let (device, description) = common::device::choose(arguments.device())?;
    println!("device: {description}");
    println!("files: {}  longest: {}", host.lengths.len(), host.longest);
    let batch = Batch::upload(&host, &device);

    let offsets = read(batch.offsets());
    match arguments.flag("--verbose") || offsets.len() <= 2 * SHOWN {
        true => println!("offsets: {offsets:?}"),
        false => {
            let [first, last] =
                [&offsets[..SHOWN], &offsets[offsets.len() - SHOWN..]].map(|part| {
                    part.iter()
                        .map(i32::to_string)
                        .collect::<Vec<_>>()
                        .join(", ")
                });
            let more = offsets.len() - 2 * SHOWN;
            println!("offsets: {first}, … {more} more …, {last}");
        }
    }
    let packed = batch.pack();
    let (tokens, all) = (packed.dims()[0], host.padded.len());
    let padding = 100.0 * (all - tokens) as f64 / all as f64;
    println!("packed: {tokens} tokens ({padding:.1} % of the padded batch was padding)");

    let mut checks = Checks::new();
    checks.check("offsets", offsets == host.offsets());
    checks.check("packed", read(packed.clone()) == host.packed);
    if checks.check(
        "round trip",
        read(batch.unpack(packed.clone())) == host.padded,
    ) {
        println!("round trip: ok");
    }
    checks.check(
        "Burn's cumsum",
        read(batch.offsets_by_burn()) == host.offsets(),
    );
    checks.check(
        "Burn's mask_select",
        read(batch.pack_by_burn()) == host.packed,
    );

    compare(
        &device,
        "lengths_to_offsets",
        || batch.offsets(),
        "cumsum behind a zero",
        || batch.offsets_by_burn(),
    );
    compare(
        &device,
        "compact_by_mask",
        || batch.pack(),
        "mask_select",
        || batch.pack_by_burn(),
    );
    compare(
        &device,
        "expand_by_mask",
        || batch.unpack(packed.clone()),
        "Burn has none: a loop on the host",
        || batch.unpack_on_host(packed.clone()),
    );
    if checks.passed() {
        let files = host.lengths.len();
        println!("All {files} texts were packed into {tokens} tokens and came back unchanged.");
    }
    Ok(checks.passed())
}

/// Adds the Rust files below `folder` that hold anything, in order of their paths.
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

    /// Where each text begins, and where the last one ends.
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

    /// Burn has no inverse of `mask_select`. This is what is left: read both, loop, upload.
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

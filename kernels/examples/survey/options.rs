//! The command line.

use crate::size;
use std::path::PathBuf;

pub const HELP: &str = "\
Validates and times every cube-level algorithm and every device-level routine of cubecl-scan.

  --sizes LIST     numbers of elements, e.g. 1000,2^20,2^20-1,2^20+1
  --torture N      validate each size N times, on changing data (default: once for each of five kinds of data)
  --quick          a few sizes, fewer samples
  --device NAME    RUNTIME[:ADAPTER[:INDEX]], e.g. cuda:1, vulkan, wgpu:discrete, wgpu:integrated:0, wgpu:software
  --csv PATH       default: target/survey/survey.csv
  --svg PATH       default: target/survey/survey.svg
  --help           this text

Environment: BURN_SCAN_FORCE_PLANE=1 uses plane operations although the device does not advertise them.
Exit code: 0, or 1 if a result was wrong, 2 if the run could not start or its reports could not be written.
";

/// Elements at most by default: on CPU cores a run stays under two minutes, on a GPU most of the time is memory
/// traffic.
const SOFTWARE_LOG: u32 = 20;
const GPU_LOG: u32 = 26;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub help: bool,
    pub quick: bool,
    pub torture: Option<usize>,
    pub device: Option<String>,
    sizes: Option<Vec<usize>>,
    csv: Option<PathBuf>,
    svg: Option<PathBuf>,
}

impl Options {
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        while let Some(arg) = args.next() {
            let (name, value) = match arg.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (arg.as_str(), None),
            };
            let flag = match name {
                "--help" => Some(&mut options.help),
                "--quick" => Some(&mut options.quick),
                _ => None,
            };
            if let Some(flag) = flag {
                if let Some(value) = value {
                    return Err(format!("{name} takes no value, but there is `{value}`"));
                }
                *flag = true;
                continue;
            }
            if !["--sizes", "--torture", "--device", "--csv", "--svg"].contains(&name) {
                return Err(format!("no option `{arg}`; --help lists them"));
            }
            let value = value
                .or_else(|| args.next())
                .filter(|value| !value.is_empty());
            let value = value.ok_or_else(|| format!("{name} needs a value"))?;
            match name {
                "--sizes" => options.sizes = Some(sizes(&value)?),
                "--torture" => options.torture = Some(rounds(&value)?),
                "--device" => options.device = Some(value),
                "--csv" => options.csv = Some(value.into()),
                _ => options.svg = Some(value.into()),
            }
        }
        Ok(options)
    }

    /// The sizes to survey, ascending.
    pub fn sizes(&self, software: bool) -> Vec<usize> {
        match &self.sizes {
            Some(sizes) => sizes.clone(),
            None if self.quick => vec![100, 1 << 10, (1 << 13) + 1, 1 << 16],
            None => default_sizes(if software { SOFTWARE_LOG } else { GPU_LOG }),
        }
    }

    pub fn csv(&self) -> PathBuf {
        let default = || "target/survey/survey.csv".into();
        self.csv.clone().unwrap_or_else(default)
    }

    pub fn svg(&self) -> PathBuf {
        let default = || "target/survey/survey.svg".into();
        self.svg.clone().unwrap_or_else(default)
    }
}

/// Some small sizes that are not powers of two, then powers of two and their neighbours in turn.
fn default_sizes(largest: u32) -> Vec<usize> {
    let ladder = (8..=largest).map(|log| match log % 4 {
        1 => (1 << log) - 1,
        3 => (1 << log) + 1,
        _ => 1 << log,
    });
    [1, 31, 100].into_iter().chain(ladder).collect()
}

fn sizes(list: &str) -> Result<Vec<usize>, String> {
    let mut sizes = list
        .split(',')
        .map(|size| match size::parse(size.trim()) {
            Some(size) if size > 0 => Ok(size),
            _ => Err(format!(
                "--sizes: `{size}` is no number of elements; write e.g. 1000, 2^20, 2^20-1 or 2^20+1"
            )),
        })
        .collect::<Result<Vec<_>, _>>()?;
    sizes.sort();
    sizes.dedup();
    Ok(sizes)
}

fn rounds(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(rounds) if rounds > 0 => Ok(rounds),
        _ => Err(format!("--torture: `{text}` is no number of rounds")),
    }
}

//! The record: modules, and the steps that use them, in the order of the calls.

use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl::server::{BufferBinding, Handle};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard};

/// A kernel, compiled to the source text that the device's driver takes.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "each form of a record has its own use")]
pub struct Module {
    /// The device that it is compiled for.
    pub device: &'static str,
    /// The name of the function.
    pub entry: String,
    pub source: String,
    pub units: [u32; 3],
    pub shared_bytes: usize,
    /// The case that first launched it.
    pub case: String,
}

/// A range of a buffer.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "each form of a record has its own use")]
pub struct Range {
    pub buffer: usize,
    pub start: u64,
    pub bytes: u64,
}

impl Range {
    fn of(binding: &BufferBinding) -> Self {
        let range = binding.range();
        Self {
            buffer: binding.memory.id().value,
            start: range.start,
            bytes: range.end - range.start,
        }
    }
}

pub enum Step {
    Case {
        group: String,
        name: String,
    },
    Alloc {
        buffer: usize,
        bytes: u64,
    },
    Write {
        at: Range,
        bytes: Vec<u8>,
    },
    Launch {
        module: usize,
        bindings: Vec<Range>,
        info: Vec<u64>,
        cubes: (u32, u32, u32),
    },
    Expect {
        at: Range,
        bytes: Vec<u8>,
    },
}

#[derive(Default)]
pub struct Record {
    pub modules: Vec<Module>,
    /// Index by device and source text.
    known: HashMap<(&'static str, String), usize>,
    pub steps: Vec<Step>,
    /// Modules are recorded, and steps are not.
    pub compile_only: bool,
    case: String,
    cases: usize,
    launches: usize,
    uploaded: usize,
    faults: Vec<String>,
}

static RECORD: LazyLock<Mutex<Record>> = LazyLock::new(Default::default);

pub fn record() -> MutexGuard<'static, Record> {
    RECORD.lock().expect("no recording panicked")
}

impl Record {
    pub fn module(&mut self, module: Module) -> usize {
        let next = self.modules.len();
        let key = (module.device, module.source.clone());
        let index = *self.known.entry(key).or_insert(next);
        if index == next {
            let case = self.case.clone();
            self.modules.push(Module { case, ..module });
        }
        index
    }

    fn step(&mut self, step: Step) {
        if !self.compile_only {
            self.steps.push(step);
        }
    }

    pub fn alloc(&mut self, buffer: usize, bytes: u64) {
        self.step(Step::Alloc { buffer, bytes });
    }

    pub fn write(&mut self, at: &BufferBinding, bytes: &[u8]) {
        self.uploaded += bytes.len();
        self.step(Step::Write {
            at: Range::of(at),
            bytes: bytes.to_vec(),
        });
    }

    pub fn launch<'a>(
        &mut self,
        module: usize,
        bindings: impl Iterator<Item = &'a BufferBinding>,
        info: &[u64],
        cubes: (u32, u32, u32),
    ) {
        self.step(Step::Launch {
            module,
            bindings: bindings.map(Range::of).collect(),
            info: info.to_vec(),
            cubes,
        });
        self.launches += usize::from(!self.compile_only);
    }

    /// The kernels' own names.
    pub fn groups(&self) -> Vec<String> {
        let names = self.modules.iter();
        names
            .map(|module| group_of(&module.entry).to_owned())
            .collect()
    }

    pub fn launches(&self) -> usize {
        self.launches
    }

    /// The bytes that the host has written into buffers.
    pub fn uploaded(&self) -> usize {
        self.uploaded
    }

    pub fn fault(&mut self, message: String) {
        self.faults.push(message);
    }
}

/// Records what `run` asks of the device, under the name of a case, with the contents that it must leave.
pub fn case<T: CubeElement>(
    client: &Client,
    group: &str,
    name: &str,
    run: impl FnOnce() -> Vec<(Handle, Vec<T>)>,
) {
    {
        let mut record = record();
        record.cases += usize::from(!record.compile_only);
        record.case = format!("{group}, {name}");
        record.step(Step::Case {
            group: group.to_owned(),
            name: name.to_owned(),
        });
    }
    let expected = run();
    // The device records on a thread of its own. Once this returns, it has recorded everything submitted.
    client.flush().expect("nothing to fail");
    for (handle, data) in expected {
        record().step(Step::Expect {
            at: Range::of(&handle.binding()),
            bytes: T::as_bytes(&data).to_vec(),
        });
    }
}

/// A [`case`] whose last bits the device decides: modules are recorded, steps are not. `run` gives the floats that
/// `is_close` judges, and integers.
pub fn close_case(
    client: &Client,
    group: &str,
    name: &str,
    run: impl FnOnce() -> (Vec<(Handle, Vec<f32>)>, Vec<(Handle, Vec<i32>)>),
    _is_close: fn(f32, f32) -> bool,
) {
    compiled_only(|| {
        case::<f32>(client, group, name, || {
            run();
            Vec::new()
        });
    });
}

/// Records only the modules of what `run` records.
pub fn compiled_only(run: impl FnOnce()) {
    let before = std::mem::replace(&mut record().compile_only, true);
    run();
    record().compile_only = before;
}

/// The size of the record. No kernel in it was refused.
pub fn counts() -> String {
    let record = record();
    assert!(record.faults.is_empty(), "{}", record.faults.join("\n"));
    assert!(record.launches >= record.cases && record.cases > 0);
    format!(
        "{} modules, {} launches, {} cases",
        record.modules.len(),
        record.launches,
        record.cases
    )
}

/// A kernel's own name. The types and a hash of the comptime arguments follow it.
pub fn group_of(kernel: &str) -> &str {
    kernel
        .split_once("_kernel")
        .map_or(kernel, |(name, _)| name)
}

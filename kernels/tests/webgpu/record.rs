//! The record: modules as files, and the steps that use them as `record.json`. Its form is told by `xtask/src/webgpu.js`.

use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl::server::{BufferBinding, Handle};
use std::collections::HashMap;
use std::fmt::{Display, Write};
use std::path::Path;
use std::sync::{LazyLock, Mutex, MutexGuard};
use std::{fs, io};

#[derive(Default)]
pub struct Record {
    /// By source text, so that two devices share what they have in common.
    modules: HashMap<String, usize>,
    kernels: Vec<String>,
    steps: Vec<String>,
    /// Modules are recorded, steps are not.
    pub compile_only: bool,
    cases: usize,
    launches: usize,
    faults: Vec<String>,
}

static RECORD: LazyLock<Mutex<Record>> = LazyLock::new(Default::default);

pub fn record() -> MutexGuard<'static, Record> {
    RECORD.lock().expect("no recording panicked")
}

impl Record {
    pub fn module(&mut self, kernel: &str, source: String) -> usize {
        *self.modules.entry(source).or_insert_with(|| {
            self.kernels.push(kernel.to_owned());
            self.kernels.len() - 1
        })
    }

    fn step(&mut self, step: String) {
        if !self.compile_only {
            self.steps.push(step);
        }
    }

    pub fn alloc(&mut self, buffer: usize, bytes: u64) {
        self.step(format!(r#"["alloc",{buffer},{bytes}]"#));
    }

    pub fn write(&mut self, at: &BufferBinding, bytes: &[u8]) {
        let step = format!(
            r#"["write",{},{},{}]"#,
            at.memory.id().value,
            at.range().start,
            list(words(bytes))
        );
        self.step(step);
    }

    pub fn launch<'a>(
        &mut self,
        module: usize,
        bindings: impl Iterator<Item = &'a BufferBinding>,
        info: &[u64],
        (x, y, z): (u32, u32, u32),
    ) {
        let bindings = bindings.map(|binding| {
            let range = binding.range();
            let size = range.end - range.start;
            format!("[{},{},{size}]", binding.memory.id().value, range.start)
        });
        let info = info
            .iter()
            .flat_map(|pair| [*pair as u32, (*pair >> 32) as u32]);
        let step = format!(
            r#"["launch",{module},{},{},[{x},{y},{z}]]"#,
            list(bindings),
            list(info)
        );
        self.step(step);
        self.launches += usize::from(!self.compile_only);
    }

    /// The kernels by their own names.
    pub fn groups(&self) -> Vec<String> {
        let names = self
            .kernels
            .iter()
            .map(|kernel| group_of(kernel).to_owned());
        names.collect()
    }

    pub fn launches(&self) -> usize {
        self.launches
    }

    pub fn fault(&mut self, message: String) {
        self.faults.push(message);
    }
}

/// Records what `run` asks of the device under the name of a case, and the contents that it must leave behind.
pub fn case<T: CubeElement>(
    client: &Client,
    group: &str,
    name: &str,
    run: impl FnOnce() -> Vec<(Handle, Vec<T>)>,
) {
    {
        let mut record = record();
        record.cases += usize::from(!record.compile_only);
        record.step(format!(r#"["case","{group}","{name}"]"#));
    }
    let expected = run();
    // The device records on a thread of its own: what was submitted is recorded once this returns.
    client.flush().expect("nothing to fail");
    for (handle, data) in expected {
        let at = handle.binding();
        let (buffer, start) = (at.memory.id().value, at.range().start);
        let data = list(words(T::as_bytes(&data)));
        record().step(format!(r#"["expect",{buffer},{start},{data}]"#));
    }
}

/// What is in the record, which nothing refused.
pub fn counts() -> String {
    let record = record();
    assert!(record.faults.is_empty(), "{}", record.faults.join("\n"));
    assert!(record.launches >= record.cases && record.cases > 0);
    format!(
        "{} modules, {} launches, {} cases",
        record.kernels.len(),
        record.launches,
        record.cases
    )
}

/// Writes the record into a folder.
pub fn save(folder: &Path) -> io::Result<()> {
    let record = record();
    fs::create_dir_all(folder)?;
    for (source, index) in &record.modules {
        fs::write(folder.join(format!("{index}.wgsl")), source)?;
    }
    let modules = record.kernels.iter().enumerate();
    let modules = modules.map(|(index, kernel)| {
        let group = group_of(kernel);
        format!(r#"{{"file":"{index}.wgsl","kernel":"{kernel}","group":"{group}"}}"#)
    });
    let steps = record.steps.join(",\n");
    let json = format!(
        "{{\"modules\":{},\n\"steps\":[\n{steps}\n]}}\n",
        list(modules)
    );
    fs::write(folder.join("record.json"), json)
}

/// Behind a kernel's own name come the types and a hash of the comptime arguments.
fn group_of(kernel: &str) -> &str {
    kernel
        .split_once("_kernel")
        .map_or(kernel, |(name, _)| name)
}

/// WebGPU moves whole words.
fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    assert!(bytes.len().is_multiple_of(4), "not a number of words");
    bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
}

fn list<T: Display>(items: impl Iterator<Item = T>) -> String {
    let mut text = String::from("[");
    for (index, item) in items.enumerate() {
        let comma = if index > 0 { "," } else { "" };
        write!(text, "{comma}{item}").expect("a string takes everything");
    }
    text.push(']');
    text
}

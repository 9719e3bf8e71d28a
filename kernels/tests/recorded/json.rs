//! The record as a browser reads it: modules as files, and the steps as `record.json`. `xtask/src/webgpu.js`
//! describes its form.

use super::record::{Step, group_of, record};
use std::fmt::{Display, Write};
use std::path::Path;
use std::{fs, io};

/// Writes the record into a folder.
pub fn save(folder: &Path) -> io::Result<()> {
    let record = record();
    fs::create_dir_all(folder)?;
    for (index, module) in record.modules.iter().enumerate() {
        fs::write(folder.join(format!("{index}.wgsl")), &module.source)?;
    }
    let modules = record.modules.iter().enumerate().map(|(index, module)| {
        let (kernel, group) = (&module.entry, group_of(&module.entry));
        format!(r#"{{"file":"{index}.wgsl","kernel":"{kernel}","group":"{group}"}}"#)
    });
    let steps: Vec<_> = record.steps.iter().map(text_of).collect();
    let json = format!(
        "{{\"modules\":{},\n\"steps\":[\n{}\n]}}\n",
        list(modules),
        steps.join(",\n")
    );
    fs::write(folder.join("record.json"), json)
}

fn text_of(step: &Step) -> String {
    match step {
        Step::Case { group, name } => format!(r#"["case","{group}","{name}"]"#),
        Step::Alloc { buffer, bytes } => format!(r#"["alloc",{buffer},{bytes}]"#),
        Step::Write { at, bytes } => {
            let words = list(words(bytes));
            format!(r#"["write",{},{},{words}]"#, at.buffer, at.start)
        }
        Step::Launch {
            module,
            bindings,
            info,
            cubes: (x, y, z),
        } => {
            let bindings = bindings
                .iter()
                .map(|at| format!("[{},{},{}]", at.buffer, at.start, at.bytes));
            let info = info
                .iter()
                .flat_map(|pair| [*pair as u32, (*pair >> 32) as u32]);
            let (bindings, info) = (list(bindings), list(info));
            format!(r#"["launch",{module},{bindings},{info},[{x},{y},{z}]]"#)
        }
        Step::Expect { at, bytes } => {
            let words = list(words(bytes));
            format!(r#"["expect",{},{},{words}]"#, at.buffer, at.start)
        }
    }
}

/// WebGPU moves whole words.
fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let (words, rest) = bytes.as_chunks::<4>();
    assert!(rest.is_empty(), "not a number of words");
    words.iter().map(|word| u32::from_le_bytes(*word))
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

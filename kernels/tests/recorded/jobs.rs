//! The record as files: CUDA C++ to compile, and a job for the simulator from each case.
//!
//! ```text
//! modules.txt            FILE DEVICE ENTRY UNITS(3) SHARED_BYTES CASE, one line per module
//! modules/N.cu
//! cases/N/name           group and name
//! cases/N/job            buffers, launches and what is read back, in the simulator's language
//! cases/N/wanted         FILE OFFSET WANTED, one line per range of a buffer that is read back
//! cases/N/*.bin
//! ```
//!
//! Memory that was never written does not hold zeros here, unless a kernel has cleared it. A kernel that a case
//! launches again becomes another module, `N.again1.ptx`: the simulator takes a launch's kernel from the module
//! that was loaded last, and knows each name once.

use super::record::{Module, Range, Step, group_of, record};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The content of memory that was never written.
const UNWRITTEN: u8 = 0xee;

/// Writes the record into a folder.
pub fn save(folder: &Path) -> io::Result<()> {
    let record = record();
    let modules = folder.join("modules");
    fs::create_dir_all(&modules)?;
    let mut list = String::new();
    for (index, module) in record.modules.iter().enumerate() {
        let file = format!("{index}.cu");
        fs::write(modules.join(&file), &module.source)?;
        let Module {
            device,
            entry,
            case,
            ..
        } = module;
        let ([x, y, z], shared) = (module.units, module.shared_bytes);
        line(
            &mut list,
            format!("{file} {device} {entry} {x} {y} {z} {shared} {case}"),
        );
    }
    fs::write(folder.join("modules.txt"), list)?;
    let mut memory = HashMap::new();
    let mut steps = &record.steps[..];
    let mut cases = 0;
    while let Some((first, rest)) = steps.split_first() {
        let end = rest
            .iter()
            .position(|step| matches!(step, Step::Case { .. }));
        let (case, next) = rest.split_at(end.unwrap_or(rest.len()));
        let Step::Case { group, name } = first else {
            panic!("a step before the first case");
        };
        let mut job = Job::new(folder.join("cases").join(cases.to_string()), &mut memory)?;
        fs::write(job.folder.join("name"), format!("{group}\n{name}\n"))?;
        for step in case {
            job.step(step, &record.modules)?;
        }
        job.save()?;
        steps = next;
        cases += 1;
    }
    Ok(())
}

fn line(text: &mut String, words: String) {
    writeln!(text, "{words}").expect("a string takes everything");
}

/// A case that is being written to a file.
struct Job<'a> {
    folder: PathBuf,
    text: String,
    wanted: String,
    /// The bytes that the host wrote into each buffer, in this case or an earlier one, and zeros where a kernel cleared
    /// it: scratch memory outlives cases.
    memory: &'a mut HashMap<usize, Vec<u8>>,
    /// The simulator's names for the buffers that the case has used.
    names: HashMap<usize, String>,
    launched: HashMap<usize, usize>,
    files: usize,
}

impl<'a> Job<'a> {
    fn new(folder: PathBuf, memory: &'a mut HashMap<usize, Vec<u8>>) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        Ok(Self {
            folder,
            text: String::new(),
            wanted: String::new(),
            memory,
            names: HashMap::new(),
            launched: HashMap::new(),
            files: 0,
        })
    }

    fn file(&mut self, bytes: &[u8]) -> io::Result<String> {
        let name = format!("{}.bin", self.files);
        self.files += 1;
        fs::write(self.folder.join(&name), bytes)?;
        Ok(name)
    }

    fn step(&mut self, step: &Step, modules: &[Module]) -> io::Result<()> {
        match step {
            Step::Case { .. } => unreachable!("cases end before the next"),
            Step::Alloc { buffer, bytes } => {
                self.names.remove(buffer);
                self.memory
                    .insert(*buffer, vec![UNWRITTEN; *bytes as usize]);
            }
            Step::Write { at, bytes } => self.write(*at, bytes)?,
            Step::Launch {
                module,
                bindings,
                info,
                cubes: (x, y, z),
            } => {
                let Module { entry, source, .. } = &modules[*module];
                let ([bx, by, bz], shared) =
                    (modules[*module].units, modules[*module].shared_bytes);
                let launched = self.launched.entry(*module).or_default();
                let suffix = match *launched {
                    0 => String::new(),
                    times => format!(".again{times}"),
                };
                let entry = format!("{entry}{}", suffix.replace('.', "_"));
                *launched += 1;
                line(
                    &mut self.text,
                    format!("ptx ../../modules/{module}{suffix}.ptx"),
                );
                let mut arguments = Vec::new();
                for binding in bindings {
                    arguments.push(format!("{}+{}", self.name(binding.buffer)?, binding.start));
                }
                if source.contains("info_st") && !info.is_empty() {
                    let info: Vec<u8> = info.iter().flat_map(|word| word.to_le_bytes()).collect();
                    arguments.push(format!("struct:{}", self.file(&info)?));
                }
                let arguments = arguments.join(" ");
                let launch =
                    format!("launch {entry} {x} {y} {z} {bx} {by} {bz} {shared} {arguments}");
                line(&mut self.text, launch);
                if group_of(&entry) == "clear" {
                    self.clear(bindings[0]);
                }
            }
            Step::Expect { at, bytes } => {
                let (name, wanted) = (self.name(at.buffer)?, self.file(bytes)?);
                let found = format!("found-{wanted}");
                line(&mut self.text, format!("write {name} {found}"));
                line(&mut self.wanted, format!("{found} {} {wanted}", at.start));
            }
        }
        Ok(())
    }

    /// Later cases find what a kernel has cleared.
    fn clear(&mut self, at: Range) {
        let memory = self.memory.get_mut(&at.buffer).expect("allocated before");
        memory[at.start as usize..][..at.bytes as usize].fill(0);
    }

    fn write(&mut self, at: Range, bytes: &[u8]) -> io::Result<()> {
        let memory = self.memory.get_mut(&at.buffer).expect("allocated before");
        let start = at.start as usize;
        memory[start..start + bytes.len()].copy_from_slice(bytes);
        if let Some(name) = self.names.get(&at.buffer).cloned() {
            assert_eq!(bytes.len(), memory.len(), "a part of what kernels wrote");
            let file = self.file(bytes)?;
            line(&mut self.text, format!("load {name} {file}"));
        }
        Ok(())
    }

    /// The name of a buffer. The buffer is made if the case has not used it yet.
    fn name(&mut self, buffer: usize) -> io::Result<String> {
        if let Some(name) = self.names.get(&buffer) {
            return Ok(name.clone());
        }
        let name = format!("m{buffer}_{}", self.files);
        let contents = self.memory[&buffer].clone();
        let file = self.file(&contents)?;
        line(&mut self.text, format!("buffer {name} in {file}"));
        self.names.insert(buffer, name.clone());
        Ok(name)
    }

    fn save(self) -> io::Result<()> {
        fs::write(self.folder.join("job"), self.text)?;
        fs::write(self.folder.join("wanted"), self.wanted)
    }
}

//! `cargo xtask report`: measures everything and writes docs/performance.md.
//!
//! 1. The benches run under a progress bar ([`mod@bench`]), then the peers (`cargo xtask peers`).
//! 2. [`collect`] and [`peers`] read the files of criterion and of the peers. [`record`] writes them with the facts of
//!    the machine ([`machine`]) to `benches/results/NAME.csv`.
//! 3. [`page`], [`table`] and [`plot`] make the page of all recorded runs. It says where a peer is faster, and "not
//!    measured" where nothing was measured.
//!
//! `--check` measures the [`headline`] cases only, of this tree and of the revision that it stands on ([`base`]) in
//! turn, and fails if one became slower ([`check`], [`compare`]). With `--device flex` it measures the cases of that
//! device: on a software adapter a round of Cube cases takes 40 seconds, and its times say nothing about a GPU.
//!
//! `--gpu FILE` records what the bench `gpu_check` found on a GPU ([`gpu`]), and measures nothing.
//!
//! `--from-existing --criterion FOLDER` records a run of another machine. The folder needs a `machine.txt` as this
//! command writes it, and may have `peers-gpu.json` and `cub.csv` of `benches/peers`.

mod base;
mod bench;
mod case;
mod check;
mod collect;
mod compare;
mod gpu;
mod headline;
mod interval;
mod machine;
mod page;
mod peers;
mod plot;
mod record;
mod table;

use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::args::{Args, Spec};
use crate::drivers::Env;
use crate::process::target_dir;
use crate::{Result, cmd_peers, drivers};
use bench::Benches;
use headline::{HEADLINE, filter};
use page::Home;
use record::Facts;

const SPEC: Spec = Spec {
    flags: &[
        "--quick",
        "--from-existing",
        "--check",
        "--sorts",
        "--torch",
    ],
    options: &[
        "--driver",
        "--criterion",
        "--name",
        "--against",
        "--device",
        "--gpu",
    ],
};

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    args.no_words("; arguments for cargo bench go after `--`")?;
    if args.flag("--check") {
        return check::run(&args);
    }
    // The figures of a reduced set have a page of their own, and replace nothing.
    let (home, work) = if args.flag("--quick") {
        (Home::in_folder(&work_folder("quick")), work_folder("quick"))
    } else {
        (Home::of_repository(), work_folder("all"))
    };
    if let Some(results) = args.last("--gpu") {
        home.record_gpu(Path::new(results))?;
        return home.write();
    }
    let folder = args
        .last("--criterion")
        .map_or(work.join("criterion"), PathBuf::from);
    if !args.flag("--from-existing") {
        measure(&args, &folder)?;
    }
    if folder.is_dir() {
        home.record(&collect::run(&folder, args.last("--name"))?)?;
    } else {
        println!(
            "no {}: the page is made of the runs recorded before",
            folder.display()
        );
    }
    home.write()
}

/// The folder for what a form of the command leaves behind.
fn work_folder(form: &str) -> PathBuf {
    target_dir().join("report").join(form)
}

fn driver(args: &Args) -> Result<Env> {
    drivers::get(args.last("--driver").unwrap_or("system"))
}

/// Runs benches and peers, all of them or the headline cases, into a fresh folder.
fn measure(args: &Args, folder: &Path) -> Result<()> {
    let quick = args.flag("--quick");
    let cases = if quick {
        filter(&HEADLINE)
    } else {
        String::new()
    };
    let said = Benches::build(&driver(args)?, &args.rest)?.run(&cases, &[], folder)?;
    let mut facts = machine::facts();
    facts.extend(said);
    let path = folder.join(collect::MACHINE);
    let save = |facts: &Facts| fs::write(&path, facts.to_string());
    // Before the peers run, because the measurements must outlive their failure.
    save(&facts)?;
    if let Err(error) = run_peers(args, folder) {
        eprintln!("{error:#}");
        facts.push("left out", &format!("peers in Python: {error:#}"));
        save(&facts)?;
    }
    Ok(())
}

fn run_peers(args: &Args, folder: &Path) -> Result<()> {
    let mut line = vec!["--".to_owned(), "--out".to_owned()];
    line.push(folder.join(peers::CPU).display().to_string());
    for flag in ["--torch", "--sorts"] {
        if args.flag(flag) {
            line.insert(0, flag.to_owned());
        }
    }
    if let Some(driver) = args.last("--driver") {
        line.splice(0..0, ["--driver".to_owned(), driver.to_owned()]);
    }
    if args.flag("--quick") {
        line.extend(peers::filters(&HEADLINE));
    }
    cmd_peers::run(&line)
}

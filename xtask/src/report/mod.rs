//! `cargo xtask report`: measures everything and writes docs/performance.md.
//!
//! 1. The benches run under a progress bar ([`mod@bench`]), then the peers (`cargo xtask peers`).
//! 2. Criterion's files and the peers' are read ([`collect`], [`peers`]) and recorded with what is known of the machine
//!    ([`machine`]) as `benches/results/NAME.csv` ([`record`]).
//! 3. The page is made of all recorded runs ([`page`], [`table`], [`plot`]). It says where a peer is faster, and
//!    "not measured" where nothing was.
//!
//! `--check` measures the [`headline`] cases only, of this tree and of the revision it stands on ([`base`]) in turn, and
//! fails where one became slower ([`check`], [`compare`]).
//!
//! A run on another machine is recorded from its criterion folder: `--from-existing --criterion FOLDER`. The folder
//! needs a `machine.txt` as this command writes it, and may have `peers-gpu.json` and `cub.csv` of `benches/peers`.

mod base;
mod bench;
mod case;
mod check;
mod collect;
mod compare;
mod headline;
mod interval;
mod machine;
mod page;
mod peers;
mod plot;
mod record;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

use crate::args::{Args, Spec};
use crate::drivers::Env;
use crate::process::target_dir;
use crate::{Result, cmd_peers, drivers};
use bench::Benches;
use headline::{HEADLINE, filter};
use page::Home;
use record::Facts;

const SPEC: Spec = Spec {
    flags: &["--quick", "--from-existing", "--check", "--torch"],
    options: &["--driver", "--criterion", "--name", "--against"],
};

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args = Args::parse(args, &SPEC)?;
    if let Some(word) = args.words.first() {
        return Err(format!(
            "unexpected `{word}`; arguments for cargo bench go after `--`"
        ));
    }
    if args.flag("--check") {
        return check::run(&args);
    }
    // The figures of a reduced set replace nothing: they get a page of their own.
    let (home, work) = match args.flag("--quick") {
        true => (Home::in_folder(&work_folder("quick")), work_folder("quick")),
        false => (Home::of_repository(), work_folder("all")),
    };
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

/// A folder for what a form of the command leaves behind.
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
    let save = |facts: &Facts| {
        fs::write(&path, facts.to_string()).map_err(|e| format!("{}: {e}", path.display()))
    };
    // Before the peers: what was measured outlives their end, whatever it is.
    save(&facts)?;
    if let Err(error) = run_peers(args, folder) {
        eprintln!("{error}");
        facts.push("left out", &format!("peers in Python: {error}"));
        save(&facts)?;
    }
    Ok(())
}

fn run_peers(args: &Args, folder: &Path) -> Result<()> {
    let mut line = vec!["--".to_owned(), "--out".to_owned()];
    line.push(folder.join(peers::CPU).display().to_string());
    if args.flag("--torch") {
        line.insert(0, "--torch".to_owned());
    }
    if args.flag("--quick") {
        line.extend(peers::filters(&HEADLINE));
    }
    cmd_peers::run(&line)
}

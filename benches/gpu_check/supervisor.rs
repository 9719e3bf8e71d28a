//! Runs the processes of a stage and watches the clock: a case that hangs is named and killed, and the next process goes
//! on after it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::journal::{self, Ended, Story, Verdict};

/// How long a process may go on after its time is up.
const GRACE: Duration = Duration::from_secs(4);

/// How many processes of one shard may die before the rest of it is left.
const LIVES: usize = 12;

const POLL: Duration = Duration::from_millis(50);

/// One stage of one back end.
#[derive(Clone, Debug)]
pub struct Stage {
    pub name: &'static str,
    /// How many processes share the cases.
    pub shards: usize,
    pub limit: Duration,
    /// How long a case may take, and a device to start.
    pub case_seconds: f64,
    /// Arguments of its processes.
    pub extra: Vec<String>,
}

/// What a stage showed.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    pub ended: Vec<Ended>,
    /// Why the stage did not end, or not even begin. Empty if it is complete.
    pub unfinished: String,
    pub seconds: f64,
}

impl Shown {
    /// A stage that did not begin.
    pub fn unfinished(why: &str) -> Self {
        Self {
            unfinished: why.to_owned(),
            ..Self::default()
        }
    }
}

/// The processes that take the cases of a shard, one after the other.
struct Shard<'a> {
    stage: &'a Stage,
    at: usize,
    /// The journal of the process that runs.
    journal: PathBuf,
    child: Option<Child>,
    /// The case that has begun, or none if the device is starting, and when this was first seen.
    open: (Option<String>, Instant),
    was_killed: bool,
    lives: usize,
    shown: Shown,
}

/// Runs a stage to its end or its limit. `program` makes the command of a process, without its arguments.
pub fn run(stage: &Stage, work: &Path, program: impl Fn() -> Command) -> io::Result<Shown> {
    let begun = Instant::now();
    let mut shards = Vec::new();
    for at in 0..stage.shards {
        let mut shard = Shard::new(stage, at, work);
        shard.start(&program, None, stage.limit)?;
        shards.push(shard);
    }
    while shards.iter().any(|shard| shard.child.is_some()) {
        sleep(POLL);
        let left = stage.limit.saturating_sub(begun.elapsed());
        let is_over = begun.elapsed() > stage.limit + GRACE;
        for shard in &mut shards {
            shard.look(&program, left, is_over)?;
        }
    }
    let mut shown = Shown::default();
    for shard in shards {
        shown.ended.extend(shard.shown.ended);
        if shown.unfinished.is_empty() {
            shown.unfinished = shard.shown.unfinished;
        }
    }
    shown.seconds = begun.elapsed().as_secs_f64();
    Ok(shown)
}

impl<'a> Shard<'a> {
    fn new(stage: &'a Stage, at: usize, work: &Path) -> Self {
        Self {
            stage,
            at,
            journal: work.join(format!("shard-{at}.jsonl")),
            child: None,
            open: (None, Instant::now()),
            was_killed: false,
            lives: LIVES,
            shown: Shown::default(),
        }
    }

    /// Starts a process that goes on after a case.
    fn start(
        &mut self,
        program: &impl Fn() -> Command,
        after: Option<&str>,
        left: Duration,
    ) -> io::Result<()> {
        let _ = fs::remove_file(&self.journal);
        let output = File::create(self.output())?;
        let mut command = program();
        command.args(["stage", self.stage.name, "--journal"]);
        command.arg(&self.journal);
        command.args(["--seconds", &left.as_secs_f64().to_string()]);
        command.args(["--shard", &format!("{}/{}", self.at, self.stage.shards)]);
        command.args(after.into_iter().flat_map(|case| ["--after", case]));
        command.args(&self.stage.extra).stdin(Stdio::null());
        command.stdout(output.try_clone()?).stderr(output);
        self.child = Some(command.spawn()?);
        self.open = (None, Instant::now());
        self.was_killed = false;
        Ok(())
    }

    fn output(&self) -> PathBuf {
        self.journal.with_extension("txt")
    }

    /// Looks what the process has done. If it is over, starts the next one after the case that ended it.
    fn look(
        &mut self,
        program: &impl Fn() -> Command,
        left: Duration,
        is_over: bool,
    ) -> io::Result<()> {
        let Some(child) = &mut self.child else {
            return Ok(());
        };
        let exited = child.try_wait()?;
        let story = journal::read(&self.journal);
        let Some(status) = exited else {
            if self.open.0 != story.open {
                self.open = (story.open, Instant::now());
            }
            if is_over || self.open.1.elapsed().as_secs_f64() > self.stage.case_seconds {
                self.was_killed = true;
                child.kill()?;
            }
            return Ok(());
        };
        self.child = None;
        let has_hung = self.open.1.elapsed().as_secs_f64() > self.stage.case_seconds;
        let (verdict, why) = match (self.was_killed, has_hung) {
            (true, true) => {
                let why = format!("hung for {} s and was killed", self.stage.case_seconds);
                (Verdict::Wrong, why)
            }
            (true, false) => (Verdict::LeftOut, "cut off by the end of the stage".into()),
            (false, _) => {
                let why = format!("ended its process, {status}: {}", self.last_words());
                (Verdict::Wrong, why)
            }
        };
        self.next(story, (verdict, &why), program, left)
    }

    fn next(
        &mut self,
        story: Story,
        (verdict, why): (Verdict, &str),
        program: &impl Fn() -> Command,
        left: Duration,
    ) -> io::Result<()> {
        let mut last = story.ended.last().map(|ended| ended.case.clone());
        self.shown.ended.extend(story.ended);
        if story.is_done {
            return Ok(());
        }
        if let Some(case) = story.open {
            let seconds = self.open.1.elapsed().as_secs_f64();
            let ended = Ended::without_result(&case, verdict, why.to_owned(), seconds);
            self.shown.ended.push(ended);
            last = Some(case);
        }
        self.lives -= 1;
        match last {
            None => self.shown.unfinished = format!("not started: {why}"),
            Some(_) if left.is_zero() => self.shown.unfinished = "out of time".into(),
            Some(_) if self.lives == 0 => {
                self.shown.unfinished = format!("given up after {LIVES} processes died");
            }
            Some(case) => self.start(program, Some(&case), left)?,
        }
        Ok(())
    }

    /// The last line that the process printed.
    fn last_words(&self) -> String {
        let text = fs::read_to_string(self.output()).unwrap_or_default();
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.next_back().unwrap_or("it printed nothing").to_owned()
    }
}

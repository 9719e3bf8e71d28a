//! A tensor that is split over this machine's CPU and several servers: scanned, run through a recurrence and
//! compacted, and compared with one device.
//!
//! ```text
//!                 ┌──────────────── this process ────────────────┐
//! shards          │ 0 │            1             2             3 │ …
//! device          CPU         server 1      server 2      server 3      child processes of this one
//!                                 └── carry ──→ └── carry ──→           from server to server
//! ```
//!
//! ```text
//! cargo run --release --features remote --example sharded [-- [--servers N] [--elements N] [--latency MS]]
//! ```
//!
//! The servers listen on loopback. A proxy before each counts WebSocket messages and bytes and, with
//! `--latency`, delays them one way. Each shard lies on a different device from the shard before it, so that every
//! carry crosses the network. At the end one server is ended, and a tensor over it reports that. The exit code is 0 if
//! all results are right, 1 if any is not, 2 if the run could not start.

#[path = "sharded/proxy.rs"]
mod proxy;
#[path = "sharded/servers.rs"]
mod servers;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use burn::remote::RemoteHost;
use burn::tensor::{Bool, Device, Float, Int, Tensor};
use burn_scan::prelude::*;
use common::Checks;
use common::arguments::Arguments;
use common::timing::milliseconds;
use proxy::{Meters, Traffic};
use servers::Server;

const USAGE: &str = "sharded [--servers N] [--elements N] [--latency MS]";
/// Tells a child process to serve.
const SERVE: &str = "--serve";

/// The numbers of shards in the table.
const SHARDS: [usize; 4] = [1, 2, 4, 8];
/// Runs of an operation. The median is printed.
const RUNS: usize = 9;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(SERVE) {
        return match servers::serve() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("sharded {SERVE}: {error}");
                ExitCode::from(2)
            }
        };
    }
    common::run(USAGE, run)
}

/// Returns whether all results are right, or the reason why there are none.
fn run(arguments: &Arguments) -> Result<bool, String> {
    let number = |option: &str, default: usize| match arguments.option(option) {
        None => Ok(default),
        Some(text) => text
            .parse()
            .map_err(|_| format!("{option} needs a number, not `{text}`")),
    };
    let elements = number("--elements", 1 << 20)?;
    let latency = Duration::from_millis(number("--latency", 0)? as u64);
    let count = number("--servers", 3)?.clamp(1, 8);

    let meters = Meters::default();
    let local = Device::flex();
    let (mut servers, mut devices) = (Vec::new(), vec![local.clone()]);
    for _ in 0..count {
        let server = Server::start(SERVE)?;
        let address = proxy::before(server.address, latency, &meters);
        let address = address.map_err(|error| error.to_string())?;
        let host = RemoteHost::websocket(&format!("ws://{address}"));
        let device = Device::remote_options(&host).init();
        devices.push(device.map_err(|error| format!("{host:?}: {error}"))?);
        servers.push(server);
    }
    println!(
        "{elements} elements over the CPU and {count} servers on loopback, {} ms away",
        latency.as_millis()
    );

    let mut checks = Checks::default();
    let inputs = Inputs::new(elements, &local);
    println!("shards  operation          time      to servers and back      between servers");
    // First two shards on one device, which does all the work and reads both twice. Then each shard on a different
    // device from the one before.
    inputs.run(&[local.clone(), local.clone()], &meters, &mut checks);
    println!("        … both on the CPU; from here on over the servers as well");
    for shards in SHARDS {
        let placed: Vec<Device> = devices.iter().cycle().take(shards).cloned().collect();
        inputs.run(&placed, &meters, &mut checks);
    }
    end_of_a_server(&mut servers, &devices, &mut checks);
    if checks.passed() {
        println!(
            "Integers are those of one device bit for bit, floats within what rounding allows; and a server that ends takes nothing with it but its shard."
        );
    }
    Ok(checks.passed())
}

/// The tensors to split, and the results of one device.
struct Inputs {
    local: Device,
    steps: Tensor<1, Int>,
    values: Tensor<1>,
    decay: f32,
    mask: Tensor<1, Bool>,
    sums: Vec<i32>,
    states: Vec<f32>,
    kept: Vec<i32>,
}

impl Inputs {
    fn new(elements: usize, local: &Device) -> Self {
        let positions = Tensor::<1, Int>::arange(0..elements as i64, local);
        // Multiples of a number prime to the modulus, so that neighbours differ.
        let steps = (positions * 7919).remainder_scalar(2003) - 1001;
        let values = steps.clone().float() / 1001.0;
        let mask = steps.clone().greater_elem(500);
        let decay = 0.999;
        let by_one = |decay| Tensor::<1>::from_data([decay], local);
        let states = values.clone().linear_recurrence(by_one(decay), 0);
        Self {
            local: local.clone(),
            sums: read(steps.clone().inclusive_cumsum(0)),
            states: states.into_data().try_to_vec().expect("f32"),
            kept: read(steps.clone().compact_dim_by_mask(mask.clone(), 0)),
            steps,
            values,
            decay,
            mask,
        }
    }

    /// Prints a row of the table for each operation.
    fn run(&self, devices: &[Device], meters: &Meters, checks: &mut Checks) {
        let steps = Sharded::split(self.steps.clone(), 0, devices);
        let values = Sharded::split(self.values.clone(), 0, devices);
        let mask = Sharded::split(self.mask.clone(), 0, devices);
        let decay = |device| Tensor::<1>::from_data([self.decay], device);
        let decay: Sharded<1, Float> = Sharded::new(devices.iter().map(decay).collect(), 0);
        let row = |operation, measured: Measured| measured.print(devices.len(), operation);

        let scan = || steps.clone().inclusive_cumsum();
        row("scan", measure(devices, meters, scan));
        let sums = read(scan().gather(&self.local));
        checks.check("the sums", sums == self.sums);

        let recurrence = || values.clone().linear_recurrence(decay.clone());
        row("recurrence", measure(devices, meters, recurrence));
        let states: Vec<f32> = (recurrence().gather(&self.local).into_data())
            .try_to_vec()
            .expect("f32");
        // A state is a sum of magnitudes of at most 1 / (1 − decay), rounded at each shard.
        let allowed = 1e-6 / (1.0 - self.decay);
        let is_close = |(found, one): (&f32, &f32)| (found - one).abs() <= allowed;
        let all = states.len() == self.states.len();
        checks.check(
            "the states",
            all && states.iter().zip(&self.states).all(is_close),
        );

        let compaction = || steps.clone().compact_dim_by_mask(mask.clone());
        row("compaction", measure(devices, meters, compaction));
        let kept = read(compaction().gather(&self.local));
        checks.check("what is kept", kept == self.kept);
    }
}

fn read(tensor: Tensor<1, Int>) -> Vec<i32> {
    tensor.into_data().try_to_vec().expect("i32")
}

struct Measured {
    time: Duration,
    traffic: [Traffic; 2],
}

impl Measured {
    fn print(&self, shards: usize, operation: &str) {
        let [with_client, between] = self
            .traffic
            .map(|Traffic { messages, bytes }| format!("{messages:4} messages {bytes:7} B"));
        println!(
            "{shards:6}  {operation:10} {:9.3} ms   {with_client}   {between}",
            milliseconds(self.time)
        );
    }
}

/// The median time until the results of all shards have arrived, and the network traffic of one run.
fn measure<T>(devices: &[Device], meters: &Meters, mut operation: impl FnMut() -> T) -> Measured {
    let mut run = || {
        let start = Instant::now();
        let results = operation();
        for device in devices {
            device.sync().expect("the device finishes its queue");
        }
        let time = start.elapsed();
        drop(results);
        time
    };
    // The first run sends the graphs. Later runs refer to them.
    run();
    let mut times: Vec<Duration> = (0..RUNS).map(|_| run()).collect();
    times.sort();
    // Servers learn about dropped tensors with the next message. That traffic must not count for the next run.
    let settle = || thread::sleep(Duration::from_millis(100));
    settle();
    meters.take();
    run();
    settle();
    Measured {
        time: times[RUNS / 2],
        traffic: meters.take(),
    }
}

/// Ends the last server. A tensor over it fails with a message, and a tensor over the others gives right
/// results.
fn end_of_a_server(servers: &mut [Server], devices: &[Device], checks: &mut Checks) {
    let (Some(server), Some((_, left))) = (servers.last_mut(), devices.split_last()) else {
        return;
    };
    server.end();
    println!("ended server {}", devices.len() - 1);
    let ones = |devices: &[Device]| {
        let ones = Tensor::<1, Int>::ones([1000], &devices[0]);
        let sums = Sharded::split(ones, 0, devices).inclusive_cumsum();
        read(sums.gather(&devices[0]))
    };
    let is_right = |sums: Vec<i32>| sums.into_iter().eq(1..=1000);
    // The message is printed below. The hook must not print it, too.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let start = Instant::now();
    let failed = catch_unwind(AssertUnwindSafe(|| ones(devices)));
    let waited = start.elapsed();
    std::panic::set_hook(hook);
    match failed {
        Ok(_) => {
            checks.check("a server that has ended", false);
        }
        Err(panic) => {
            let message = panic.downcast_ref::<String>().cloned();
            let message = message.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            let message = message.unwrap_or_default();
            println!(
                "split over it, after {:.1} s: {}",
                waited.as_secs_f64(),
                message.lines().map(str::trim).collect::<Vec<_>>().join(" ")
            );
        }
    }
    checks.check("the other devices", is_right(ones(left)));
}

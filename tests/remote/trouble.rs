//! Servers that end, clients that end, networks that stall.
//!
//! Each time, a call returns an error instead of waiting forever, and this crate's reads name the host. Everything else
//! continues to work: other servers, other sessions, the local device. Each fault happens three times, or 200 times
//! with the feature `heavy`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Child;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use burn::remote::{ConnectError, RemoteHost};
use burn::server::telemetry::{TelemetryEvent, TelemetryProbe, TelemetrySubscription};
use burn::tensor::{Bool, Device, Int, Tensor};
use burn_scan::prelude::*;
use scan_testing::tensors::panic_message;

use crate::proxy::Proxy;
use crate::servers::{self, Served, TOKEN, at, connect, within};

/// How often each fault happens.
const ROUNDS: &str = "BURN_SCAN_FAULT_ROUNDS";

fn rounds() -> usize {
    let said = std::env::var(ROUNDS).ok();
    let said = said.map(|rounds| rounds.parse().expect("a number of rounds"));
    said.unwrap_or(if cfg!(feature = "heavy") { 200 } else { 3 })
}

/// Rounds in one process. A device without its server keeps two threads that wake every 150 µs.
const TOGETHER: usize = 10;

/// The rounds that this process must make of a test whose devices stay. Child processes have made the rest.
fn rounds_here(test: &str) -> usize {
    let mut left = rounds();
    while left > TOGETHER {
        servers::again(&format!("trouble::{test}"), ROUNDS, &TOGETHER.to_string());
        left -= TOGETHER;
    }
    left
}

/// The limit for faults that are noticed at once.
const SOON: Duration = Duration::from_secs(20);
/// The limit for faults that Burn notices by silence, after 30 seconds.
const SILENCE: Duration = Duration::from_secs(120);

const N: usize = 10_000;

fn ramp(device: &Device) -> Tensor<1, Int> {
    Tensor::arange(0..N as i64, device)
}

fn odd(device: &Device) -> Tensor<1, Bool> {
    ramp(device).remainder_scalar(2).equal_elem(1)
}

/// A scan, and a compaction that reads back.
#[track_caller]
fn works(device: &Device) {
    let sums = ramp(device).inclusive_cumsum(0).into_data();
    let sums = sums.iter::<i64>().collect::<Vec<_>>();
    assert!((0..N).all(|i| sums[i] == (i * (i + 1) / 2) as i64));
    let kept = ramp(device).compact_by_mask(odd(device)).into_data();
    assert!(kept.iter::<i64>().eq((0..N as i64 / 2).map(|i| 2 * i + 1)));
}

/// The message of the call's panic.
#[track_caller]
pub fn panic_of<T>(call: impl FnOnce() -> T) -> String {
    let outcome = catch_unwind(AssertUnwindSafe(call));
    panic_message(&*outcome.err().expect("an error"))
}

/// Asserts that the session of `device` is over: Burn's read returns an error, and the error of this crate's
/// read names the host. Later calls fail at once.
fn is_over(device: &Device, tensor: Tensor<1, Int>, host: &str, limit: Duration) -> Duration {
    let (begin, device, host) = (Instant::now(), device.clone(), host.to_string());
    let noticed = within(limit, move || {
        let read = tensor.clone().inclusive_cumsum(0).try_into_data();
        assert!(read.is_err(), "the server is gone");
        let noticed = begin.elapsed();
        let message = panic_of(|| tensor.compact_by_mask(odd(&device)));
        assert!(message.contains(&host), "{host} is not named: {message}");
        noticed
    });
    assert!(
        begin.elapsed() - noticed < SOON,
        "later calls wait as long again"
    );
    noticed
}

/// Ends the server of a device, in the middle of work.
fn ends(mut server: Served, end: impl FnOnce(&mut Served), limit: Duration) -> Duration {
    let device = connect(&server.host());
    works(&device);
    let tensor = ramp(&device);
    let queued: Vec<_> = (0..20)
        .map(|_| tensor.clone().inclusive_cumsum(0))
        .collect();
    end(&mut server);
    drop(queued);
    is_over(&device, tensor, &server.name, limit)
}

fn others_go_on(others: &[Device]) {
    for device in others {
        works(device);
    }
}

/// Rounds in which servers fall silent. All run at the same time, because it takes half a minute to notice.
fn in_silence(rounds: usize, others: &[Device], end: fn(&mut Served)) {
    thread::scope(|scope| {
        for _ in 0..rounds {
            scope.spawn(|| ends(Served::over_iroh(), end, SILENCE));
        }
        others_go_on(others);
    });
    others_go_on(others);
}

#[test]
fn a_server_that_ends_over_websocket() {
    let untouched = servers::websocket();
    let others = [Device::flex(), untouched.clone()];
    for _ in 0..rounds_here("a_server_that_ends_over_websocket") {
        ends(Served::over_websocket(), Served::kill, SOON);
        others_go_on(&others);
    }
}

#[test]
fn a_server_that_ends_over_iroh() {
    let untouched = servers::iroh();
    let others = [Device::flex(), untouched.clone()];
    let rounds = rounds_here("a_server_that_ends_over_iroh");
    in_silence(rounds, &others, Served::kill);
}

/// The server hangs, as with a pulled cable: nothing arrives, and no message says so.
#[cfg(unix)]
#[test]
fn a_server_that_hangs_over_iroh() {
    let untouched = servers::iroh();
    let others = [Device::flex(), untouched.clone()];
    let rounds = rounds_here("a_server_that_hangs_over_iroh");
    in_silence(rounds, &others, |server| server.stop());
}

#[cfg(unix)]
#[test]
fn a_server_that_pauses_goes_on() {
    for server in [Served::over_websocket(), Served::over_iroh()] {
        let device = connect(&server.host());
        works(&device);
        for _ in 0..rounds() {
            server.stop();
            let sums = ramp(&device).inclusive_cumsum(0).sum();
            let reading = thread::spawn(move || sums.into_scalar::<i64>());
            works(&Device::flex());
            server.resume();
            let total = within(SOON, move || reading.join().expect("a sum"));
            assert_eq!(
                total,
                (0..N as i64).map(|i| i * (i + 1) / 2).sum::<i64>() as i32 as i64
            );
        }
        works(&device);
    }
}

#[test]
fn a_network_that_stalls() {
    let server = servers::serve(servers::flex());
    let proxy = Proxy::before(server);
    let device = connect(&at(proxy.address()));
    let others = [Device::flex(), connect(&at(server))];
    works(&device);
    let tensor = ramp(&device);
    for _ in 0..rounds() {
        proxy.stall();
        // An operation that reads nothing does not wait.
        let tensor = tensor.clone();
        let sums = within(SOON, move || tensor.inclusive_cumsum(0));
        let reading = thread::spawn(move || sums.try_into_data());
        others_go_on(&others);
        assert!(!reading.is_finished(), "nothing can have come");
        proxy.resume();
        let sums = within(SOON, move || reading.join().expect("no panic"));
        let last = sums.expect("it comes in the end").iter::<i64>().last();
        assert_eq!(last, Some((N * (N - 1) / 2) as i64));
    }
    proxy.stall();
    let sums = tensor.clone().inclusive_cumsum(0);
    let reading = thread::spawn(move || sums.try_into_data());
    proxy.disconnect();
    assert!(within(SOON, move || reading.join().expect("no panic")).is_err());
    is_over(&device, tensor, &proxy.address().port().to_string(), SOON);
    others_go_on(&others);
}

/// Tells a child process of this binary the server to work on until it is ended.
const WORK: &str = "BURN_SCAN_TEST_WORKS_AT";

/// In a child process, works until it is ended. Otherwise does nothing.
#[test]
fn works_where_it_is_told_to() {
    let Ok(url) = std::env::var(WORK) else {
        return;
    };
    servers::end_with_the_parent();
    let device = connect(&RemoteHost::websocket(&url));
    works(&device);
    println!("at work");
    loop {
        works(&device);
    }
}

fn client_of(url: &str) -> Child {
    let mut client = servers::child("trouble::works_where_it_is_told_to", WORK, url);
    servers::told_by(&mut client, "at work");
    client
}

/// Waits until `sessions` sessions are closed.
fn closed(events: &mut TelemetrySubscription, sessions: usize) {
    let (begin, mut closed) = (Instant::now(), 0);
    while closed < sessions {
        let mut new: Vec<Arc<TelemetryEvent>> = Vec::new();
        events.drain_into(&mut new);
        let is_end =
            |event: &&Arc<TelemetryEvent>| matches!(***event, TelemetryEvent::SessionClosed { .. });
        closed += new.iter().filter(is_end).count();
        assert!(begin.elapsed() < SOON, "the server keeps a session");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_client_that_ends() {
    let (probe, mut events) = TelemetryProbe::channel(1 << 16);
    let server = servers::serve(servers::flex().with_telemetry(probe));
    let other = connect(&at(server));
    for _ in 0..rounds() {
        let mut client = client_of(&format!("ws://{server}"));
        client.kill().expect("it runs");
        client.wait().expect("it ends");
        closed(&mut events, 1);
        works(&other);
    }
}

#[test]
fn a_wrong_token_is_refused() {
    for server in [Served::over_websocket(), Served::over_iroh()] {
        for _ in 0..rounds() {
            for wrong in ["", "a token", &TOKEN[1..]] {
                let refused = Device::remote_options(&server.host().with_credential(wrong)).init();
                assert!(
                    matches!(refused, Err(ConnectError::Unauthorized)),
                    "{refused:?}"
                );
            }
        }
        works(&connect(&server.host()));
    }
}

#[test]
fn a_missing_server() {
    let server = Served::over_websocket();
    let host = server.host();
    drop(server);
    let error =
        within(SILENCE, move || Device::remote_options(&host).init()).expect_err("nobody listens");
    assert!(matches!(error, ConnectError::Unreachable { .. }), "{error}");
    println!("{error}");
    works(&Device::flex());
}

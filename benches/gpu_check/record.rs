//! The cases of `kernels/tests/recorded`, run on the device instead of recorded: each result is compared with its oracle.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl::server::Handle;
use scan_testing::tensors::panic_message;

use crate::stage::{self, Outcome};

/// Runs a case, and compares each of its buffers byte for byte.
pub fn case<T: CubeElement>(
    client: &Client,
    group: &str,
    name: &str,
    run: impl FnOnce() -> Vec<(Handle, Vec<T>)>,
) {
    stage::case(&format!("{group}: {name}"), || {
        let buffers = match unless_refused(run) {
            Ok(buffers) => buffers,
            Err(left_out) => return left_out,
        };
        verdict(
            buffers
                .into_iter()
                .map(|(handle, expected)| exact(client, handle, &expected)),
        )
    });
}

/// What a case leaves. A form of a kernel that the device cannot run is refused before anything is launched.
fn unless_refused<R>(run: impl FnOnce() -> R) -> Result<R, Outcome> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let message = panic_message(&*panic);
        let is_refusal = ["supported: Refused", "supported: LookbackUnsupported"]
            .iter()
            .any(|refusal| message.starts_with(refusal));
        if !is_refusal {
            resume_unwind(panic);
        }
        Outcome::LeftOut(message)
    })
}

/// [`case`] with floats that `is_close` judges, and integers.
pub fn close_case(
    client: &Client,
    group: &str,
    name: &str,
    run: impl FnOnce() -> (Vec<(Handle, Vec<f32>)>, Vec<(Handle, Vec<i32>)>),
    is_close: fn(f32, f32) -> bool,
) {
    stage::case(&format!("{group}: {name}"), || {
        let (floats, ints) = match unless_refused(run) {
            Ok(buffers) => buffers,
            Err(left_out) => return left_out,
        };
        let floats = floats.into_iter().map(|(handle, expected)| {
            different(client, handle, &expected, |found, expected| {
                is_close(*found, *expected)
            })
        });
        let ints = ints
            .into_iter()
            .map(|(handle, expected)| exact(client, handle, &expected));
        verdict(floats.chain(ints))
    });
}

/// Records keep the modules of `run` without its steps. Here it is run like any other.
#[allow(dead_code, reason = "called by cases that only records have")]
pub fn compiled_only(run: impl FnOnce()) {
    run();
}

/// How a buffer differs from the bits that it must hold.
pub fn exact<T: CubeElement>(client: &Client, handle: Handle, expected: &[T]) -> Option<String> {
    let same = |found: &T, expected: &T| {
        T::as_bytes(std::slice::from_ref(found)) == T::as_bytes(std::slice::from_ref(expected))
    };
    different(client, handle, expected, same)
}

fn different<T: CubeElement>(
    client: &Client,
    handle: Handle,
    expected: &[T],
    same: impl Fn(&T, &T) -> bool,
) -> Option<String> {
    let bytes = match client.read_one(handle) {
        Ok(bytes) => bytes,
        Err(error) => return Some(format!("the device failed: {error:?}")),
    };
    let found = T::from_bytes(&bytes);
    let mut wrong = (0..expected.len()).filter(|&at| !same(&found[at], &expected[at]));
    let first = wrong.next()?;
    Some(format!(
        "{} of {} elements wrong, the first is {first}: {:?} instead of {:?}",
        1 + wrong.count(),
        expected.len(),
        found[first],
        expected[first],
    ))
}

fn verdict(mut faults: impl Iterator<Item = Option<String>>) -> Outcome {
    match faults.find_map(|fault| fault) {
        Some(fault) => Outcome::Wrong(fault),
        None => Outcome::Right(Default::default()),
    }
}

//! Tests that wait in a browser.
//!
//! A page cannot block. But a stack of WebAssembly can be put aside until a promise is kept, and the page goes on
//! meanwhile (JavaScript Promise Integration; Chromium 137 or later). So the same tests run here as elsewhere:
//!
//! ```text
//! test of wasm-bindgen    awaits the outcome ──────────────────────────────────────────────▶ ok or failed
//! stack of its own            test: launch, wait ┊ put aside ┊ poll again ┊ put aside ┊ poll: ready, go on
//! the page                                        callbacks               callbacks
//! ```
//!
//! The page starts the stack from its event loop, one at a time. All stacks of WebAssembly share one in linear memory,
//! so whatever runs while this one is put aside must be over before it goes on. That holds for what the page calls.
//!
//! A panic ends in a trap, which JavaScript catches. Nothing is dropped on the way.
//!
//! A test program says itself that it runs in a browser: `wasm_bindgen_test_configure!`.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::hint::black_box;
use std::pin::pin;
use std::sync::Once;
use std::task::{Context, Poll, Waker};

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// Writes a function to a slot of the table of functions that puts the stack aside for a turn of the event loop. It
/// comes from a module that calls its only import, because a JavaScript function cannot be in the table.
const WRITE: &str = "
    const aside = new WebAssembly.Suspending(() => new Promise((done) => setTimeout(done)));
    const code = [
        0, 97, 115, 109, 1, 0, 0, 0,
        1, 4, 1, 96, 0, 0,
        2, 7, 1, 1, 109, 1, 102, 0, 0,
        3, 2, 1, 0,
        7, 5, 1, 1, 103, 0, 1,
        10, 6, 1, 4, 0, 16, 0, 11,
    ];
    const module = new WebAssembly.Module(new Uint8Array(code));
    table.set(slot, new WebAssembly.Instance(module, { m: { f: aside } }).exports.g);";

const START: &str = "
    const start = WebAssembly.promising(exports.call_held);
    return new Promise((ok, failed) => setTimeout(() => start().then(ok, failed)));";

const CATCH: &str = "
    try { exports.call_held(); return false; } catch { return true; }";

thread_local! {
    static SAID: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
    static HELD: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
    /// The last panic: its message, and its message with its place.
    static PANIC: RefCell<[String; 2]> = const { RefCell::new([String::new(), String::new()]) };
}

/// JavaScript calls it.
#[wasm_bindgen]
pub fn call_held() {
    let held = HELD.take().expect("a call is held");
    held();
}

/// Runs a test on a stack that can be put aside.
///
/// # Errors
///
/// The message of its panic.
pub async fn run(test: impl FnOnce() + 'static) -> Result<(), JsValue> {
    hold(Box::new(test));
    let start = Function::new_with_args("exports", START);
    let promise = start.call1(&JsValue::NULL, &wasm_bindgen::exports())?;
    let outcome = JsFuture::from(promise.unchecked_into::<Promise>()).await;
    outcome.map(drop).map_err(|trap| match PANIC.take() {
        [_, placed] if !placed.is_empty() => placed.into(),
        _ => trap,
    })
}

/// Polls until the future is ready, and puts the stack aside after each poll.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    static WRITTEN: Once = Once::new();
    WRITTEN.call_once(|| {
        let write = Function::new_with_args("table, slot", WRITE);
        let (table, slot) = (wasm_bindgen::function_table(), aside as *const () as u32);
        let written = write.call2(&JsValue::NULL, &table, &slot.into());
        written.expect("a browser with JavaScript Promise Integration");
    });
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(found) = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            return found;
        }
        black_box(aside as extern "C" fn())();
    }
}

/// The slot of this function gets the function that puts the stack aside.
extern "C" fn aside() {
    unreachable!("another function is called in its place");
}

/// The message of the panic that `call` ends in, if it does. It must not wait.
pub fn caught<'a>(call: impl FnOnce() + 'a) -> Option<String> {
    let call: Box<dyn FnOnce() + 'a> = Box::new(call);
    // SAFETY: the call is over, or has ended in a trap, before this function returns.
    hold(unsafe { std::mem::transmute::<Box<dyn FnOnce() + 'a>, Box<dyn FnOnce()>>(call) });
    let catch = Function::new_with_args("exports", CATCH);
    let caught = catch.call1(&JsValue::NULL, &wasm_bindgen::exports());
    let is_caught = caught.is_ok_and(|caught| caught.is_truthy());
    is_caught.then(|| {
        let [message, _] = PANIC.take();
        message
    })
}

/// Says once what a test skips, among the names of the tests.
pub fn unsupported(what: &str) {
    if SAID.with_borrow_mut(|said| said.insert(what.to_owned())) {
        let say = "document.getElementById('output').textContent += `Unsupported: ${what}\\n`";
        let say = Function::new_with_args("what", say);
        say.call1(&JsValue::NULL, &what.into())
            .expect("the page of the tests");
    }
}

fn hold(call: Box<dyn FnOnce()>) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let message = panic.payload_as_str().unwrap_or_default();
            PANIC.set([message.to_owned(), panic.to_string()]);
        }));
    });
    PANIC.take();
    HELD.set(Some(call));
}

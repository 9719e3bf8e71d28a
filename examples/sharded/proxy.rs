//! A network with a meter: it counts WebSocket messages and bytes to a server and back, and may delay them.
//!
//! ```text
//! client, or another server  ──▶ proxy ──▶ server
//!                            ◀──       ◀──
//! ```
//!
//! The client's traffic with a server goes over connections to `/session`. Over any other connection, a server
//! fetches a tensor from this one.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// Messages with content, and all bytes, framing and handshakes included.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    pub messages: u64,
    pub bytes: u64,
}

#[derive(Default)]
struct Meter {
    messages: AtomicU64,
    bytes: AtomicU64,
}

impl Meter {
    fn take(&self) -> Traffic {
        Traffic {
            messages: self.messages.swap(0, Ordering::Relaxed),
            bytes: self.bytes.swap(0, Ordering::Relaxed),
        }
    }
}

/// The counts of all proxies of a run.
#[derive(Clone, Default)]
pub struct Meters(Arc<[Meter; 2]>);

impl Meters {
    /// The traffic between client and servers, and between servers, since the last call.
    pub fn take(&self) -> [Traffic; 2] {
        [self.0[0].take(), self.0[1].take()]
    }
}

/// Forwards all connections to the returned address, each byte `delay` after it arrived.
pub fn before(server: SocketAddr, delay: Duration, meters: &Meters) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let meters = meters.clone();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            // An ended server ends the connections to it.
            if let Ok(server) = TcpStream::connect(server) {
                let _ = connect(&client, &server, delay, &meters);
            }
        }
    });
    Ok(address)
}

fn connect(
    client: &TcpStream,
    server: &TcpStream,
    delay: Duration,
    meters: &Meters,
) -> std::io::Result<()> {
    // The client's first line says which of the two meters counts.
    let kind = Arc::new(OnceLock::new());
    for (from, to) in [(client, server), (server, client)] {
        to.set_nodelay(true)?;
        let (from, to) = (from.try_clone()?, to.try_clone()?);
        let (meters, kind) = (meters.clone(), kind.clone());
        thread::spawn(move || forward(from, to, delay, &meters, &kind));
    }
    Ok(())
}

/// Reads in one thread and writes in another, so that a delay stops only the delayed bytes.
fn forward(
    mut from: TcpStream,
    mut to: TcpStream,
    delay: Duration,
    meters: &Meters,
    kind: &OnceLock<usize>,
) {
    let (send, receive) = channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        for (due, bytes) in receive {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
    let (mut frames, mut buffer) = (Frames::default(), vec![0; 1 << 16]);
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let bytes = &buffer[..read];
        let messages = frames.messages(bytes);
        let is_session = || usize::from(!bytes.starts_with(b"GET /session"));
        let meter = &meters.0[*kind.get_or_init(is_session)];
        meter.messages.fetch_add(messages, Ordering::Relaxed);
        meter.bytes.fetch_add(read as u64, Ordering::Relaxed);
        if send.send((Instant::now() + delay, bytes.to_vec())).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
}

/// The starts of frames in one direction of a WebSocket connection (RFC 6455), after the handshake.
#[derive(Default)]
struct Frames {
    /// The handshake, or the received part of a frame's head.
    head: Vec<u8>,
    is_open: bool,
    /// The bytes of a frame still to come.
    rest: u64,
}

impl Frames {
    /// The number of text and binary messages that start in these bytes.
    fn messages(&mut self, bytes: &[u8]) -> u64 {
        let (mut at, mut messages) = (0, 0);
        while at < bytes.len() {
            if self.rest > 0 {
                let skipped = self.rest.min((bytes.len() - at) as u64);
                (self.rest, at) = (self.rest - skipped, at + skipped as usize);
                continue;
            }
            self.head.push(bytes[at]);
            at += 1;
            if !self.is_open {
                self.is_open = self.head.ends_with(b"\r\n\r\n");
                if self.is_open {
                    self.head.clear();
                }
            } else if let Some(payload) = payload(&self.head) {
                // A continuation belongs to a counted message; a control frame is not a message.
                messages += u64::from(matches!(self.head[0] & 0xF, 1 | 2));
                self.rest = payload;
                self.head.clear();
            }
        }
        messages
    }
}

/// The payload length in a whole head of a frame. The masking key is a part of the head.
fn payload(head: &[u8]) -> Option<u64> {
    let (masked, short) = (head.get(1)? & 0x80 != 0, head[1] & 0x7F);
    let wide = match short {
        126 => 2,
        127 => 8,
        _ => 0,
    };
    if head.len() < 2 + wide + if masked { 4 } else { 0 } {
        return None;
    }
    let of_bytes = |length: u64, &byte: &u8| length << 8 | u64::from(byte);
    Some(match wide {
        0 => short.into(),
        _ => head[2..2 + wide].iter().fold(0, of_bytes),
    })
}

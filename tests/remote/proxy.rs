//! A network that can stall: a proxy passes bytes between client and server unless it is stopped.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Flowing,
    Stalled,
    Disconnected,
}

#[derive(Clone)]
pub struct Proxy {
    address: SocketAddr,
    gate: Arc<(Mutex<State>, Condvar)>,
}

impl Proxy {
    /// A proxy in front of `server`.
    pub fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let proxy = Self {
            address: listener.local_addr().expect("it is bound"),
            gate: Arc::new((Mutex::new(State::Flowing), Condvar::new())),
        };
        let forwarding = proxy.clone();
        thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.expect("a client connects");
                let server = TcpStream::connect(server).expect("the server listens");
                forwarding.forward(&client, &server);
                forwarding.forward(&server, &client);
            }
        });
        proxy
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn stall(&self) {
        self.set(State::Stalled);
    }

    pub fn resume(&self) {
        self.set(State::Flowing);
    }

    /// Ends every connection.
    pub fn disconnect(&self) {
        self.set(State::Disconnected);
    }

    fn set(&self, state: State) {
        *self.gate.0.lock().unwrap_or_else(PoisonError::into_inner) = state;
        self.gate.1.notify_all();
    }

    /// Waits while the network is stalled. Returns whether bytes may pass.
    fn passes(&self) -> bool {
        let state = self.gate.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stalled = |state: &mut State| *state == State::Stalled;
        let state = self.gate.1.wait_while(state, stalled);
        *state.unwrap_or_else(PoisonError::into_inner) == State::Flowing
    }

    fn forward(&self, from: &TcpStream, to: &TcpStream) {
        let (mut from, mut to) = (
            from.try_clone().expect("a socket"),
            to.try_clone().expect("a socket"),
        );
        let watching = (self.clone(), from.try_clone().expect("a socket"));
        thread::spawn(move || {
            // Ending the connections wakes the threads that read.
            let (proxy, from) = watching;
            let state = proxy.gate.0.lock().unwrap_or_else(PoisonError::into_inner);
            let connected = |state: &mut State| *state != State::Disconnected;
            drop(proxy.gate.1.wait_while(state, connected));
            let _ = from.shutdown(Shutdown::Both);
        });
        let proxy = self.clone();
        thread::spawn(move || {
            let mut bytes = vec![0; 64 << 10];
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                if !proxy.passes() || to.write_all(&bytes[..count]).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(Shutdown::Both);
        });
    }
}

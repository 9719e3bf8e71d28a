//! Servers: threads of this process, and child processes that can be ended or stopped.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::ops::Deref;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use burn::backend::Flex;
use burn::remote::{EndpointId, IrohHost, IrohRelays, RemoteHost};
use burn::server::{
    IrohIdentity, IrohTransport, RemoteServer, TokenAuthorizer, WebSocketTransport,
};
use burn::tensor::Device;
use burn_scan::remote::custom_ops;

/// Tells a child process of this binary which transport to serve over.
const SERVE: &str = "BURN_SCAN_TEST_SERVES";
/// The test that serves.
const CHILD: &str = "servers::serves_where_it_is_told_to";
/// A child process prints this before its address.
const READY: &str = "serving at ";
/// The token that the server's authorizer requires.
pub const TOKEN: &str = "the token of these tests";

/// Flex with this crate's operations.
pub fn flex() -> RemoteServer {
    RemoteServer::new([Device::flex()]).with_custom_ops(custom_ops::<Flex>())
}

/// Serves on a port of loopback until the process ends. Returns the address.
pub fn serve(server: RemoteServer) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || server.serve(WebSocketTransport::from_listener(listener)));
    address
}

pub fn at(address: SocketAddr) -> RemoteHost {
    RemoteHost::websocket(&format!("ws://{address}"))
}

fn over_iroh(id: EndpointId, port: u16) -> RemoteHost {
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let host = IrohHost::new(id).with_relays(IrohRelays::Disabled);
    RemoteHost::iroh(host.with_address(address))
}

pub fn connect(host: &RemoteHost) -> Device {
    let connected = Device::remote_options(host).init();
    connected.unwrap_or_else(|error| panic!("{host:?}: {error}"))
}

/// The sessions of one server that no test uses at the moment. Each remote device has two threads that wake
/// every 150 µs until the process ends, so a session for each test would use all of the machine's time.
pub struct Sessions {
    host: RemoteHost,
    free: Mutex<Vec<Device>>,
}

/// A session that no other test uses meanwhile. It is not used again after a failed test.
pub struct Session {
    device: Device,
    from: &'static Sessions,
}

impl Sessions {
    fn of(host: RemoteHost) -> Self {
        Self {
            host,
            free: Mutex::new(Vec::new()),
        }
    }

    fn take(&'static self) -> Session {
        static OPENED: AtomicUsize = AtomicUsize::new(0);

        let free = self
            .free
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let open = || {
            // Burn has one session for each host and credential. This server accepts any credential.
            let number = OPENED.fetch_add(1, Ordering::Relaxed).to_string();
            connect(&self.host.clone().with_credential(number.as_str()))
        };
        Session {
            device: free.unwrap_or_else(open),
            from: self,
        }
    }
}

impl Deref for Session {
    type Target = Device;

    fn deref(&self) -> &Device {
        &self.device
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !thread::panicking() {
            let mut free = self
                .from
                .free
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            free.push(self.device.clone());
        }
    }
}

/// Flex over WebSocket.
pub fn websocket() -> Session {
    static SESSIONS: LazyLock<Sessions> = LazyLock::new(|| Sessions::of(at(serve(flex()))));
    SESSIONS.take()
}

/// Flex over Iroh without relays.
pub fn iroh() -> Session {
    static SESSIONS: LazyLock<Sessions> = LazyLock::new(sessions_over_iroh);
    SESSIONS.take()
}

/// The same on another server.
pub fn another_iroh() -> Session {
    static SESSIONS: LazyLock<Sessions> = LazyLock::new(sessions_over_iroh);
    SESSIONS.take()
}

fn sessions_over_iroh() -> Sessions {
    let (transport, port) = iroh_transport();
    let id = transport.id();
    thread::spawn(move || flex().serve(transport));
    Sessions::of(over_iroh(id, port))
}

/// A transport on a port that was free a moment ago.
fn iroh_transport() -> (IrohTransport, u16) {
    let probe = UdpSocket::bind("0.0.0.0:0").expect("a port is free");
    let port = probe.local_addr().expect("it is bound").port();
    let transport = IrohTransport::new(IrohIdentity::random());
    (
        transport.with_relays(IrohRelays::Disabled).with_port(port),
        port,
    )
}

/// A command that starts this binary again for one test. The variable tells the test its task.
fn one_test(test: &str, variable: &str, value: &str) -> Command {
    let binary = std::env::current_exe().expect("this binary has a path");
    let mut command = Command::new(binary);
    command.args([test, "--exact", "--nocapture"]);
    command.env(variable, value);
    command
}

/// Runs one test in another process, where it must pass.
#[track_caller]
pub fn again(test: &str, variable: &str, value: &str) {
    let ended = one_test(test, variable, value).output();
    let ended = ended.expect("this binary starts again");
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(
        ended.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

/// Starts this binary again for one test. The variable tells the test that it is a child.
pub fn child(test: &str, variable: &str, value: &str) -> Child {
    one_test(test, variable, value)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("this binary starts again")
}

/// Waits until a child prints a line with `mark`. Returns the rest of that line.
pub fn told_by(child: &mut Child, mark: &str) -> String {
    let output = child.stdout.take().expect("its output is piped");
    let mut lines = BufReader::new(output).lines();
    lines
        .find_map(|line| Some(line.ok()?.split_once(mark)?.1.to_string()))
        .expect("the child says what it was started for")
}

/// A process that serves Flex to clients with [`TOKEN`], until this is dropped.
pub struct Served {
    process: Child,
    host: RemoteHost,
    /// The part of the host that an error message must contain.
    pub name: String,
}

impl Served {
    pub fn over_websocket() -> Self {
        Self::over("websocket", |address| {
            RemoteHost::websocket(&format!("ws://{address}"))
        })
    }

    pub fn over_iroh() -> Self {
        Self::over("iroh", |address| {
            let (id, port) = address.split_once(' ').expect("an id and a port");
            over_iroh(
                id.parse().expect("an id"),
                port.parse().expect("a port number"),
            )
        })
    }

    fn over(transport: &str, host: impl FnOnce(&str) -> RemoteHost) -> Self {
        let mut process = child(CHILD, SERVE, transport);
        let address = told_by(&mut process, READY);
        // An id, or the port on loopback: Burn shows the parts of an address.
        let shown = address.split(' ').next().expect("not empty");
        let name = shown.rsplit(':').next().expect("not empty").to_string();
        Self {
            process,
            host: host(&address),
            name,
        }
    }

    pub fn host(&self) -> RemoteHost {
        self.host.clone().with_credential(TOKEN)
    }

    /// Ends the process and waits for its end.
    pub fn kill(&mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ends");
    }

    /// Stops the process, as if the machine's network were gone, until [`resume`](Self::resume).
    #[cfg(unix)]
    pub fn stop(&self) {
        self.signal("-STOP");
    }

    #[cfg(unix)]
    pub fn resume(&self) {
        self.signal("-CONT");
    }

    #[cfg(unix)]
    fn signal(&self, signal: &str) {
        let id = self.process.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status();
        assert!(sent.expect("`kill` is there").success());
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// In a child process, serves until its parent ends. Otherwise does nothing.
#[test]
fn serves_where_it_is_told_to() {
    let Ok(transport) = std::env::var(SERVE) else {
        return;
    };
    end_with_the_parent();
    let authorizer = TokenAuthorizer::new(TOKEN).expect("not empty");
    let server = flex().with_authorizer(authorizer);
    let served = match transport.as_str() {
        "websocket" => {
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
            println!("{READY}{}", listener.local_addr().expect("it is bound"));
            server.serve(WebSocketTransport::from_listener(listener))
        }
        _ => {
            let (transport, port) = iroh_transport();
            println!("{READY}{} {port}", transport.id());
            server.serve(transport)
        }
    };
    served.expect("it serves until it is ended");
}

/// Ends this process with its parent, because the parent's end closes this process's input.
pub fn end_with_the_parent() {
    thread::spawn(|| {
        let mut rest = Vec::new();
        let _ = std::io::stdin().read_to_end(&mut rest);
        std::process::exit(0);
    });
}

/// Calls `body` on another thread. Panics if that takes longer than `limit`.
#[track_caller]
pub fn within<T: Send + 'static>(limit: Duration, body: impl FnOnce() -> T + Send + 'static) -> T {
    let running = thread::spawn(body);
    let begin = Instant::now();
    while !running.is_finished() {
        assert!(begin.elapsed() < limit, "still waiting after {limit:?}");
        thread::sleep(Duration::from_millis(2));
    }
    match running.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

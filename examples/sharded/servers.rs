//! Servers as child processes of this one.

use std::io::{self, BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::thread;

use burn::backend::Flex;
use burn::server::{RemoteServer, WebSocketTransport};
use burn::tensor::Device;

/// A child process prints this before its address.
const READY: &str = "serving at ";

/// Serves the CPU on a free port of loopback while the parent holds this process's input open.
pub fn serve() -> Result<(), String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    println!("{READY}{address}");
    thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    RemoteServer::new([Device::flex()])
        .with_custom_ops(burn_scan::remote::custom_ops::<Flex>())
        .serve(WebSocketTransport::from_listener(listener))
        .map_err(|error| error.to_string())
}

/// A server that ends when this value is dropped.
pub struct Server {
    process: Child,
    pub address: SocketAddr,
}

impl Server {
    /// Starts this program again; `argument` tells it to [`serve`]. Waits until it does.
    pub fn start(argument: &str) -> Result<Self, String> {
        let error = |error: io::Error| format!("a server does not start: {error}");
        let mut process = Command::new(std::env::current_exe().map_err(error)?)
            .arg(argument)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(error)?;
        let output = process.stdout.take().expect("it is piped");
        let told = |line: io::Result<String>| line.ok()?.strip_prefix(READY)?.parse().ok();
        match BufReader::new(output).lines().find_map(told) {
            Some(address) => Ok(Self { process, address }),
            None => Err("a server ended before it served".to_owned()),
        }
    }

    pub fn end(&mut self) {
        // The process may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

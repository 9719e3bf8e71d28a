//! A server of Burn's remote backend with this crate's operations: its device runs the scans and compactions of its
//! clients.
//!
//! ```text
//! client                                         this server
//! Tensor on Device::remote  ──ops, uploads──▶    flex, wgpu, cuda, ..   with remote::custom_ops
//!                           ◀─────reads──────    install(): Burn's own cumsum on Cube is ours, too
//! ```
//!
//! ```text
//! cargo run --release --features remote --example scan_server -- --device flex --port 3000
//! cargo run --release --features remote --example scan_server -- --device wgpu --token TOKEN
//! cargo run --release --features remote --example scan_server -- --iroh KEYFILE
//! ```
//!
//! Without `--iroh` it serves over WebSocket without encryption: for trusted networks only, where `--token`
//! keeps out strangers. With `--iroh` it serves over QUIC, encrypted, as the identity in KEYFILE, and makes
//! that file if it is missing. It uses no relays, so clients need the address as well. Without `--token` it
//! makes up a token. The server prints what a client types, and runs until Ctrl+C.

use std::net::TcpListener;
use std::process::ExitCode;

#[cfg(feature = "cubecl-backend")]
use burn::backend::Cube;
use burn::backend::DispatchDevice;
#[cfg(feature = "flex")]
use burn::backend::Flex;
use burn::server::{
    IrohIdentity, IrohRelays, IrohTransport, RemoteServer, TokenAuthorizer, Transport,
    WebSocketTransport,
};
use burn::tensor::Device;
use burn_scan::remote::custom_ops;
use burn_scan::{InstallError, install};
use common::arguments::Arguments;

const USAGE: &str = "scan_server [--device NAME] [--port PORT] [--token TOKEN] [--iroh KEYFILE]";

/// The port of Burn's own examples.
const PORT: u16 = 3000;

fn main() -> ExitCode {
    common::run(USAGE, run)
}

fn run(arguments: &Arguments) -> Result<bool, String> {
    let port = match arguments.option("--port") {
        Some(text) => text.parse().map_err(|_| format!("{text} is no port"))?,
        None => PORT,
    };
    match install() {
        // A build without a Cube device has nothing to hook.
        Ok(()) | Err(InstallError::NothingToHook) => {}
        Err(error) => return Err(error.to_string()),
    }
    let (device, description) = common::device::choose(arguments.device())?;
    println!("device: {description}");
    #[cfg(feature = "cubecl-backend")]
    if let DispatchDevice::Cube(_) = device.as_dispatch() {
        println!("Burn's own cumsum, cumprod, cummax and cummin run on our kernels there, too.");
    }
    let (transport, token) = match arguments.option("--iroh") {
        Some(key_file) => over_iroh(key_file, port, arguments.option("--token"))?,
        None => over_websocket(port, arguments.option("--token"))?,
    };
    let server = match token {
        Some(token) => {
            let authorizer = TokenAuthorizer::new(token).map_err(|error| error.to_string())?;
            hosting(device)?.with_authorizer(authorizer)
        }
        None => hosting(device)?,
    };
    let served = server.serve(transport);
    served.map_err(|error| error.to_string())?;
    Ok(true)
}

/// A server of the device with the operations of its backend.
fn hosting(device: Device) -> Result<RemoteServer, String> {
    let server = RemoteServer::new([device.clone()]);
    match device.as_dispatch() {
        #[cfg(feature = "flex")]
        DispatchDevice::Flex(_) => Ok(server.with_custom_ops(custom_ops::<Flex>())),
        #[cfg(feature = "cubecl-backend")]
        DispatchDevice::Cube(_) => Ok(server.with_custom_ops(custom_ops::<Cube>())),
        _ => Err(format!("{device:?} cannot be served")),
    }
}

/// The transport, and the text that clients must know.
type Served = (Transport, Option<String>);

fn over_websocket(port: u16, token: Option<&str>) -> Result<Served, String> {
    let listener =
        TcpListener::bind(("0.0.0.0", port)).map_err(|error| format!("port {port}: {error}"))?;
    let port = listener.local_addr().map_or(port, |address| address.port());
    let credential = match token {
        Some(token) => format!(".with_credential({token:?})"),
        None => String::new(),
    };
    println!("serving over WebSocket on port {port} until Ctrl+C. A client types:\n");
    println!("    let host = RemoteHost::websocket(\"ws://HOST:{port}\"){credential};");
    println!("    let device = Device::remote_options(&host).init()?;\n");
    println!("Nothing is encrypted: for a trusted network.");
    if token.is_none() {
        println!("Whoever reaches the port is served; --token TOKEN keeps strays out.");
    }
    let transport = WebSocketTransport::from_listener(listener);
    Ok((transport.into(), token.map(str::to_string)))
}

fn over_iroh(key_file: &str, port: u16, token: Option<&str>) -> Result<Served, String> {
    let identity =
        IrohIdentity::load_or_create(key_file).map_err(|error| format!("{key_file}: {error}"))?;
    let token = token.map_or_else(made_up, str::to_string);
    let transport = IrohTransport::new(identity)
        .with_relays(IrohRelays::Disabled)
        .with_port(port);
    let id = transport.id();
    println!("serving over Iroh on UDP port {port} until Ctrl+C. A client types:\n");
    println!("    let server: EndpointId = \"{id}\".parse()?;");
    println!("    let server = IrohHost::new(server).with_relays(IrohRelays::Disabled);");
    println!("    let server = server.with_address(\"ADDRESS:{port}\".parse()?);");
    println!("    let host = RemoteHost::iroh(server).with_credential({token:?});");
    println!("    let device = Device::remote_options(&host).init()?;\n");
    println!("Whoever has the token is served; {key_file} is this server's identity.");
    Ok((transport.into(), Some(token)))
}

/// A token as random as a key.
fn made_up() -> String {
    let bytes = IrohIdentity::random().to_bytes();
    bytes[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

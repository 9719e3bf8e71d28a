//! Both ends of Burn's remote backend: this crate's operations on devices that another process or machine hosts.
//!
//! ```text
//! client                                           server
//! tensor method                                    RemoteServer / BackendServer
//!   ScanOps for Remote  (client.rs)                  CustomOpRegistry  (server.rs)
//!     id, tensors, arguments as scalars ──────────▶    checks (rules.rs, limits.rs), then ScanOps for its backend
//!     output shapes       ◀── the same row of ──▶     output shapes, which must be those the client expects
//!                             ops.rs
//! ```
//!
//! One row of `ops.rs` holds all that both ends know about an operation: its tensors, its arguments, its results and
//! their shapes, and the rules for them. Client and server are made from the rows, so they cannot differ within one
//! version. Between versions, `peer.rs` compares [`PROTOCOL`] once for each device, and every call carries it.
//!
//! A client's operations wait in its queue and travel as a graph, as Burn's own operations do. If the same graph was
//! sent before, only the numbers travel. That is why all arguments are scalars of the operation: Burn puts the scalars
//! of the new call into the graph that it replays.
//!
//! # Server
//!
//! ```no_run
//! use burn::backend::Flex;
//! use burn::server::{RemoteServer, WebSocketTransport};
//! use burn::tensor::Device;
//!
//! // Blocks until Ctrl+C.
//! RemoteServer::new([Device::flex()])
//!     .with_custom_ops(burn_scan::remote::custom_ops::<Flex>())
//!     .serve(WebSocketTransport::new(3000))
//!     .unwrap();
//! ```
//!
//! # Client
//!
//! ```no_run
//! use burn::remote::RemoteHost;
//! use burn::tensor::{Device, Tensor};
//! use burn_scan::prelude::*;
//!
//! let host = RemoteHost::websocket("ws://127.0.0.1:3000");
//! let device = Device::remote_options(&host).init().unwrap();
//! let sums = Tensor::<1>::from_data([1., 2., 3.], &device).inclusive_cumsum(0);
//! assert_eq!(sums.into_data().try_to_vec::<f32>().unwrap(), [1., 3., 6.]);
//! ```

mod client;
mod fault;
mod limits;
mod ops;
mod peer;
mod protocol;
mod rules;
mod server;
mod tensors;
mod wire;

pub use ops::{OPERATIONS, Operation};
pub(crate) use peer::supports;
pub use protocol::PROTOCOL;
pub use server::custom_ops;

//! The library for any language: JSON-RPC 2.0 over a pair of streams, one message per line.
//!
//! [`Host`] owns the objects of a client (sessions, streams, guards) and runs the methods of [`METHODS`]; [`serve`] reads
//! requests from a stream and writes their responses. A request that names an object waits for the earlier requests that
//! name it; all others run at the same time. `docs/host.md` describes the protocol.
//!
//! ```
//! use std::sync::Arc;
//! use seamline_host::{Host, HostLimits, serve};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let request = br#"{"jsonrpc":"2.0","id":1,"method":"check","params":{"body":{"messages":[{"role":"user","content":"hi"}]}}}"#;
//! let (near, far) = tokio::io::duplex(4096);
//! serve(Arc::new(Host::new(HostLimits::default())), &request[..], near).await?;
//! let mut response = String::new();
//! tokio::io::AsyncReadExt::read_to_string(&mut { far }, &mut response).await?;
//! assert!(response.starts_with(r#"{"jsonrpc":"2.0","id":1,"result":{"dialect":"#), "{response}");
//! # Ok::<(), std::io::Error>(())
//! # })?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod body;
mod error;
mod host;
mod lines;
mod log;
mod message;
mod methods;
mod object;
mod page;
mod params;
mod schema;
mod serve;
mod table;

pub use error::RpcError;
pub use host::Host;
pub use message::RpcCall;
pub use methods::METHODS;
pub use object::ObjectKind;
pub use page::page;
pub use schema::schema;
pub use serve::{HostLimits, RunningRequest, Service, serve};
pub use table::{Method, Param, Type};

/// The versions of the protocol that this host speaks, newest first.
pub const VERSIONS: &[u32] = &[1];

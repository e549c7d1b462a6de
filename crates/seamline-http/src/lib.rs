//! Repairs requests to language models inside an HTTP client.
//!
//! [`RepairLayer`] is a layer for services of `tower` and `hyper`; [`RepairMiddleware`] is a middleware for clients of
//! `reqwest-middleware`. Both take a [`Repairer`] and do the same: they find the requests to providers by their URL, check
//! and repair the conversation, and send a body without a finding as it is, byte for byte. If the provider
//! still rejects the conversation, they repair it harder and send it once more. Responses pass through unchanged; a callback
//! can get each assembled response of a stream.
//!
//! ```
//! use seamline_http::{Repairer, RepairLayer};
//! use tower_layer::Layer as _;
//!
//! # #[derive(Clone)]
//! # struct Client;
//! # let client = Client;
//! let repairer = Repairer::new().on_repair(|repaired| println!("{} repairs", repaired.actions.len()));
//! let client = RepairLayer::new(repairer).layer(client);
//! ```
//!
//! # Features
//!
//! | Feature | Adds |
//! |---|---|
//! | `tower` (default) | [`RepairLayer`] and [`RepairService`] |
//! | `reqwest` | [`RepairMiddleware`] |
//!
//! Compressed requests and requests to other URLs than those of conversations pass through unread. The crate
//! needs no runtime and starts no task.
//!
#![cfg_attr(feature = "reqwest", doc = " [`RepairMiddleware`]: crate::RepairMiddleware")]
#![cfg_attr(
    not(feature = "reqwest"),
    doc = " [`RepairMiddleware`]: https://docs.rs/seamline-http/latest/seamline_http/struct.RepairMiddleware.html"
)]

mod body;
#[cfg(feature = "tower")]
mod layer;
mod log;
#[cfg(feature = "reqwest")]
mod middleware;
mod repairer;

pub use self::body::{BoxError, ResponseBody};
#[cfg(feature = "tower")]
pub use self::layer::{RepairLayer, RepairService};
#[cfg(feature = "reqwest")]
pub use self::middleware::RepairMiddleware;
pub use self::repairer::{Blocked, ClientMode, Repairer};

/// Runs the examples of `docs/http.md`.
#[cfg(all(doctest, feature = "reqwest"))]
#[doc = include_str!("../../../docs/http.md")]
struct Page;

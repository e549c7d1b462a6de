//! The part of a request that the provider remembers.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::http::{self, Headers};
use crate::Dialect;
use crate::events::{Event, events};

/// A request that the provider took, and its response.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The number of the connection, from zero.
    pub connection: usize,
    /// The method of the request.
    pub method: String,
    /// The path of the request, with the query.
    pub path: String,
    /// The dialect of the path; none for other paths, such as a list of models.
    pub dialect: Option<Dialect>,
    /// The headers, in the order and spelling of the client.
    pub headers: Headers,
    /// The bytes of the first line and of the headers. Empty for a message over a WebSocket.
    pub raw_head: Vec<u8>,
    /// The bytes of the body as they were sent, without the framing of chunks.
    pub raw_body: Vec<u8>,
    /// Whether the body came in chunks.
    pub is_chunked: bool,
    /// The trailers of the body.
    pub trailers: Headers,
    /// The body without its content coding, read as JSON; null if it is not JSON.
    pub body: Value,
    /// The status of the response.
    pub status: u16,
    /// The violations for which the request was rejected.
    pub violations: Vec<String>,
    pub(super) end: Arc<OnceLock<End>>,
}

/// How a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All of it was sent.
    Sent,
    /// The script ended it.
    Scripted,
    /// The client closed the connection after so many frames.
    ClientGone {
        /// The number of frames that were sent before.
        frames: usize,
    },
}

impl Exchange {
    /// The outputs of the tool results in the request.
    pub fn results(&self) -> Vec<String> {
        let Some(dialect) = self.dialect else { return Vec::new() };
        let outputs = events(dialect, &self.body).into_iter().filter_map(|event| match event {
            Event::Result { output, .. } => Some(output),
            Event::Call { .. } | Event::Other => None,
        });
        outputs.collect()
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        http::find(&self.headers, name)
    }

    /// How the response ended; nothing while it is being sent.
    pub fn end(&self) -> Option<End> {
        self.end.get().copied()
    }
}

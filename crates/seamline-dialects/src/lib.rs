//! Wire to words and back: one folder per dialect, one file per provider.
//!
//! A dialect reads a request body into a [`Transcript`](seamline_model::Transcript),
//! reports what it could read only by being tolerant, and writes edits back by splicing
//! the original text. It never decides that something is wrong with a conversation.
#![deny(clippy::disallowed_methods)]

mod answering;
pub mod anthropic_messages;
mod arguments;
pub mod bedrock_converse;
mod blocks;
pub mod convert;
mod detect;
mod detect_stream;
mod dialect;
mod envelope;
mod error;
mod frames;
pub mod gemini_generate;
mod ids;
mod json;
mod kept;
mod members;
mod no_message;
pub mod openai_chat;
pub mod openai_responses;
mod pointer;
pub mod providers;
mod reader;
mod reading;
mod repeated;
mod results;
mod rewriting;
mod roles;
mod splice;
mod streamed;
mod streaming;

pub use detect::{contradiction, detect};
pub use detect_stream::{StreamSign, detect_stream};
pub use dialect::{ALL, Dialect, by_name};
pub use error::{Error, Position};
pub use json::{BYTES_MAX, Document, NODES_MAX, Syntax, SyntaxKind, readable, said};
pub use no_message::{NoMessage, Shapes};
pub use providers::Provider;
pub use results::{Answering, Results};
pub use splice::patch;
pub use streaming::{StreamReader, Streaming};

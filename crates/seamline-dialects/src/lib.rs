//! Dialects and providers: one folder per dialect, one file per provider.
//!
//! A dialect reads a request body into a [`Transcript`](seamline_model::Transcript), reports every irregularity that
//! it tolerated, and writes edits back by splicing the original text. It never decides that a conversation is wrong.
#![deny(clippy::disallowed_methods)]

mod arguments;
mod beside;
mod blocks;
pub mod convert;
mod density;
mod detect;
mod detect_stream;
mod dialect;
mod envelope;
mod error;
mod failures;
mod fenced;
mod foreign_result;
mod frames;
mod ids;
mod json;
mod kept;
mod members;
mod no_message;
mod pointer;
mod provider;
pub mod providers;
mod reader;
mod reading;
mod rejected;
mod repeated;
mod response_facts;
mod response_text;
mod results;
mod rewriting;
mod roles;
mod signing;
mod splice;
mod streamed;
mod streaming;
mod unknown;
mod words;

// rustfmt does not look into macros; `cargo xtask format` formats the folders listed here.
dialect::dialects! {
    anthropic_messages,
    bedrock_converse,
    gemini_generate,
    gemini_interactions,
    openai_chat,
    openai_responses,
}

pub use detect::{contradiction, detect};
pub use detect_stream::{StreamSign, detect_stream};
pub use dialect::{Dialect, block_lists, by_name, message_lists};
pub use error::{Error, Position};
pub use failures::{ErrorBody, FailedEvent, FailedStream, FailureCause};
pub use json::{BYTES_MAX, Document, NODES_MAX, Syntax, SyntaxKind, readable, said};
pub use no_message::{NoMessage, Shapes};
pub use providers::Provider;
pub use reader::{Earlier, Extended};
pub use rejected::{find_members, find_rejected};
pub use response_facts::ResponseFacts;
pub use results::{AnsweredCall, Results, UnlistedCalls};
pub use signing::SignableCall;
pub use splice::patch;
pub use streaming::{StreamReader, Streaming};
pub use words::{id_prefix, is_word};

//! Histories in the shape of the program that keeps them: lists of messages other than request bodies.
//!
//! Such a history is read through a lens. [`History::read`] shows each entry as a message of a *carrier*, a body in the
//! Chat Completions dialect; the carrier is checked and repaired like every other body; [`History::give_back`] writes the
//! outcome in the program's own shape. An entry that did not change keeps its bytes, and a changed one keeps every member
//! that the carrier does not show. Each shape has one file.

mod back;
mod entry;
mod history;
mod llxprt;
mod media;
pub(crate) mod message;
mod opal;
pub(crate) mod openclaw;
mod order;
pub(crate) mod shape;
pub(crate) mod text;
mod unseen;
mod weigh;

pub use back::{GivenBack, Returned};
pub use history::{Error, History, HistoryPlace};
pub(crate) use media::with_media;
pub use order::Order;
pub use shape::Shape;
pub use weigh::{Recognised, recognise};

/// All shapes.
pub const ALL: &[&Shape] = &[&opal::SHAPE, &openclaw::SHAPE, &llxprt::SHAPE];

/// Finds a shape by its name.
pub fn by_name(name: &str) -> Option<&'static Shape> {
    ALL.iter().copied().find(|shape| shape.name == name)
}

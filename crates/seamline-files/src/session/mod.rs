//! Sessions of other programs: how a program's records become the conversation that it would send, and how a repaired
//! conversation becomes records again.
//!
//! A [`Format`] reads the records of a file into a [`Reading`]: the *active* conversation, as messages of a *carrier* (a
//! request body in the dialect of the program's provider), and the defects of the file itself. The carrier is checked and
//! repaired like every other body. [`Format::write`] gives the outcome back as records. A record whose message did not
//! change keeps its bytes.

mod abridge;
pub(crate) mod catalogue;
mod chain;
mod defect;
mod document;
mod export;
mod format;
mod header;
mod ids;
mod left_out;
mod listed;
mod reading;
mod rewrite;
mod summary;
mod texts;
pub mod time;

pub use abridge::KeptTexts;
pub use catalogue::{DEFECTS, DefectKind, Weight, by_damage, gap_in_numbers};
pub use defect::{Defect, RecordEdit, apply};
pub use document::FileLayout;
pub use export::{Export, Exporter, NewSession, session_id};
pub use format::{FileInput, Format, shell_word};
pub use left_out::{LeftKind, LeftOut, LeftOutOf};
pub use reading::{About, CarriedMessage, FileReading, Reading};
pub use rewrite::{NewRecord, RecordRepair, ReturnedMessage};

pub(crate) use chain::{Node, Walk};
pub(crate) use export::dashed;
pub(crate) use header::SessionHeader;
pub(crate) use ids::{IdList, IdNumber, Ids};
pub(crate) use listed::{Listed, chat_message, envelope_text, message_with, new_record, record_with};
pub(crate) use rewrite::{Links, NewMessage, Writer, longest_rising, uuid, uuid_of};
pub(crate) use texts::{MessageList, TextPlace, Texts};

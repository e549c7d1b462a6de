//! The catalogue of stream flaws: codes, names, messages and documentation.

mod blocks;
mod frames;

use seamline_model::{Severity, StreamFlaw, Unreadable};

use blocks::{
    STREAM005, STREAM006, STREAM007, STREAM008, STREAM009, STREAM011, STREAM013, STREAM016, STREAM017, STREAM020,
};
use frames::{
    STREAM001, STREAM002, STREAM003, STREAM004, STREAM010, STREAM012, STREAM014, STREAM015, STREAM018, STREAM019,
};

/// One kind of flaw in a stream.
#[derive(Debug, PartialEq, Eq)]
pub struct FlawKind {
    /// Its code, which is never reused.
    pub code: &'static str,
    /// Its name, such as `two-inputs`.
    pub name: &'static str,
    /// How severe it is: an error if part of the response is lost or must not be run.
    pub severity: Severity,
    /// The message, in one clause.
    pub message: &'static str,
    /// Its documentation, in Markdown.
    pub docs: &'static str,
}

/// Declares a kind of flaw. The doc comment is its documentation everywhere.
macro_rules! declare_flaw {
    ($(#[doc = $doc:literal])+ $code:ident $name:literal, $severity:ident, $message:literal) => {
        $(#[doc = $doc])+
        pub(super) static $code: FlawKind = FlawKind {
            code: stringify!($code),
            name: $name,
            severity: Severity::$severity,
            message: $message,
            docs: concat!($($doc, "\n"),+),
        };
    };
}

use declare_flaw;

/// Every kind of flaw, by code.
pub const FLAWS: &[&FlawKind] = &[
    &STREAM001, &STREAM002, &STREAM003, &STREAM004, &STREAM005, &STREAM006, &STREAM007, &STREAM008, &STREAM009,
    &STREAM010, &STREAM011, &STREAM012, &STREAM013, &STREAM014, &STREAM015, &STREAM016, &STREAM017, &STREAM018,
    &STREAM019, &STREAM020,
];

impl FlawKind {
    /// The kind of a flaw.
    pub fn of(flaw: &StreamFlaw) -> &'static Self {
        match flaw {
            StreamFlaw::Unreadable(Unreadable::NotJson) => &STREAM001,
            StreamFlaw::Unreadable(Unreadable::Shape) => &STREAM002,
            StreamFlaw::Unreadable(Unreadable::Stray) => &STREAM003,
            StreamFlaw::Unreadable(Unreadable::SecondMessage) => &STREAM004,
            StreamFlaw::TwoInputs { .. } => &STREAM005,
            StreamFlaw::BrokenInput { .. } => &STREAM006,
            StreamFlaw::Nameless { .. } => &STREAM007,
            StreamFlaw::NoId { .. } => &STREAM008,
            StreamFlaw::Repeated { .. } => &STREAM009,
            StreamFlaw::TooLong => &STREAM010,
            StreamFlaw::TwoTexts { .. } => &STREAM011,
            StreamFlaw::Unreadable(Unreadable::Count) => &STREAM012,
            StreamFlaw::Unfinished { .. } => &STREAM013,
            StreamFlaw::Half { .. } => &STREAM014,
            StreamFlaw::UnknownStop => &STREAM015,
            StreamFlaw::Unsigned { .. } => &STREAM016,
            StreamFlaw::Snapshots { .. } => &STREAM017,
            StreamFlaw::BegunAgain => &STREAM018,
            StreamFlaw::Rewritten => &STREAM019,
            StreamFlaw::Unbegun { .. } => &STREAM020,
        }
    }

    /// The first sentence of its documentation.
    pub fn summary(&self) -> String {
        let said = self.docs.lines().map(str::trim).skip_while(|line| line.is_empty() || line.starts_with('#'));
        let text = said.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
        match text.split_once(". ") {
            Some((first, _)) => format!("{first}."),
            None => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_order_and_every_kind_is_documented() {
        for (index, kind) in FLAWS.iter().enumerate() {
            assert_eq!(kind.code, format!("STREAM{:03}", index + 1));
            assert!(kind.docs.starts_with(" # What it does\n"), "{}", kind.code);
            assert!(kind.summary().ends_with('.'), "{}", kind.summary());
            assert!(!kind.message.ends_with('.'), "{}", kind.message);
        }
    }
}

//! The reports of a check and a repair, for programs.

use seamline::Finding;
use seamline::check::Checked;
use seamline::repair::{Dropped, MoreActions, Prefix, RepairAction, Repaired};
use serde::Serialize;

use crate::failure::Failure;

/// The text before and after the documents.
pub(crate) const OPENING: &str = "{\"version\":1,\"documents\":[";
pub(crate) const CLOSING: &str = "]}\n";

/// A body that was checked.
pub(crate) fn checked(label: &str, checked: &Checked) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        path: &'a str,
        #[serde(flatten)]
        checked: &'a Checked,
    }
    let path = label;
    text(&Document { path, checked })
}

/// A body that was repaired.
pub(crate) fn repaired(label: &str, repaired: &Repaired<'_>) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        path: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<&'a str>,
        changed: bool,
        passes: u32,
        lossless: bool,
        actions: &'a [RepairAction],
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        more_actions: &'a [MoreActions],
        dropped: &'a [Dropped],
        remaining: &'a [Finding],
        prefix: &'a Prefix,
    }
    text(&Document {
        path: label,
        note: repaired.note.as_deref(),
        changed: repaired.changed(),
        passes: repaired.passes,
        lossless: repaired.lossless(),
        actions: &repaired.actions,
        more_actions: &repaired.more_actions,
        dropped: &repaired.dropped,
        remaining: &repaired.remaining,
        prefix: &repaired.prefix,
    })
}

/// A body that could not be read or written.
pub(crate) fn failed(label: &str, failure: &Failure) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        path: &'a str,
        error: &'a Failure,
    }
    text(&Document { path: label, error: failure })
}

/// A list under its name, as the listing commands print it.
pub(crate) fn listing(name: &str, list: &impl Serialize) -> String {
    format!("{{\"version\":1,{}:{}}}\n", text(&name), text(list))
}

/// Our own structures always become JSON: their keys are strings, and serialization cannot fail.
pub(crate) fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

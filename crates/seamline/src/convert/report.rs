//! What came of a conversion.

use seamline_dialects::convert::Renamed;
use seamline_model::conversation::{Fate, Lost};
use serde::Serialize;

use crate::Finding;
use crate::repair::RepairAction;

/// What came of a conversion.
///
/// ```
/// let body = br#"{"model":"claude-sonnet-4-5","max_tokens":64,"service_tier":"auto",
///   "messages":[{"role":"user","content":"hello"}]}"#;
/// let options = seamline::convert::ConvertOptions { to: "openai_chat".to_owned(), ..Default::default() };
///
/// let converted = seamline::convert(body, &options)?;
/// assert_eq!((converted.from.dialect, converted.to.dialect), ("anthropic_messages", "openai_chat"));
/// assert_eq!((converted.lost[0].pointer.as_str(), converted.lost[0].fate), ("/service_tier", "dropped"));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Converted {
    /// The body to send.
    pub body: Vec<u8>,
    /// Where it came from.
    pub from: Side,
    /// Whom it is for.
    pub to: Side,
    /// How many messages were carried over.
    pub messages: usize,
    /// What was put right in the body that came.
    pub repairs: Vec<RepairAction>,
    /// What is not carried over as it was, by its place in the body that came.
    pub lost: Vec<Carried>,
    /// Calls that have another id now.
    pub ids: Vec<Rename>,
    /// Tools that have another name now.
    pub tools: Vec<Rename>,
    /// What was put right in the new body, by its place there.
    pub adjustments: Vec<RepairAction>,
    /// What is still wrong with the new body.
    pub remaining: Vec<Finding>,
}

impl Converted {
    /// Whether nothing at all was left out.
    ///
    /// ```
    /// let body = br#"{"messages":[{"role":"user","content":"hello"}]}"#;
    /// let options = seamline::convert::ConvertOptions { to: "gemini_generate".to_owned(), ..Default::default() };
    /// assert!(seamline::convert(body, &options)?.complete());
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn complete(&self) -> bool {
        self.lost.iter().all(|lost| lost.fate != Fate::Dropped.as_str())
    }
}

/// One side of a conversion.
///
/// ```
/// let body = br#"{"messages":[{"role":"user","content":"hello"}]}"#;
/// let options = seamline::convert::ConvertOptions { to: "anthropic".to_owned(), ..Default::default() };
/// assert_eq!(seamline::convert(body, &options)?.to.provider, Some("anthropic"));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Side {
    /// The dialect.
    pub dialect: &'static str,
    /// The provider, where one is known.
    pub provider: Option<&'static str>,
}

/// Something that is not carried over as it was.
///
/// ```
/// let body = br#"{"messages":[{"role":"user","content":"hello"}],"seed":7}"#;
/// let options = seamline::convert::ConvertOptions { to: "anthropic".to_owned(), ..Default::default() };
/// let converted = seamline::convert(body, &options)?;
/// assert!(converted.lost.iter().any(|lost| lost.what == "setting `seed`" && lost.fate == "dropped"));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Carried {
    /// What it is.
    pub what: String,
    /// Where it was, as a JSON pointer into the body that came; empty for what was nowhere.
    pub pointer: String,
    /// What happens to it: `dropped`, `kept_as_text`, `moved`, `altered`, `added`, `kept`; `missing`
    /// for what only the caller can say.
    pub fate: &'static str,
    /// Why, and what that means.
    pub note: String,
}

impl Carried {
    /// Something lost, with its place if it is another than it was known by.
    pub(super) fn of(lost: Lost, place: Option<String>) -> Self {
        Self { what: lost.what, pointer: place.unwrap_or(lost.pointer), fate: lost.fate.as_str(), note: lost.note }
    }
}

/// Something that has another name now.
///
/// ```
/// let body = br#"{"messages":[
///   {"role":"assistant","content":null,"tool_calls":[
///     {"id":"hist_tool_7","type":"function","function":{"name":"read","arguments":"{}"}}]},
///   {"role":"tool","tool_call_id":"hist_tool_7","content":"ok"}]}"#;
/// let options = seamline::convert::ConvertOptions { to: "bedrock_converse".to_owned(), ..Default::default() };
/// let ids = seamline::convert(body, &options)?.ids;
/// assert!(ids.iter().all(|id| !id.to.starts_with("hist_tool_")));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Rename {
    /// What it was called.
    pub from: String,
    /// What it is called.
    pub to: String,
}

impl From<Renamed> for Rename {
    fn from(renamed: Renamed) -> Self {
        Self { from: renamed.from, to: renamed.to }
    }
}

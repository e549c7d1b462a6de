//! The outcome of a conversion.

use seamline_dialects::convert::Renamed;
use seamline_model::conversation::{Fate, Lost};
use serde::Serialize;

use crate::Finding;
use crate::repair::RepairAction;

/// The outcome of a conversion.
///
/// ```
/// let body = br#"{"model":"claude-sonnet-4-5","max_tokens":64,"service_tier":"auto",
///   "messages":[{"role":"user","content":"hello"}]}"#;
/// let options = seamline::convert::ConvertOptions { to: "openai_chat".to_owned(), ..Default::default() };
/// use seamline::convert::Fate;
///
/// let converted = seamline::convert(body, &options)?;
/// assert_eq!((converted.from.dialect, converted.to.dialect), ("anthropic_messages", "openai_chat"));
/// assert_eq!((converted.lost[0].pointer.as_str(), converted.lost[0].fate), ("/service_tier", Fate::Dropped));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Converted {
    /// The body to send.
    pub body: Vec<u8>,
    /// The source of the conversion.
    pub from: Side,
    /// The target of the conversion.
    pub to: Side,
    /// A note that the demands of the target in the dialect are not known.
    pub note: Option<String>,
    /// The number of converted messages.
    pub messages: usize,
    /// The repairs of the original body.
    pub repairs: Vec<RepairAction>,
    /// The parts that were not carried over unchanged, by their places in the original body.
    pub lost: Vec<ConversionLoss>,
    /// The calls that have another id now.
    pub ids: Vec<Rename>,
    /// The tools that have another name now.
    pub tools: Vec<Rename>,
    /// The repairs of the new body, by their places there.
    pub adjustments: Vec<RepairAction>,
    /// The violations of the new body.
    pub remaining: Vec<Finding>,
}

impl Converted {
    /// Whether nothing was left out.
    ///
    /// ```
    /// let body = br#"{"messages":[{"role":"user","content":"hello"}]}"#;
    /// let options = seamline::convert::ConvertOptions { to: "gemini_generate".to_owned(), ..Default::default() };
    /// assert!(seamline::convert(body, &options)?.is_complete());
    /// # Ok::<(), seamline::Error>(())
    /// ```
    pub fn is_complete(&self) -> bool {
        self.lost.iter().all(|lost| lost.fate != Fate::Dropped)
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
    /// The name of the dialect.
    pub dialect: &'static str,
    /// The provider, where one is known.
    pub provider: Option<&'static str>,
}

/// A part of a conversation that a conversion dropped or changed.
///
/// ```
/// let body = br#"{"messages":[{"role":"user","content":"hello"}],"seed":7}"#;
/// let options = seamline::convert::ConvertOptions { to: "anthropic".to_owned(), ..Default::default() };
/// let converted = seamline::convert(body, &options)?;
/// assert!(converted.lost.iter().any(|lost| lost.what == "setting `seed`" && lost.fate == seamline::convert::Fate::Dropped));
/// # Ok::<(), seamline::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ConversionLoss {
    /// A description of the thing.
    pub what: String,
    /// The place, as a JSON pointer into the original body; empty if it had none.
    pub pointer: String,
    /// The treatment of the item.
    #[serde(serialize_with = "fate_name")]
    pub fate: Fate,
    /// The reason, and the consequence.
    pub note: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn fate_name<S: serde::Serializer>(fate: &Fate, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(fate.as_str())
}

impl ConversionLoss {
    /// Makes a loss, with its place in the original body if it differs.
    pub(super) fn of(lost: Lost, place: Option<String>) -> Self {
        Self { what: lost.what, pointer: place.unwrap_or(lost.pointer), fate: lost.fate, note: lost.note }
    }
}

/// A changed name.
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
    /// The old name.
    pub from: String,
    /// The new name.
    pub to: String,
}

impl From<Renamed> for Rename {
    fn from(renamed: Renamed) -> Self {
        Self { from: renamed.from, to: renamed.to }
    }
}

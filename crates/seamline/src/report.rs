//! The outcomes of operations in their JSON form: what the command line, the host and the packages for other languages
//! return. Each report borrows from its outcome and implements [`Serialize`].
//!
//! [`Checked`](crate::check::Checked) is its own report.
//!
//! ```
//! let body = br#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
//!
//! let repaired = seamline::repair(body, &seamline::Options::default())?;
//! let report = serde_json::to_value(repaired.report())?;
//! assert_eq!((&report["dialect"], &report["changed"]), (&"openai_chat".into(), &true.into()));
//! assert_eq!((&report["found"][0]["code"], &report["remaining"]), (&"PAIR002".into(), &serde_json::json!([])));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod response;
mod verdict;

use serde::Serialize;

pub use response::{BlockReport, FilteredReport, ResponseErrorReport, ResponseOutcome, ResponseReport};
pub use verdict::{KnownReport, MeantRule, MemberReport, PlaceReport, VerdictReport};

use crate::Finding;
use crate::convert::{ConversionLoss, Converted, Rename, Side};
use crate::repair::{Dropped, MoreActions, Prefix, RepairAction, Repaired};

/// A repair, without the new body.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct RepairReport<'r> {
    /// The dialect that the body is written in.
    pub dialect: &'static str,
    /// The provider that the body was repaired for.
    pub provider: &'static str,
    /// The number of messages of the original body.
    pub messages: usize,
    /// The violations of the original body.
    pub found: &'r [Finding],
    /// Whether the policy lets the body be sent.
    pub sendable: bool,
    /// For each message of the new body, the index of the original message; `None` for a new one.
    pub origins: &'r [Option<usize>],
    /// The outcome of the repair.
    #[serde(flatten)]
    pub outcome: RepairOutcome<'r>,
}

/// The outcome of a repair: the document of `seamline fix --format json`.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct RepairOutcome<'r> {
    /// A remark about the repair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'r str>,
    /// Whether the body differs from the original.
    pub changed: bool,
    /// The number of passes that applied edits.
    pub passes: u32,
    /// Whether all content is still in the body.
    pub lossless: bool,
    /// The actions of the repair.
    pub actions: &'r [RepairAction],
    /// How many more actions of a rule there are.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub more_actions: &'r [MoreActions],
    /// The parts that were removed.
    pub dropped: &'r [Dropped],
    /// The violations of the new body.
    pub remaining: &'r [Finding],
    /// The unchanged prefix.
    pub prefix: &'r Prefix,
}

impl Repaired<'_> {
    /// The repair in its JSON form, without the body.
    ///
    /// ```
    /// let body = br#"{"messages":[{"role":"user","content":"hello"}]}"#;
    ///
    /// let repaired = seamline::repair(body, &seamline::Options::default())?;
    /// assert!(serde_json::to_string(&repaired.report())?.contains(r#""changed":false"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn report(&self) -> RepairReport<'_> {
        RepairReport {
            dialect: self.dialect,
            provider: self.provider,
            messages: self.messages,
            found: &self.found,
            sendable: self.sendable,
            origins: &self.origins,
            outcome: RepairOutcome {
                note: self.note.as_deref(),
                changed: self.is_changed(),
                passes: self.passes,
                lossless: self.is_lossless(),
                actions: &self.actions,
                more_actions: &self.more_actions,
                dropped: &self.dropped,
                remaining: &self.remaining,
                prefix: &self.prefix,
            },
        }
    }
}

/// A conversion, without the new body.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ConversionReport<'r> {
    /// A remark about the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'r str>,
    /// The outcome of the conversion.
    #[serde(flatten)]
    pub outcome: ConversionOutcome<'r>,
}

/// The outcome of a conversion: the document of `seamline convert --report`.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ConversionOutcome<'r> {
    /// The source of the conversion.
    pub from: Side,
    /// The target of the conversion.
    pub to: Side,
    /// The number of converted messages.
    pub messages: usize,
    /// Whether nothing was left out.
    pub complete: bool,
    /// The parts that were not carried over unchanged.
    pub lost: &'r [ConversionLoss],
    /// The calls that have another id now.
    pub ids: &'r [Rename],
    /// The tools that have another name now.
    pub tools: &'r [Rename],
    /// The repairs of the original body.
    pub repairs: &'r [RepairAction],
    /// The repairs of the new body.
    pub adjustments: &'r [RepairAction],
    /// The violations of the new body.
    pub remaining: &'r [Finding],
}

impl Converted {
    /// The conversion in its JSON form, without the body.
    ///
    /// ```
    /// let body = br#"{"messages":[{"role":"user","content":"hello"}]}"#;
    /// let options = seamline::convert::ConvertOptions { to: "gemini_generate".to_owned(), ..Default::default() };
    ///
    /// let report = serde_json::to_value(seamline::convert(body, &options)?.report())?;
    /// assert_eq!(report["to"]["dialect"], "gemini_generate");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn report(&self) -> ConversionReport<'_> {
        ConversionReport {
            note: self.note.as_deref(),
            outcome: ConversionOutcome {
                from: self.from,
                to: self.to,
                messages: self.messages,
                complete: self.is_complete(),
                lost: &self.lost,
                ids: &self.ids,
                tools: &self.tools,
                repairs: &self.repairs,
                adjustments: &self.adjustments,
                remaining: &self.remaining,
            },
        }
    }
}

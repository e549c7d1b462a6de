//! A classified error in its JSON form.

use serde::Serialize;

use crate::classify::{NamedMember, NamedPlace, Verdict};

/// A classified error: the document of `seamline explain --format json`.
///
/// ```
/// use seamline::classify::Failure;
/// use seamline::report::VerdictReport;
///
/// let verdict = seamline::classify(&Failure { text: "Overloaded", status: Some(529), ..Failure::default() });
/// let report = serde_json::to_value(VerdictReport::of(&verdict))?;
/// assert_eq!((&report["class"], &report["status"]), (&"transient".into(), &529.into()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct VerdictReport<'v> {
    /// The class of the error.
    pub class: &'v str,
    /// How certain the class is.
    pub certainty: &'v str,
    /// The known error, if it is one.
    pub known: Option<KnownReport>,
    /// The status of the response.
    pub status: Option<u16>,
    /// The wait that the provider asks for.
    pub retry_after_ms: Option<u64>,
    /// The error text, without everything that wraps it.
    pub said: &'v str,
    /// The meaning of the error.
    pub meaning: &'v str,
    /// The advice for the caller.
    pub advice: &'v str,
    /// The rules that find its cause in a body.
    pub rules: Vec<MeantRule>,
    /// The place that the error names.
    pub place: PlaceReport<'v>,
    /// The fields that the error names.
    pub members: Vec<MemberReport<'v>>,
}

/// A known error.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct KnownReport {
    /// The name of its kind.
    pub name: &'static str,
    /// The source that documents it.
    pub source: &'static str,
    /// The status that usually comes with it.
    pub usual_status: Option<u16>,
}

/// A rule that finds the cause of an error.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MeantRule {
    /// The code of the rule.
    pub code: &'static str,
    /// The name of the rule.
    pub name: &'static str,
}

/// The place that an error names.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct PlaceReport<'v> {
    /// The index of the message.
    pub message_index: Option<usize>,
    /// The index of the block.
    pub block_index: Option<usize>,
    /// The place in the provider's notation.
    pub notation: Option<&'v str>,
    /// The ids of calls.
    pub ids: &'v [String],
}

/// A field that an error names.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MemberReport<'v> {
    /// The name of the field.
    pub name: &'v str,
    /// The place of the field, as a JSON pointer into the body.
    pub pointer: Option<&'v str>,
    /// The fault of the field.
    pub fault: &'static str,
}

impl<'v> VerdictReport<'v> {
    /// The JSON form of a verdict.
    pub fn of(verdict: &'v Verdict) -> Self {
        let known = verdict.known.map(|known| KnownReport {
            name: known.kind.name,
            source: known.source,
            usual_status: known.usual_status,
        });
        let rules = verdict.rules.iter().filter_map(|code| crate::rules::rule(code));
        Self {
            class: verdict.class.as_str(),
            certainty: verdict.certainty.as_str(),
            known,
            status: verdict.status,
            retry_after_ms: verdict.retry_after.map(|wait| wait.as_millis() as u64),
            said: &verdict.said,
            meaning: verdict.meaning,
            advice: verdict.advice,
            rules: rules.map(|rule| MeantRule { code: rule.code, name: rule.name }).collect(),
            place: PlaceReport::of(&verdict.place),
            members: verdict.members.iter().map(MemberReport::of).collect(),
        }
    }
}

impl<'v> PlaceReport<'v> {
    fn of(place: &'v NamedPlace) -> Self {
        Self {
            message_index: place.message_index,
            block_index: place.block_index,
            notation: place.notation.as_deref(),
            ids: &place.ids,
        }
    }
}

impl<'v> MemberReport<'v> {
    fn of(member: &'v NamedMember) -> Self {
        Self { name: &member.name, pointer: member.pointer.as_deref(), fault: member.fault.as_str() }
    }
}

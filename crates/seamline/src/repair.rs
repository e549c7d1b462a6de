//! A body put right.

use std::borrow::Cow;

use seamline_dialects::{Dialect, Document};
use seamline_model::{BlockKind, Place, Transcript};
use serde::Serialize;

use crate::subject::{Read, Subject};
use crate::{Error, Finding, Options};

/// What came of a repair.
#[derive(Debug, Clone)]
pub struct Repaired<'b> {
    /// The body to send; the very bytes that came when nothing needed fixing.
    pub body: Cow<'b, [u8]>,
    /// The dialect it is written in.
    pub dialect: &'static str,
    /// The provider it was repaired for.
    pub provider: &'static str,
    /// How many messages the body had.
    pub messages: usize,
    /// How many times edits were applied.
    pub passes: u32,
    /// What was wrong.
    pub found: Vec<Finding>,
    /// What was done.
    pub actions: Vec<RepairAction>,
    /// What was taken out and is nowhere in the new body.
    pub dropped: Vec<Dropped>,
    /// What is still wrong.
    pub remaining: Vec<Finding>,
    /// For each message of the new body, the message it stems from; nothing for a new one.
    pub origins: Vec<Option<usize>>,
    /// What stayed the same from the start, and what the first change invalidates.
    pub prefix: Prefix,
}

/// One thing a repair did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RepairAction {
    /// The rule that asked for it.
    pub code: &'static str,
    /// What was done, in one word.
    pub action: &'static str,
    /// Where in the body that came.
    pub pointer: Option<String>,
    /// The call it is about.
    pub call_id: Option<String>,
    /// Whether what it wrote was made up.
    pub synthetic: bool,
    /// BLAKE3 of the message before.
    pub before_hash: Option<String>,
    /// BLAKE3 of the message after.
    pub after_hash: Option<String>,
}

/// Something a repair took out for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// The rule that asked for it.
    pub code: &'static str,
    /// Where it was in the body that came.
    pub pointer: Option<String>,
    /// The bytes, as they stood.
    pub source: String,
}

/// What stayed the same from the start of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prefix {
    /// How many bytes are the same.
    pub unchanged_bytes: usize,
    /// The first message that is not.
    pub first_changed_message: Option<usize>,
    /// What the change makes worthless: `prompt_cache`, `thinking`.
    pub invalidates: Vec<&'static str>,
}

impl Repaired<'_> {
    /// Whether the body is another one now.
    pub fn changed(&self) -> bool {
        matches!(self.body, Cow::Owned(_))
    }

    /// Whether everything anyone said is still there.
    pub fn lossless(&self) -> bool {
        self.dropped.is_empty()
    }
}

/// Puts a body right as far as the policy allows.
///
/// # Errors
///
/// When the body is not JSON, is not a conversation, or the options name something that
/// does not exist. A body that cannot be put right is not an error: it comes back as it
/// was, with what remains wrong.
pub fn repair<'b>(body: &'b [u8], options: &Options) -> Result<Repaired<'b>, Error> {
    let document = Document::from_bytes(body)?;
    let dialect = Subject::dialect(&document, options)?;
    let transcript = dialect.decode(&document)?;
    let subject = Subject::of(dialect, &transcript, options)?;
    let text = document.text();
    let read = Read { subject: &subject, document: &document, transcript: &transcript };
    let repair = seamline_rules::repair(text, &read, &subject.provider.constraints, &options.policy);
    let (actions, dropped) = reported(dialect, &transcript, repair.actions);
    let prefix = prefix(&transcript, text, repair.text.as_deref());
    let remaining = described(dialect, repair.text.as_deref().unwrap_or(text), repair.remaining);
    Ok(Repaired {
        dialect: dialect.name(),
        provider: subject.provider.name,
        messages: transcript.messages.len(),
        passes: repair.passes,
        found: repair.found.into_iter().map(|finding| Finding::of(dialect, &transcript, finding)).collect(),
        actions,
        dropped,
        remaining,
        origins: repair.origins.iter().map(|origin| origin.map(seamline_model::MessageIndex::get)).collect(),
        prefix,
        body: repair.text.map_or(Cow::Borrowed(body), |text| Cow::Owned(text.into_bytes())),
    })
}

fn reported(
    dialect: &dyn Dialect,
    transcript: &Transcript<'_>,
    actions: Vec<seamline_rules::Action>,
) -> (Vec<RepairAction>, Vec<Dropped>) {
    let mut dropped = Vec::new();
    let actions = actions
        .into_iter()
        .map(|action| {
            let place = action.place.unwrap_or(Place { message: action.message, ..Place::default() });
            let pointer = place.message.map(|_| dialect.pointer(transcript, &place));
            if let Some(source) = action.dropped {
                dropped.push(Dropped { code: action.code, pointer: pointer.clone(), source });
            }
            RepairAction {
                code: action.code,
                action: action.action,
                pointer,
                call_id: action.call_id.filter(|id| !id.is_empty()),
                synthetic: action.synthetic,
                before_hash: action.before_hash,
                after_hash: action.after_hash,
            }
        })
        .collect();
    (actions, dropped)
}

/// Findings about the new text, described by it.
fn described(dialect: &dyn Dialect, text: &str, findings: Vec<seamline_model::Finding>) -> Vec<Finding> {
    if findings.is_empty() {
        return Vec::new();
    }
    let Ok(document) = Document::read(text) else {
        return Vec::new();
    };
    let Ok(transcript) = dialect.decode(&document) else {
        return Vec::new();
    };
    findings.into_iter().map(|finding| Finding::of(dialect, &transcript, finding)).collect()
}

fn prefix(transcript: &Transcript<'_>, before: &str, after: Option<&str>) -> Prefix {
    let Some(after) = after else {
        return Prefix { unchanged_bytes: before.len(), first_changed_message: None, invalidates: Vec::new() };
    };
    let unchanged_bytes = common_prefix(before.as_bytes(), after.as_bytes());
    let first = transcript.messages.partition_point(|message| message.span.end as usize <= unchanged_bytes);
    let first_changed_message = (first < transcript.messages.len()).then_some(first);
    let mut invalidates = vec!["prompt_cache"];
    let bound = transcript.blocks.iter().rev().take_while(|block| block.message.get() > first);
    if transcript.has.reasoning
        && bound.into_iter().any(|block| matches!(block.kind, BlockKind::Reasoning { signed: true }))
    {
        invalidates.push("thinking");
    }
    Prefix { unchanged_bytes, first_changed_message, invalidates }
}

fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

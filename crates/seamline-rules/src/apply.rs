//! The repair loop.
//!
//! Each pass reads the text, checks it, takes the fixes of the earliest stage that the
//! policy allows, drops those that overlap one already taken, applies the rest and
//! starts again. It ends when nothing is left to apply; the last check is made on the
//! exact bytes that are returned.

use std::collections::BTreeSet;

use seamline_model::{
    BlockIndex, Constraints, Edit, Encoded, Finding, Fix, MessageIndex, Place, Severity, Span, Transcript,
};

use crate::{Policy, check};

/// The most passes a repair takes. Real damage settles in one to four.
pub const PASSES_MAX: u32 = 16;

/// Reads a text, lets edits be chosen for it, and writes them. This is all the loop knows
/// of dialects.
pub trait Rewrite {
    /// Reads `text` and hands the transcript to `choose`. When that gives edits, applies
    /// them to the text; `None` when there are none or the text cannot be read.
    fn rewrite(&self, text: &str, choose: &mut dyn FnMut(&Transcript<'_>) -> Vec<Edit>) -> Option<Encoded>;
}

/// What came of a repair.
#[derive(Debug, Clone, Default)]
pub struct Repair {
    /// The new text; nothing when the old one is right as it is.
    pub text: Option<String>,
    /// How many times edits were applied.
    pub passes: u32,
    /// What was done, in order.
    pub actions: Vec<Action>,
    /// What was wrong at first.
    pub found: Vec<Finding>,
    /// What is still wrong.
    pub remaining: Vec<Finding>,
    /// For each message of the new text, the message of the old one it stems from.
    pub origins: Vec<Option<MessageIndex>>,
}

/// One thing a repair did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// The rule that asked for it.
    pub code: &'static str,
    /// What was done, in one word.
    pub action: &'static str,
    /// The message of the input it is about, if it was there.
    pub message: Option<MessageIndex>,
    /// Where in the input it is, while that is still known.
    pub place: Option<Place>,
    /// The call it is about.
    pub call_id: Option<String>,
    /// Whether what it wrote was made up.
    pub synthetic: bool,
    /// Whether what it took out is nowhere in the output.
    pub dropped: Option<String>,
    /// Hash of the message before.
    pub before_hash: Option<String>,
    /// Hash of the message after.
    pub after_hash: Option<String>,
}

/// Repairs a text as far as the policy allows.
pub fn repair(text: &str, rewrite: &dyn Rewrite, constraints: &Constraints, policy: &Policy) -> Repair {
    let mut state = State { constraints, policy, repair: Repair::default(), landed: Vec::new() };
    let mut current: Option<String> = None;
    loop {
        let encoded = rewrite.rewrite(current.as_deref().unwrap_or(text), &mut |transcript| state.pass(transcript));
        let Some(encoded) = encoded else { break };
        state.follow(&encoded);
        current = Some(encoded.text);
        if state.repair.passes >= PASSES_MAX {
            debug_assert!(false, "repair did not settle: {:?}", state.repair.actions);
            return unsettled(state.repair);
        }
    }
    state.repair.text = current;
    state.repair
}

/// The original, with a finding that says so: a half-repaired text is never given out.
fn unsettled(repair: Repair) -> Repair {
    let bug = Finding {
        code: "BUG001",
        name: "repair-did-not-settle",
        severity: Severity::Error,
        message: format!("the repair did not settle after {PASSES_MAX} passes; nothing was changed"),
        place: Place::default(),
        call_id: None,
        related: Vec::new(),
        predicts: None,
        fix: None,
    };
    let mut remaining = repair.found.clone();
    remaining.push(bug);
    Repair { found: repair.found, remaining, ..Repair::default() }
}

struct State<'p> {
    constraints: &'p Constraints,
    policy: &'p Policy,
    repair: Repair,
    /// For each action of the last pass, the message it ended up in.
    landed: Vec<(usize, Option<MessageIndex>)>,
}

impl State<'_> {
    /// Checks a text and chooses the edits of one pass.
    fn pass(&mut self, transcript: &Transcript<'_>) -> Vec<Edit> {
        self.hash_landed(transcript);
        let findings = check(transcript, self.constraints, self.policy);
        let edits = self.choose(transcript, &findings);
        if self.repair.passes == 0 {
            self.repair.origins =
                (0..transcript.messages.len() as u32).map(|index| Some(MessageIndex(index))).collect();
            self.repair.found.clone_from(&findings);
        }
        if edits.is_empty() {
            self.repair.remaining = findings;
        } else {
            self.repair.passes += 1;
        }
        edits
    }

    fn choose(&mut self, transcript: &Transcript<'_>, findings: &[Finding]) -> Vec<Edit> {
        let allowed = |finding: &&Finding| applicable(finding, self.policy).is_some();
        let stage = findings.iter().filter(allowed).filter_map(|finding| Some(finding.fix.as_ref()?.stage)).min();
        let Some(stage) = stage else {
            return Vec::new();
        };
        let mut claims = Claims::default();
        let mut edits = Vec::new();
        for finding in findings {
            let Some(fix) = applicable(finding, self.policy).filter(|fix| fix.stage == stage) else {
                continue;
            };
            if claims.take(fix) {
                self.note(transcript, finding, fix);
                edits.extend(fix.edits.iter().cloned());
            }
        }
        edits
    }

    /// Notes what the edits of a fix do.
    fn note(&mut self, transcript: &Transcript<'_>, finding: &Finding, fix: &Fix) {
        for edit in &fix.edits {
            let about = subject(transcript, edit).or(finding.place.message);
            let before = about.filter(|index| index.get() < transcript.messages.len());
            let origin = before.and_then(|index| self.repair.origins.get(index.get()).copied().flatten());
            let first_pass = self.repair.passes == 0;
            self.repair.actions.push(Action {
                code: finding.code,
                action: action_name(edit),
                message: if first_pass { before } else { origin },
                place: first_pass.then_some(place_of(transcript, edit).unwrap_or(finding.place)),
                call_id: finding.call_id.clone(),
                synthetic: matches!(
                    edit,
                    Edit::Synthesize { .. }
                        | Edit::ReconstructCall { .. }
                        | Edit::FillMessage { .. }
                        | Edit::InsertMessage { .. }
                        | Edit::CloseServerCall { .. }
                ),
                dropped: dropped(transcript, edit, fix),
                before_hash: before.map(|index| hash(transcript, index)),
                after_hash: None,
            });
        }
    }

    /// Follows messages to their new places.
    fn follow(&mut self, encoded: &Encoded) {
        let first = self.repair.actions.len() - encoded.landed.len();
        self.landed = encoded.landed.iter().enumerate().map(|(at, landed)| (first + at, *landed)).collect();
        let before = std::mem::take(&mut self.repair.origins);
        self.repair.origins = encoded
            .origins
            .iter()
            .map(|origin| origin.and_then(|index| before.get(index.get()).copied().flatten()))
            .collect();
    }

    fn hash_landed(&mut self, transcript: &Transcript<'_>) {
        for (action, landed) in std::mem::take(&mut self.landed) {
            let Some(index) = landed.filter(|index| index.get() < transcript.messages.len()) else {
                continue;
            };
            self.repair.actions[action].after_hash = Some(hash(transcript, index));
        }
    }
}

/// The fix of a finding, if the policy lets it be applied.
fn applicable<'f>(finding: &'f Finding, policy: &Policy) -> Option<&'f Fix> {
    let fix = finding.fix.as_ref()?;
    let worth = finding.severity >= Severity::Warning && !fix.edits.is_empty();
    (worth && policy.allows(fix.safety)).then_some(fix)
}

/// What the fixes taken so far are about.
#[derive(Default)]
struct Claims {
    blocks: BTreeSet<(BlockIndex, u8)>,
    messages: BTreeSet<(MessageIndex, u8)>,
    spans: BTreeSet<Span>,
}

impl Claims {
    /// Takes a fix, unless one of its edits changes what another fix changes.
    fn take(&mut self, fix: &Fix) -> bool {
        let overlaps = fix.edits.iter().any(|edit| self.overlaps(edit));
        if !overlaps {
            for edit in &fix.edits {
                self.claim(edit);
            }
        }
        !overlaps
    }

    fn overlaps(&self, edit: &Edit) -> bool {
        match claim_of(edit) {
            Claim::Block(block, aspect) => {
                self.blocks.contains(&(block, aspect)) || (aspect != WHOLE && self.blocks.contains(&(block, WHOLE)))
            }
            Claim::Message(message, aspect) => self.messages.contains(&(message, aspect)),
            Claim::Bytes(span) => {
                let before = self.spans.range(..=span).next_back().is_some_and(|other| other.end > span.start);
                let after = self.spans.range(span..).next().is_some_and(|other| other.start < span.end);
                before || after
            }
            Claim::Nothing => false,
        }
    }

    fn claim(&mut self, edit: &Edit) {
        match claim_of(edit) {
            Claim::Block(block, aspect) => {
                self.blocks.insert((block, aspect));
            }
            Claim::Message(message, aspect) => {
                self.messages.insert((message, aspect));
            }
            Claim::Bytes(span) => {
                self.spans.insert(span);
            }
            Claim::Nothing => {}
        }
    }
}

/// What an edit changes, so that two edits never change the same thing in one pass.
enum Claim {
    Block(BlockIndex, u8),
    Message(MessageIndex, u8),
    Bytes(Span),
    Nothing,
}

/// Whether it is there at all, and as what.
const WHOLE: u8 = 0;
const ID: u8 = 1;
const NAME: u8 = 2;
const CONTENT: u8 = 3;
const PLACE: u8 = 4;

fn claim_of(edit: &Edit) -> Claim {
    match edit {
        Edit::Patch { span, .. } => Claim::Bytes(*span),
        Edit::Synthesize { .. } | Edit::InsertMessage { .. } => Claim::Nothing,
        Edit::Relocate { result: block, .. } => Claim::Block(*block, PLACE),
        Edit::Demote { block, .. }
        | Edit::ReconstructCall { result: block, .. }
        | Edit::Remove { block }
        | Edit::AdoptLegacyCall { call: block } => Claim::Block(*block, WHOLE),
        Edit::Readdress { result: block, .. } | Edit::SetCallId { call: block, .. } => Claim::Block(*block, ID),
        Edit::SetToolName { call: block, .. } => Claim::Block(*block, NAME),
        Edit::SetInput { call: block }
        | Edit::FillResult { result: block, .. }
        | Edit::HoistMedia { result: block, .. }
        | Edit::CloseServerCall { call: block } => Claim::Block(*block, CONTENT),
        Edit::RemoveMessage { message }
        | Edit::Regroup { message }
        | Edit::FillMessage { message, .. }
        | Edit::JoinPrevious { message } => Claim::Message(*message, WHOLE),
        Edit::SetRole { message, .. } => Claim::Message(*message, ID),
        Edit::RemoveCallList { message } => Claim::Message(*message, NAME),
        Edit::ResultsFirst { message } => Claim::Message(*message, CONTENT),
    }
}

/// The message an edit is about.
fn subject(transcript: &Transcript<'_>, edit: &Edit) -> Option<MessageIndex> {
    match edit {
        Edit::RemoveMessage { message }
        | Edit::Regroup { message }
        | Edit::FillMessage { message, .. }
        | Edit::JoinPrevious { message }
        | Edit::SetRole { message, .. }
        | Edit::RemoveCallList { message }
        | Edit::ResultsFirst { message } => Some(*message),
        Edit::InsertMessage { before, .. } => Some(*before),
        _ => block_of(edit).map(|block| transcript.block(block).message),
    }
}

fn block_of(edit: &Edit) -> Option<BlockIndex> {
    match edit {
        Edit::Synthesize { call, .. } => Some(*call),
        _ => match claim_of(edit) {
            Claim::Block(block, _) => Some(block),
            _ => None,
        },
    }
}

fn place_of(transcript: &Transcript<'_>, edit: &Edit) -> Option<Place> {
    let block = block_of(edit)?;
    let content = transcript.block(block);
    Some(Place { message: Some(content.message), block: Some(block), span: content.span })
}

fn action_name(edit: &Edit) -> &'static str {
    match edit {
        Edit::Patch { .. } => "patch",
        Edit::Synthesize { .. } | Edit::CloseServerCall { .. } => "synthesize",
        Edit::Relocate { .. } | Edit::HoistMedia { .. } => "relocate",
        Edit::Readdress { .. } => "readdress",
        Edit::Demote { .. } => "demote",
        Edit::ReconstructCall { .. } => "reconstruct_call",
        Edit::Remove { .. } | Edit::RemoveMessage { .. } | Edit::RemoveCallList { .. } => "remove",
        Edit::SetCallId { .. } => "rename_call",
        Edit::SetToolName { .. } => "rename_tool",
        Edit::SetInput { .. } | Edit::AdoptLegacyCall { .. } => "reform",
        Edit::Regroup { .. } => "regroup",
        Edit::SetRole { .. } => "set_role",
        Edit::ResultsFirst { .. } => "reorder",
        Edit::FillMessage { .. } | Edit::FillResult { .. } => "fill",
        Edit::InsertMessage { .. } => "insert",
        Edit::JoinPrevious { .. } => "join",
    }
}

/// What an edit takes out for good: only unsafe fixes do.
fn dropped(transcript: &Transcript<'_>, edit: &Edit, fix: &Fix) -> Option<String> {
    if fix.safety != seamline_model::Safety::Unsafe {
        return None;
    }
    match edit {
        Edit::Remove { block } => Some(transcript.text(transcript.block(*block).span).to_owned()),
        Edit::RemoveMessage { message } => Some(transcript.text(transcript.message(*message).span).to_owned()),
        Edit::Patch { span, text } if text.is_empty() => Some(transcript.text(*span).to_owned()),
        _ => None,
    }
}

fn hash(transcript: &Transcript<'_>, index: MessageIndex) -> String {
    blake3::hash(transcript.text(transcript.message(index).span).as_bytes()).to_hex().to_string()
}

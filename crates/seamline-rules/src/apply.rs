//! The repair loop.
//!
//! Each pass checks the transcript, takes the fixes of the earliest stage that the policy allows, drops fixes that
//! overlap one already taken, applies the rest and reads the new body. The loop ends when no fix is left to apply, so
//! the last check runs on the exact bytes that are returned.

use std::collections::HashMap;

use seamline_model::{
    BlockIndex, BlockKind, Edit, Encoded, Fix, IrregularityKind, MessageIndex, Place, RuleFinding, Severity, Spliced,
    Transcript,
};

use crate::claims::{Claim, Claims, claim_of};
use crate::input::{Left, RepairInput, allowed_fix, is_synthetic_edit};
use crate::{RepairPolicy, check, removed};

/// The highest number of passes. Real damage settles in one to four.
pub const PASSES_MAX: u32 = 16;

/// Reads and writes conversations. It is the loop's only connection to dialects.
pub trait Rewrite {
    /// Reads the body that edits made from a transcript, without reading copied messages again. Returns `None` if the
    /// whole body must be read.
    fn follow<'n>(&self, before: &Transcript<'n>, encoded: &'n Encoded) -> Option<Transcript<'n>>;

    /// Reads a body. Returns `None` if it cannot be read.
    fn read<'n>(&self, body: &'n [u8]) -> Option<Transcript<'n>>;

    /// Writes edits by splicing the source of a transcript. Either all edits change bytes directly, or none of them.
    fn write(&self, transcript: &Transcript<'_>, edits: &[Edit]) -> Encoded;
}

/// The outcome of a repair.
#[derive(Debug, Clone, Default)]
pub struct Repair<'a> {
    /// The new body; `None` if the original needs no change.
    pub body: Option<Spliced<'a>>,
    /// The number of passes that applied edits.
    pub passes: u32,
    /// The actions taken, in order.
    pub actions: Vec<Action>,
    /// The findings before the repair.
    pub found: Vec<RuleFinding>,
    /// The findings after the repair.
    pub remaining: Vec<RuleFinding>,
    /// For each message of the new body, the original message it comes from.
    pub origins: Vec<Option<MessageIndex>>,
}

/// One action of a repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// The rule that proposed it.
    pub code: &'static str,
    /// The name of the action.
    pub action: &'static str,
    /// The message of the input it changes, if it existed there.
    pub message: Option<MessageIndex>,
    /// The position in the input, while that is still known.
    pub place: Option<Place>,
    /// The id of the call it is about.
    pub call_id: Option<String>,
    /// The name of what it removed.
    pub removed: Option<String>,
    /// Whether it wrote synthetic content.
    pub synthetic: bool,
    /// The content it removed permanently.
    pub dropped: Vec<DroppedContent>,
    /// The hash of the message before.
    pub before_hash: Option<String>,
    /// The hash of the message after.
    pub after_hash: Option<String>,
}

/// Content that a repair removed permanently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedContent {
    /// Its source text.
    pub source: String,
    /// The kind of loss.
    pub loss: Loss,
}

/// The kind of loss when content is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Loss {
    /// Content of the user, the model or a tool.
    Said,
    /// Nothing is lost: a repair had synthesised it.
    Synthetic,
    /// Content that the provider encrypted or signed, which only the provider can read.
    Sealed,
    /// A value overridden by a later value of the same key, which no parser reads.
    Hidden,
}

/// Repairs a conversation as far as the policy allows.
pub fn repair<'a>(transcript: &Transcript<'a>, rewrite: &dyn Rewrite, input: RepairInput<'_>) -> Repair<'a> {
    repair_found(transcript, check(transcript, input.constraints, input.policy), rewrite, input)
}

/// Repairs a conversation that was checked for the same constraints and policy, as far as the policy allows.
pub fn repair_found<'a>(
    transcript: &Transcript<'a>,
    found: Vec<RuleFinding>,
    rewrite: &dyn Rewrite,
    input: RepairInput<'_>,
) -> Repair<'a> {
    let mut state = State { input, repair: Repair::default(), landed: Vec::new(), hashes: HashMap::new() };
    let Some(mut stepped) = state.step(rewrite, transcript, found) else {
        return state.repair;
    };
    let mut body = Spliced::new(transcript.source.body);
    while state.repair.passes < PASSES_MAX {
        match stepped.joined {
            Some(joined) => body = Spliced::from(joined),
            None => body.take(stepped.encoded),
        }
        let Some(transcript) = stepped.read.map(|transcript| transcript.over(body.source())) else { break };
        let findings = check(&transcript, input.constraints, input.policy);
        let Some(next) = state.step(rewrite, &transcript, findings) else {
            state.repair.body = Some(body);
            return state.repair;
        };
        stepped = next;
    }
    debug_assert!(false, "repair did not settle: {:?}", state.repair.actions);
    report_unsettled(state.repair)
}

/// The original body with a finding that the repair failed: a half-repaired body is never returned.
fn report_unsettled(repair: Repair<'_>) -> Repair<'_> {
    let bug = RuleFinding {
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

struct State<'i, 'a> {
    input: RepairInput<'i>,
    repair: Repair<'a>,
    /// For each action of the last pass, the message that holds its output.
    landed: Vec<(usize, Option<MessageIndex>)>,
    /// Hashes of messages of the present body; many edits can change one message.
    hashes: HashMap<MessageIndex, String>,
}

/// The output of one pass.
struct Stepped {
    /// The new body.
    encoded: Encoded,
    /// The new body in one buffer, if it had to be read in full.
    joined: Option<Vec<u8>>,
    /// The transcript of the new body, if it can be read.
    read: Option<Transcript<'static>>,
}

impl State<'_, '_> {
    /// Makes one pass over a body with these findings. Returns `None` if there is nothing to apply.
    fn step(
        &mut self,
        rewrite: &dyn Rewrite,
        transcript: &Transcript<'_>,
        findings: Vec<RuleFinding>,
    ) -> Option<Stepped> {
        let edits = self.pass(transcript, findings);
        if edits.is_empty() {
            return None;
        }
        let encoded = rewrite.write(transcript, &edits);
        // Bytes may be around the messages, so all of them are read again.
        let is_bytes = edits.iter().all(Edit::is_bytes);
        let followed = if is_bytes { None } else { rewrite.follow(transcript, &encoded) };
        let joined = followed.is_none().then(|| encoded.source(transcript.source.body).joined());
        let read = followed.or_else(|| rewrite.read(joined.as_deref()?));
        if let Some(read) = &read
            && !is_bytes
        {
            self.note_hidden(transcript, read, &encoded);
        }
        self.follow(&encoded);
        let read = read.map(Transcript::detached);
        Some(Stepped { encoded, joined, read })
    }

    /// Selects the edits of one pass over a body with these findings.
    fn pass(&mut self, transcript: &Transcript<'_>, findings: Vec<RuleFinding>) -> Vec<Edit> {
        self.hashes.clear();
        self.hash_landed(transcript);
        let edits = self.choose(transcript, &findings);
        if self.repair.passes == 0 {
            self.repair.origins =
                (0..transcript.messages.len() as u32).map(|index| Some(MessageIndex(index))).collect();
        }
        match (edits.is_empty(), self.repair.passes) {
            (true, 0) => (self.repair.found, self.repair.remaining) = (findings.clone(), findings),
            (true, _) => self.repair.remaining = findings,
            (false, 0) => self.repair.found = findings,
            (false, _) => {}
        }
        self.repair.passes += u32::from(!edits.is_empty());
        edits
    }

    fn choose(&mut self, transcript: &Transcript<'_>, findings: &[RuleFinding]) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (finding, fix) in select_fixes(transcript, findings, self.input.policy, self.input.left) {
            self.note(transcript, finding, fix);
            edits.extend(fix.edits.iter().cloned());
        }
        edits
    }

    /// Records the actions of a fix's edits.
    fn note(&mut self, transcript: &Transcript<'_>, finding: &RuleFinding, fix: &Fix) {
        for edit in &fix.edits {
            let about = subject(transcript, edit).or(finding.place.message);
            let before = about.filter(|index| index.get() < transcript.messages.len());
            let origin = before.and_then(|index| self.repair.origins.get(index.get()).copied().flatten());
            let first_pass = self.repair.passes == 0;
            let before_hash = before.map(|index| self.hash(transcript, index));
            self.repair.actions.push(Action {
                code: finding.code,
                action: action_name(edit),
                message: if first_pass { before } else { origin },
                place: first_pass.then_some(place_of(transcript, edit).unwrap_or(finding.place)),
                call_id: call_of(transcript, edit).or_else(|| finding.call_id.clone()),
                removed: removed::removed(transcript, edit),
                synthetic: is_synthetic_edit(edit),
                dropped: dropped_content(transcript, edit, fix).into_iter().collect(),
                before_hash,
                after_hash: None,
            });
        }
    }

    /// Records values of repeated keys that were lost because their message was rewritten.
    fn note_hidden(&mut self, before: &Transcript<'_>, after: &Transcript<'_>, encoded: &Encoded) {
        let mut kept: HashMap<_, usize> = HashMap::new();
        for (message, source) in overridden_members(after) {
            let origin = encoded.origins.get(message.get()).copied().flatten();
            *kept.entry((origin, source)).or_default() += 1;
        }
        for (message, source) in overridden_members(before) {
            if let Some(count) = kept.get_mut(&(Some(message), source)).filter(|count| **count > 0) {
                *count -= 1;
                continue;
            }
            let first = self.repair.actions.len() - encoded.landed.len();
            let origin = self.repair.origins.get(message.get()).copied().flatten();
            let taken = DroppedContent { source: source.to_owned(), loss: Loss::Hidden };
            let about = self.repair.actions[first..].iter_mut().find(|action| action.message == origin);
            if let Some(action) = about {
                action.dropped.push(taken);
            }
        }
    }

    /// Maps messages to their new positions.
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

    fn hash(&mut self, transcript: &Transcript<'_>, index: MessageIndex) -> String {
        let text = || transcript.text(transcript.message(index).span);
        self.hashes.entry(index).or_insert_with(|| blake3::hash(text().as_bytes()).to_hex().to_string()).clone()
    }

    fn hash_landed(&mut self, transcript: &Transcript<'_>) {
        for (action, landed) in std::mem::take(&mut self.landed) {
            let Some(index) = landed.filter(|index| index.get() < transcript.messages.len()) else {
                continue;
            };
            let hash = self.hash(transcript, index);
            self.repair.actions[action].after_hash = Some(hash);
        }
    }
}

/// Selects the fixes of one pass: those of the earliest stage, without any two that change the same thing.
fn select_fixes<'f>(
    transcript: &Transcript<'_>,
    findings: &'f [RuleFinding],
    policy: &RepairPolicy,
    left: Left,
) -> Vec<(&'f RuleFinding, &'f Fix)> {
    let allowed = || findings.iter().filter_map(|finding| Some((finding, allowed_fix(finding, policy, left)?)));
    let stage = allowed().map(|(_, fix)| fix.stage).min();
    let mut claims = Claims::new(transcript);
    let mut taken: Vec<(&RuleFinding, &Fix)> = Vec::new();
    for (finding, fix) in allowed().filter(|(_, fix)| Some(fix.stage) == stage) {
        // Byte edits and block edits are written differently, so a pass holds only one of the two.
        let fits = taken.first().is_none_or(|(_, first)| first.is_bytes() == fix.is_bytes());
        if fits && claims.take(fix) {
            taken.push((finding, fix));
        }
    }
    taken
}

/// The message an edit changes.
fn subject(transcript: &Transcript<'_>, edit: &Edit) -> Option<MessageIndex> {
    match (claim_of(edit), edit) {
        (Claim::Message(message, _), _) => Some(message),
        (_, Edit::InsertMessage { before, .. }) => Some(*before),
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

/// The id of the call that an edit changes, if it has one. A finding about several calls carries only the first call's
/// id.
fn call_of(transcript: &Transcript<'_>, edit: &Edit) -> Option<String> {
    let block = match edit {
        Edit::Relocate { call, .. } | Edit::Readdress { call, .. } => *call,
        _ => block_of(edit)?,
    };
    let call = transcript.call(block).and_then(|call| call.id.as_ref());
    let result = transcript.result(block).and_then(|result| result.id.as_ref());
    call.or(result).map(|id| id.as_str().to_owned())
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
        Edit::Relocate { .. } | Edit::RejoinServerResult { .. } => "relocate",
        Edit::HoistMedia { .. } => "hoist",
        Edit::Readdress { .. } => "readdress",
        Edit::Demote { .. } => "demote",
        Edit::ReconstructCall { .. } => "reconstruct_call",
        Edit::Remove { .. } | Edit::RemoveMessage { .. } | Edit::RemoveCallList { .. } | Edit::DropMember { .. } => {
            "remove"
        }
        Edit::RemoveItemId { .. } => "remove_id",
        Edit::SetCallId { .. } => "rename_call",
        Edit::SetToolName { .. } => "rename_tool",
        Edit::SetInput { .. }
        | Edit::SetContent { .. }
        | Edit::AdoptLegacyCall { .. }
        | Edit::FlattenResult { .. }
        | Edit::KeepMembers { .. }
        | Edit::Restate { .. } => "reform",
        Edit::TakeIn { .. } => "take_in",
        Edit::Sign { .. } => "sign",
        Edit::Continue { .. } => "continue",
        Edit::DeclareTools { .. } => "declare",
        Edit::Regroup { .. } | Edit::SplitResults { .. } => "regroup",
        Edit::SetRole { .. } => "set_role",
        Edit::ResultsFirst { .. } => "reorder",
        Edit::FillMessage { .. } | Edit::FillResult { .. } | Edit::AddReasoning { .. } => "fill",
        Edit::InsertMessage { .. } => "insert",
        Edit::JoinPrevious { .. } => "join",
    }
}

/// The content that an edit removes permanently: by unsafe fixes, with members that had content, and with synthetic
/// results.
fn dropped_content(transcript: &Transcript<'_>, edit: &Edit, fix: &Fix) -> Option<DroppedContent> {
    let is_unsafe = fix.safety == seamline_model::Safety::Unsafe;
    let (span, loss) = match edit {
        Edit::DropMember { member, lost: true, .. } => (*member, Loss::Said),
        Edit::Remove { block } if transcript.is_made_up(*block) => (transcript.block(*block).span, Loss::Synthetic),
        Edit::Remove { block } if is_unsafe => (transcript.block(*block).span, Loss::Said),
        // Encrypted content is lost even if the block is kept as text.
        Edit::Remove { block } | Edit::Demote { block, .. } if is_sealed(transcript, *block) => {
            (transcript.block(*block).span, Loss::Sealed)
        }
        Edit::RemoveMessage { message } if is_unsafe => (transcript.message(*message).span, Loss::Said),
        Edit::Patch { span, text } if is_unsafe && text.is_empty() => (*span, Loss::Said),
        _ => return None,
    };
    Some(DroppedContent { source: transcript.text(span).to_owned(), loss })
}

/// Members of messages that a later member of the same key overrides.
fn overridden_members<'t>(transcript: &'t Transcript<'_>) -> impl Iterator<Item = (MessageIndex, &'t str)> {
    transcript.irregularities.iter().filter_map(|irregularity| match &irregularity.kind {
        IrregularityKind::DuplicateKey { cut, .. } => Some((irregularity.message?, transcript.text(*cut))),
        _ => None,
    })
}

fn is_sealed(transcript: &Transcript<'_>, block: BlockIndex) -> bool {
    matches!(transcript.block(block).kind, BlockKind::Reasoning { signed: true })
}

#[cfg(test)]
mod tests {
    use seamline_model::{Safety, Stage};

    use super::*;

    fn finding(edit: Edit) -> RuleFinding {
        let fix = Fix { title: String::new(), safety: Safety::Safe, stage: Stage::Form, edits: vec![edit] };
        RuleFinding {
            code: "WIRE001",
            name: "wire",
            severity: Severity::Error,
            message: String::new(),
            place: Place::default(),
            call_id: None,
            related: Vec::new(),
            predicts: None,
            fix: Some(fix),
        }
    }

    #[test]
    fn a_pass_edits_only_bytes_or_only_blocks() {
        let bytes = |start| Edit::Patch { span: seamline_model::Span::new(start, start + 1), text: String::new() };
        let blocks = Edit::DeclareTools { names: Vec::new() };
        let findings = [finding(bytes(0)), finding(blocks.clone()), finding(bytes(4))];
        let edits = |findings| -> Vec<Edit> {
            select_fixes(&Transcript::new(b"[]"), findings, &RepairPolicy::default(), Left::Nothing)
                .into_iter()
                .flat_map(|(_, fix)| fix.edits.clone())
                .collect()
        };
        assert_eq!(edits(&findings), [bytes(0), bytes(4)]);
        assert_eq!(edits(&findings[1..]), [blocks]);
    }
}

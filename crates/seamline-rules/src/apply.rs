//! The repair loop.
//!
//! Each pass reads the text, checks it, takes the fixes of the earliest stage that the
//! policy allows, drops those that overlap one already taken, applies the rest and
//! starts again. It ends when nothing is left to apply; the last check is made on the
//! exact bytes that are returned.

use std::collections::HashMap;

use seamline_model::{
    BlockIndex, BlockKind, Constraints, Edit, Encoded, Finding, Fix, IrregularityKind, MessageIndex, Place, Severity,
    Spliced, Transcript,
};

use crate::claims::{Claim, Claims, claim_of};
use crate::{RepairPolicy, check};

/// The most passes a repair takes. Real damage settles in one to four.
pub const PASSES_MAX: u32 = 16;

/// Reads and writes conversations. This is all the loop knows of dialects.
pub trait Rewrite {
    /// Reads the text that edits made of a transcript's, without reading again what was only
    /// copied. Nothing when it must be read afresh.
    fn follow<'n>(&self, before: &Transcript<'n>, encoded: &'n Encoded) -> Option<Transcript<'n>>;

    /// Reads a body. Nothing when it cannot be read.
    fn read<'n>(&self, body: &'n [u8]) -> Option<Transcript<'n>>;

    /// Writes edits by splicing the text of a transcript. Either all or none of them are
    /// about bytes.
    fn write(&self, transcript: &Transcript<'_>, edits: &[Edit]) -> Encoded;
}

/// What came of a repair.
#[derive(Debug, Clone, Default)]
pub struct Repair<'a> {
    /// The new body; nothing when the old one is right as it is.
    pub body: Option<Spliced<'a>>,
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
    /// What it took out for good.
    pub dropped: Vec<Taken>,
    /// Hash of the message before.
    pub before_hash: Option<String>,
    /// Hash of the message after.
    pub after_hash: Option<String>,
}

/// Something that was taken out for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Its source.
    pub source: String,
    /// What is lost with it.
    pub loss: Loss,
}

/// What is lost with something that was taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Loss {
    /// Something that somebody said.
    Said,
    /// Nothing: it was made up by a repair.
    Synthetic,
    /// Something that the provider sealed, which nobody else can read.
    Sealed,
    /// Something that stood behind a repeated key, where no reader looks.
    Hidden,
}

/// Repairs a conversation as far as the policy allows.
pub fn repair<'a>(
    transcript: &Transcript<'a>,
    rewrite: &dyn Rewrite,
    constraints: &Constraints,
    policy: &RepairPolicy,
) -> Repair<'a> {
    let mut state =
        State { constraints, policy, repair: Repair::default(), landed: Vec::new(), hashes: HashMap::new() };
    let Some(mut stepped) = state.step(rewrite, transcript) else {
        return state.repair;
    };
    let mut body = Spliced::new(transcript.source.body);
    while state.repair.passes < PASSES_MAX {
        match stepped.joined {
            Some(joined) => body = Spliced::from(joined),
            None => body.take(stepped.encoded),
        }
        let Some(transcript) = stepped.read.map(|transcript| transcript.over(body.source())) else { break };
        let Some(next) = state.step(rewrite, &transcript) else {
            state.repair.body = Some(body);
            return state.repair;
        };
        stepped = next;
    }
    debug_assert!(false, "repair did not settle: {:?}", state.repair.actions);
    unsettled(state.repair)
}

/// The original, with a finding that says so: a half-repaired text is never given out.
fn unsettled(repair: Repair<'_>) -> Repair<'_> {
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

struct State<'p, 'a> {
    constraints: &'p Constraints,
    policy: &'p RepairPolicy,
    repair: Repair<'a>,
    /// For each action of the last pass, the message it ended up in.
    landed: Vec<(usize, Option<MessageIndex>)>,
    /// Hashes of messages of the text being looked at: many edits can be about one.
    hashes: HashMap<MessageIndex, String>,
}

/// What one pass made of a text.
struct Stepped {
    /// The new one.
    encoded: Encoded,
    /// The same put together, when it had to be read afresh.
    joined: Option<Vec<u8>>,
    /// What it says, if it can be read.
    read: Option<Transcript<'static>>,
}

impl State<'_, '_> {
    /// Makes one pass. Nothing when there is nothing to apply.
    fn step(&mut self, rewrite: &dyn Rewrite, transcript: &Transcript<'_>) -> Option<Stepped> {
        let edits = self.pass(transcript);
        if edits.is_empty() {
            return None;
        }
        let encoded = rewrite.write(transcript, &edits);
        let followed = rewrite.follow(transcript, &encoded);
        let joined = followed.is_none().then(|| encoded.source(transcript.source.body).joined());
        let read = followed.or_else(|| rewrite.read(joined.as_deref()?));
        if let Some(read) = &read
            && !edits.iter().all(Edit::is_bytes)
        {
            self.note_hidden(transcript, read, &encoded);
        }
        self.follow(&encoded);
        let read = read.map(Transcript::detached);
        Some(Stepped { encoded, joined, read })
    }

    /// Checks a text and chooses the edits of one pass.
    fn pass(&mut self, transcript: &Transcript<'_>) -> Vec<Edit> {
        self.hashes.clear();
        self.hash_landed(transcript);
        let findings = check(transcript, self.constraints, self.policy);
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

    fn choose(&mut self, transcript: &Transcript<'_>, findings: &[Finding]) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (finding, fix) in chosen(transcript, findings, self.policy) {
            self.note(transcript, finding, fix);
            edits.extend(fix.edits.iter().cloned());
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
            let before_hash = before.map(|index| self.hash(transcript, index));
            self.repair.actions.push(Action {
                code: finding.code,
                action: action_name(edit),
                message: if first_pass { before } else { origin },
                place: first_pass.then_some(place_of(transcript, edit).unwrap_or(finding.place)),
                call_id: call_of(transcript, edit).or_else(|| finding.call_id.clone()),
                synthetic: is_synthetic_edit(edit),
                dropped: dropped(transcript, edit, fix).into_iter().collect(),
                before_hash,
                after_hash: None,
            });
        }
    }

    /// Notes the values that stood behind a repeated key of a message that was rewritten,
    /// and went with it.
    fn note_hidden(&mut self, before: &Transcript<'_>, after: &Transcript<'_>, encoded: &Encoded) {
        let mut kept: HashMap<_, usize> = HashMap::new();
        for (message, source) in hidden(after) {
            let origin = encoded.origins.get(message.get()).copied().flatten();
            *kept.entry((origin, source)).or_default() += 1;
        }
        for (message, source) in hidden(before) {
            if let Some(count) = kept.get_mut(&(Some(message), source)).filter(|count| **count > 0) {
                *count -= 1;
                continue;
            }
            let first = self.repair.actions.len() - encoded.landed.len();
            let origin = self.repair.origins.get(message.get()).copied().flatten();
            let taken = Taken { source: source.to_owned(), loss: Loss::Hidden };
            let about = self.repair.actions[first..].iter_mut().find(|action| action.message == origin);
            if let Some(action) = about {
                action.dropped.push(taken);
            }
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

/// The fixes of one pass: of the earliest stage, and none that changes what another does.
fn chosen<'f>(
    transcript: &Transcript<'_>,
    findings: &'f [Finding],
    policy: &RepairPolicy,
) -> Vec<(&'f Finding, &'f Fix)> {
    let allowed = || findings.iter().filter_map(|finding| Some((finding, applicable(finding, policy)?)));
    let stage = allowed().map(|(_, fix)| fix.stage).min();
    let mut claims = Claims::new(transcript);
    let mut taken: Vec<(&Finding, &Fix)> = Vec::new();
    for (finding, fix) in allowed().filter(|(_, fix)| Some(fix.stage) == stage) {
        // Bytes and blocks are written in different ways, so a pass is about one of them.
        let fits = taken.first().is_none_or(|(_, first)| first.is_bytes() == fix.is_bytes());
        if fits && claims.take(fix) {
            taken.push((finding, fix));
        }
    }
    taken
}

/// The fix of a finding, if the policy lets it be applied.
fn applicable<'f>(finding: &'f Finding, policy: &RepairPolicy) -> Option<&'f Fix> {
    let fix = finding.fix.as_ref()?;
    debug_assert!(!fix.is_mixed(), "{} edits bytes and blocks at once", finding.code);
    let worth = finding.severity >= Severity::Warning && !fix.edits.is_empty() && !fix.is_mixed();
    (worth && policy.allows(fix.safety)).then_some(fix)
}

/// Whether what an edit writes is made up.
fn is_synthetic_edit(edit: &Edit) -> bool {
    match edit {
        Edit::FillMessage { text, .. } | Edit::FillResult { text, .. } => !text.is_empty(),
        Edit::Synthesize { .. }
        | Edit::ReconstructCall { .. }
        | Edit::AddReasoning { .. }
        | Edit::InsertMessage { .. }
        | Edit::CloseServerCall { .. }
        | Edit::Sign { .. }
        | Edit::DeclareTools { .. }
        | Edit::HoistMedia { .. } => true,
        _ => false,
    }
}

/// The message an edit is about.
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

/// The id of the call that an edit is about, where it has one: what a finding says of several
/// calls it says under the first one's.
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
        Edit::Relocate { .. } => "relocate",
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

/// What an edit takes out for good: unsafe fixes do, members that were worth keeping, and
/// results that count as made up.
fn dropped(transcript: &Transcript<'_>, edit: &Edit, fix: &Fix) -> Option<Taken> {
    let is_unsafe = fix.safety == seamline_model::Safety::Unsafe;
    let (span, loss) = match edit {
        Edit::DropMember { member, lost: true, .. } => (*member, Loss::Said),
        Edit::Remove { block } if transcript.is_made_up(*block) => (transcript.block(*block).span, Loss::Synthetic),
        Edit::Remove { block } if is_unsafe => (transcript.block(*block).span, Loss::Said),
        // Kept as text or not: what was sealed cannot be kept.
        Edit::Remove { block } | Edit::Demote { block, .. } if is_sealed(transcript, *block) => {
            (transcript.block(*block).span, Loss::Sealed)
        }
        Edit::RemoveMessage { message } if is_unsafe => (transcript.message(*message).span, Loss::Said),
        Edit::Patch { span, text } if is_unsafe && text.is_empty() => (*span, Loss::Said),
        _ => return None,
    };
    Some(Taken { source: transcript.text(span).to_owned(), loss })
}

/// The members of messages that stand behind a later one of the same key.
fn hidden<'t>(transcript: &'t Transcript<'_>) -> impl Iterator<Item = (MessageIndex, &'t str)> {
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

    fn finding(edit: Edit) -> Finding {
        let fix = Fix { title: String::new(), safety: Safety::Safe, stage: Stage::Form, edits: vec![edit] };
        Finding {
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
    fn a_pass_is_about_bytes_or_about_blocks() {
        let bytes = |start| Edit::Patch { span: seamline_model::Span::new(start, start + 1), text: String::new() };
        let blocks = Edit::DeclareTools { names: Vec::new() };
        let findings = [finding(bytes(0)), finding(blocks.clone()), finding(bytes(4))];
        let edits = |findings| -> Vec<Edit> {
            chosen(&Transcript::new(b"[]"), findings, &RepairPolicy::default())
                .into_iter()
                .flat_map(|(_, fix)| fix.edits.clone())
                .collect()
        };
        assert_eq!(edits(&findings), [bytes(0), bytes(4)]);
        assert_eq!(edits(&findings[1..]), [blocks]);
    }
}

//! The repair loop.
//!
//! Each pass reads the text, checks it, takes the fixes of the earliest stage that the
//! policy allows, drops those that overlap one already taken, applies the rest and
//! starts again. It ends when nothing is left to apply; the last check is made on the
//! exact bytes that are returned.

use std::collections::{BTreeSet, HashMap};

use seamline_model::{
    BlockIndex, Constraints, Edit, Encoded, Finding, Fix, MessageIndex, Place, Severity, Span, Transcript,
};

use crate::{Policy, check};

/// The most passes a repair takes. Real damage settles in one to four.
pub const PASSES_MAX: u32 = 16;

/// Reads and writes conversations. This is all the loop knows of dialects.
pub trait Rewrite {
    /// Reads the text that edits made of a transcript's. Nothing when it cannot be read.
    fn reread<'n>(&self, before: &Transcript<'_>, encoded: &'n Encoded) -> Option<Transcript<'n>>;

    /// Writes edits by splicing the text of a transcript.
    fn write(&self, transcript: &Transcript<'_>, edits: &[Edit]) -> Encoded;
}

/// What came of a repair.
#[derive(Debug, Clone, Default)]
pub struct Repair {
    /// The new body; nothing when the old one is right as it is.
    pub body: Option<Vec<u8>>,
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
    /// The source of what it took out for good.
    pub dropped: Option<String>,
    /// Whether what it took out was made up itself.
    pub dropped_synthetic: bool,
    /// Hash of the message before.
    pub before_hash: Option<String>,
    /// Hash of the message after.
    pub after_hash: Option<String>,
}

/// Repairs a conversation as far as the policy allows.
pub fn repair(
    transcript: &Transcript<'_>,
    rewrite: &dyn Rewrite,
    constraints: &Constraints,
    policy: &Policy,
) -> Repair {
    let mut state =
        State { constraints, policy, repair: Repair::default(), landed: Vec::new(), hashes: HashMap::new() };
    let Some((mut encoded, mut read)) = state.step(rewrite, transcript) else {
        return state.repair;
    };
    while let Some(transcript) = read.take() {
        let transcript = transcript.over(&encoded.body);
        if state.repair.passes == PASSES_MAX {
            break;
        }
        let Some(stepped) = state.step(rewrite, &transcript) else {
            state.repair.body = Some(encoded.body);
            return state.repair;
        };
        (encoded, read) = stepped;
    }
    debug_assert!(false, "repair did not settle: {:?}", state.repair.actions);
    unsettled(state.repair)
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
    /// Hashes of messages of the text being looked at: many edits can be about one.
    hashes: HashMap<MessageIndex, String>,
}

/// What one pass made of a text: the new one, and what it says, if it can be read.
type Stepped = (Encoded, Option<Transcript<'static>>);

impl State<'_> {
    /// Makes one pass. Nothing when there is nothing to apply.
    fn step(&mut self, rewrite: &dyn Rewrite, transcript: &Transcript<'_>) -> Option<Stepped> {
        let edits = self.pass(transcript);
        if edits.is_empty() {
            return None;
        }
        let encoded = rewrite.write(transcript, &edits);
        self.follow(&encoded);
        let read = rewrite.reread(transcript, &encoded).map(Transcript::detached);
        Some((encoded, read))
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
        let mut claims = Claims::new(transcript);
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
            let before_hash = before.map(|index| self.hash(transcript, index));
            self.repair.actions.push(Action {
                code: finding.code,
                action: action_name(edit),
                message: if first_pass { before } else { origin },
                place: first_pass.then_some(place_of(transcript, edit).unwrap_or(finding.place)),
                call_id: finding.call_id.clone(),
                synthetic: is_synthetic_edit(edit),
                dropped: dropped(transcript, edit, fix),
                dropped_synthetic: matches!(edit, Edit::Remove { block } if transcript.is_made_up(*block)),
                before_hash,
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

/// The fix of a finding, if the policy lets it be applied.
fn applicable<'f>(finding: &'f Finding, policy: &Policy) -> Option<&'f Fix> {
    let fix = finding.fix.as_ref()?;
    let worth = finding.severity >= Severity::Warning && !fix.edits.is_empty();
    (worth && policy.allows(fix.safety)).then_some(fix)
}

/// What the fixes taken so far are about.
struct Claims<'t, 'a> {
    transcript: &'t Transcript<'a>,
    blocks: BTreeSet<(BlockIndex, Aspect)>,
    messages: BTreeSet<(MessageIndex, Aspect)>,
    /// The messages of the blocks: whether a message is there at all decides it for its blocks.
    around: BTreeSet<MessageIndex>,
    spans: BTreeSet<Span>,
}

impl<'t, 'a> Claims<'t, 'a> {
    fn new(transcript: &'t Transcript<'a>) -> Self {
        Self {
            transcript,
            blocks: BTreeSet::new(),
            messages: BTreeSet::new(),
            around: BTreeSet::new(),
            spans: BTreeSet::new(),
        }
    }

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
                self.messages.contains(&(self.transcript.block(block).message, Aspect::Whole))
                    || Aspect::ALL.iter().any(|other| aspect.overlaps(*other) && self.blocks.contains(&(block, *other)))
            }
            Claim::Message(message, aspect) => {
                let taken = |other: &&Aspect| aspect.overlaps(**other) && self.messages.contains(&(message, **other));
                (aspect == Aspect::Whole && self.around.contains(&message))
                    || Aspect::ALL.iter().any(|other| taken(&other))
            }
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
                self.around.insert(self.transcript.block(block).message);
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
    Block(BlockIndex, Aspect),
    Message(MessageIndex, Aspect),
    Bytes(Span),
    Nothing,
}

/// What of a block or message an edit changes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Aspect {
    /// Whether it is there at all, and as what.
    Whole,
    /// Where it stands.
    Place,
    /// Its id.
    Id,
    /// Its name.
    Name,
    /// Its role.
    Role,
    /// What it holds.
    Content,
    /// Its list of calls.
    Calls,
    /// Its reasoning.
    Reasoning,
}

impl Aspect {
    const ALL: [Self; 8] =
        [Self::Whole, Self::Place, Self::Id, Self::Name, Self::Role, Self::Content, Self::Calls, Self::Reasoning];

    /// Two edits of one thing overlap when they change the same of it, or when one of them
    /// changes whether it is there.
    fn overlaps(self, other: Self) -> bool {
        self == other || self == Self::Whole || other == Self::Whole
    }
}

fn claim_of(edit: &Edit) -> Claim {
    match edit {
        Edit::Patch { span, .. } | Edit::DropMember { cut: span, .. } => Claim::Bytes(*span),
        Edit::Synthesize { .. } | Edit::InsertMessage { .. } | Edit::DeclareTools { .. } => Claim::Nothing,
        Edit::Relocate { result: block, .. } | Edit::Sign { call: block } => Claim::Block(*block, Aspect::Place),
        Edit::Demote { block, .. }
        | Edit::ReconstructCall { result: block, .. }
        | Edit::Remove { block }
        | Edit::AdoptLegacyCall { call: block } => Claim::Block(*block, Aspect::Whole),
        Edit::Readdress { result: block, .. } | Edit::SetCallId { call: block, .. } => Claim::Block(*block, Aspect::Id),
        Edit::SetToolName { block, .. } => Claim::Block(*block, Aspect::Name),
        Edit::SetInput { call: block }
        | Edit::FlattenResult { result: block }
        | Edit::FillResult { result: block, .. }
        | Edit::HoistMedia { result: block, .. }
        | Edit::CloseServerCall { call: block } => Claim::Block(*block, Aspect::Content),
        Edit::RemoveMessage { message }
        | Edit::Regroup { message }
        | Edit::FillMessage { message, .. }
        | Edit::KeepMembers { message }
        | Edit::Restate { message }
        | Edit::TakeIn { message, .. }
        | Edit::JoinPrevious { message } => Claim::Message(*message, Aspect::Whole),
        Edit::SetRole { message, .. } => Claim::Message(*message, Aspect::Role),
        Edit::AddReasoning { message, .. } => Claim::Message(*message, Aspect::Reasoning),
        Edit::RemoveCallList { message } => Claim::Message(*message, Aspect::Calls),
        Edit::RemoveItemId { message } => Claim::Message(*message, Aspect::Id),
        Edit::SetContent { message } => Claim::Message(*message, Aspect::Content),
        Edit::ResultsFirst { message } => Claim::Message(*message, Aspect::Place),
    }
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
    match edit {
        Edit::RemoveMessage { message }
        | Edit::Regroup { message }
        | Edit::FillMessage { message, .. }
        | Edit::KeepMembers { message }
        | Edit::Restate { message }
        | Edit::TakeIn { message, .. }
        | Edit::JoinPrevious { message }
        | Edit::SetRole { message, .. }
        | Edit::AddReasoning { message, .. }
        | Edit::RemoveCallList { message }
        | Edit::RemoveItemId { message }
        | Edit::SetContent { message }
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
        Edit::DeclareTools { .. } => "declare",
        Edit::Regroup { .. } => "regroup",
        Edit::SetRole { .. } => "set_role",
        Edit::ResultsFirst { .. } => "reorder",
        Edit::FillMessage { .. } | Edit::FillResult { .. } | Edit::AddReasoning { .. } => "fill",
        Edit::InsertMessage { .. } => "insert",
        Edit::JoinPrevious { .. } => "join",
    }
}

/// What an edit takes out for good: unsafe fixes do, members that were worth keeping, and
/// results that count as made up.
fn dropped(transcript: &Transcript<'_>, edit: &Edit, fix: &Fix) -> Option<String> {
    if let Edit::DropMember { member, lost: true, .. } = edit {
        return Some(transcript.text(*member).to_owned());
    }
    let made_up = matches!(edit, Edit::Remove { block } if transcript.is_made_up(*block));
    if fix.safety != seamline_model::Safety::Unsafe && !made_up {
        return None;
    }
    match edit {
        Edit::Remove { block } => Some(transcript.text(transcript.block(*block).span).to_owned()),
        Edit::RemoveMessage { message } => Some(transcript.text(transcript.message(*message).span).to_owned()),
        Edit::Patch { span, text } if text.is_empty() => Some(transcript.text(*span).to_owned()),
        _ => None,
    }
}

//! The actions of a repair: listed up to a limit, then counted.

use std::collections::{HashMap, HashSet};

use seamline_model::{
    BlockIndex, BlockKind, Edit, Encoded, FactKind, Fix, IrregularityKind, MessageIndex, Place, Transcript,
};

use crate::action_kind::ActionKind;
use crate::apply::Candidate;
use crate::claims::{Claim, claim_of};
use crate::input::is_synthetic_edit;
use crate::removed;

/// The most actions of one rule that are listed. The others are counted.
pub const ACTIONS_LISTED_MAX: u32 = 1000;

/// One action of a repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// The rule that proposed it.
    pub code: &'static str,
    /// The kind of the action.
    pub action: ActionKind,
    /// The message of the input it changes, if it existed there.
    pub message: Option<MessageIndex>,
    /// The position in the input, while that is still known.
    pub place: Option<Place>,
    /// The id of the call it is about.
    pub call_id: Option<String>,
    /// The id that the result named before, if that is another one.
    pub from_call_id: Option<String>,
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

/// Actions of one rule that are not listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnlistedActions {
    /// The rule that proposed them.
    pub code: &'static str,
    /// How many there are.
    pub count: u32,
    /// How many of them removed content permanently.
    pub dropped: u32,
    /// Whether some of that was content of the user, the model or a tool.
    pub lost: bool,
}

/// The actions of a repair so far.
#[derive(Default)]
pub(crate) struct Actions {
    pub(crate) listed: Vec<Action>,
    tallies: Vec<(u32, UnlistedActions)>,
    /// For each edit of the last pass, its action, if that is listed.
    noted: Vec<Option<usize>>,
    /// For each listed action of the last pass, the message that holds its output.
    landed: Vec<(usize, MessageIndex)>,
    /// Hashes of messages of the present body; many edits can change one message.
    hashes: HashMap<MessageIndex, String>,
}

impl Actions {
    /// The actions that are not listed.
    pub(crate) fn more(&self) -> Vec<UnlistedActions> {
        self.tallies.iter().map(|(_, more)| more.clone()).filter(|more| more.count > 0).collect()
    }

    /// Starts a pass over a transcript, which the last pass produced.
    pub(crate) fn start(&mut self, transcript: &Transcript<'_>) {
        self.hashes.clear();
        self.noted.clear();
        for (action, index) in std::mem::take(&mut self.landed) {
            if index.get() < transcript.messages.len() {
                self.listed[action].after_hash = Some(self.hash(transcript, index));
            }
        }
    }

    /// Records the actions of a fix's edits. `origins` are the original messages of the present ones, or all of them in
    /// the first pass.
    pub(crate) fn note(
        &mut self,
        transcript: &Transcript<'_>,
        taken: Candidate<'_>,
        origins: &[Option<MessageIndex>],
        first_pass: bool,
    ) {
        for edit in &taken.fix.edits {
            let dropped = dropped_content(transcript, edit, taken.fix);
            if !self.has_place(taken.code, dropped.as_ref()) {
                self.noted.push(None);
                continue;
            }
            let about = subject(transcript, edit).or(taken.place.message);
            let before = about.filter(|index| index.get() < transcript.messages.len());
            let origin = before.and_then(|index| origins.get(index.get()).copied().flatten());
            let before_hash = before.map(|index| self.hash(transcript, index));
            self.noted.push(Some(self.listed.len()));
            self.listed.push(Action {
                code: taken.code,
                action: ActionKind::of(edit),
                message: if first_pass { before } else { origin },
                place: first_pass.then_some(place_of(transcript, edit).unwrap_or(taken.place)),
                call_id: call_of(transcript, edit).or_else(|| taken.call_id.map(str::to_owned)),
                from_call_id: old_id(transcript, edit),
                removed: removed::removed(transcript, edit),
                synthetic: is_synthetic_edit(edit),
                dropped: dropped.into_iter().collect(),
                before_hash,
                after_hash: None,
            });
        }
    }

    /// Whether one more action of a rule is listed; it is counted if not.
    fn has_place(&mut self, code: &'static str, dropped: Option<&DroppedContent>) -> bool {
        let known = self.tallies.iter().position(|(_, more)| more.code == code);
        let at = known.unwrap_or_else(|| {
            self.tallies.push((0, UnlistedActions { code, count: 0, dropped: 0, lost: false }));
            self.tallies.len() - 1
        });
        let (listed, more) = &mut self.tallies[at];
        if *listed < ACTIONS_LISTED_MAX {
            *listed += 1;
            return true;
        }
        more.count += 1;
        more.dropped += u32::from(dropped.is_some());
        more.lost |= dropped.is_some_and(|dropped| dropped.loss == Loss::Said);
        false
    }

    /// Records values that were lost because their message was rewritten: those of repeated keys, and names, ids and roles
    /// that are lists or objects.
    pub(crate) fn note_hidden(
        &mut self,
        (before, edits): (&Transcript<'_>, &[Edit]),
        (after, encoded): (&Transcript<'_>, &Encoded),
        origins: &[Option<MessageIndex>],
    ) {
        let as_text: HashSet<_> = edits.iter().filter_map(|edit| kept_as_text(before, edit)).collect();
        let mut kept: HashMap<_, usize> = HashMap::new();
        for Unread { message, source, .. } in unread_values(after) {
            let origin = encoded.origins.get(message.get()).copied().flatten();
            *kept.entry((origin, source)).or_default() += 1;
        }
        // The first action of each message.
        let noted = self.noted.iter().rev().flatten();
        let first: HashMap<_, _> = noted.map(|&action| (self.listed[action].message, action)).collect();
        for Unread { message, source, loss } in unread_values(before) {
            if let Some(count) = kept.get_mut(&(Some(message), source)).filter(|count| **count > 0) {
                *count -= 1;
                continue;
            }
            if loss == Loss::Said && as_text.contains(&message) {
                continue;
            }
            let origin = origins.get(message.get()).copied().flatten();
            let taken = DroppedContent { source: source.to_owned(), loss };
            if let Some(&action) = first.get(&origin) {
                self.listed[action].dropped.push(taken);
            }
        }
    }

    /// Records where the edits of a pass landed.
    pub(crate) fn land(&mut self, encoded: &Encoded) {
        let pairs = self.noted.iter().zip(&encoded.landed);
        self.landed = pairs.filter_map(|(action, landed)| Some(((*action)?, (*landed)?))).collect();
    }

    fn hash(&mut self, transcript: &Transcript<'_>, index: MessageIndex) -> String {
        let text = || transcript.text(transcript.message(index).span);
        self.hashes.entry(index).or_insert_with(|| blake3::hash(text().as_bytes()).to_hex().to_string()).clone()
    }
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

/// The id that a result named instead of that of its call.
fn old_id(transcript: &Transcript<'_>, edit: &Edit) -> Option<String> {
    let Edit::Readdress { result, call, .. } = edit else { return None };
    let old = transcript.result(*result)?.id.as_ref().filter(|id| !id.is_empty())?;
    let own = transcript.call(*call).and_then(|call| call.id.as_ref());
    (own != Some(old)).then(|| old.as_str().to_owned())
}

fn place_of(transcript: &Transcript<'_>, edit: &Edit) -> Option<Place> {
    let block = block_of(edit)?;
    let content = transcript.block(block);
    Some(Place { message: Some(content.message), block: Some(block), span: content.span })
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

/// A value of a message that is in no block.
struct Unread<'t> {
    message: MessageIndex,
    source: &'t str,
    /// The kind of loss if a repair overwrites it.
    loss: Loss,
}

/// Members of messages that a later member of the same key overrides, and values that nothing can be read from.
fn unread_values<'t>(transcript: &'t Transcript<'_>) -> impl Iterator<Item = Unread<'t>> {
    let overridden = transcript.irregularities.iter().filter_map(|irregularity| match &irregularity.kind {
        IrregularityKind::DuplicateKey { cut, .. } => {
            Some(Unread { message: irregularity.message?, source: transcript.text(*cut), loss: Loss::Hidden })
        }
        _ => None,
    });
    let odd = transcript.facts.iter().filter(|fact| fact.kind == FactKind::OddValue);
    overridden.chain(odd.map(|fact| Unread { message: fact.message, source: &fact.id, loss: Loss::Said }))
}

/// The message whose names, ids and role an edit keeps as text.
fn kept_as_text(transcript: &Transcript<'_>, edit: &Edit) -> Option<MessageIndex> {
    match edit {
        Edit::TakeIn { message, .. } => Some(*message),
        Edit::Demote { block, .. } => Some(transcript.block(*block).message),
        _ => None,
    }
}

fn is_sealed(transcript: &Transcript<'_>, block: BlockIndex) -> bool {
    matches!(transcript.block(block).kind, BlockKind::Reasoning { signed: true })
}

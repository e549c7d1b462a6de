//! The start of a conversation that need not be checked again.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;

use seamline_model::{BlockIndex, Carrier, Item, MessageIndex, PairedCall, ResultFate, Role, RuleFinding, Uniqueness};

use crate::context::Context;
use crate::policy::DuplicateCallId;
use crate::rule::Report;

/// The most findings of settled messages that are kept.
const FINDINGS_MAX: usize = 64;

/// The messages at the start of a conversation that [`check_on`](crate::check_on) need not check again, and the facts
/// that it needs about them: their findings, and the ids of their calls and items where these must not repeat.
///
/// It holds for one set of constraints, one policy and one request around the messages. The settled messages end at a
/// *seam*: each call before it is answered before it, each result before it answers a call, and an assistant message
/// follows one of another role. No rule about a message or a cycle looks across a seam any further than to the messages
/// beside it.
///
/// It takes at most 64 findings and a hash for each id.
#[derive(Debug, Clone)]
pub struct Settled {
    /// How many of the last messages are never settled.
    open: usize,
    /// How many messages are settled.
    messages: usize,
    /// The findings about single settled messages.
    findings: Vec<RuleFinding>,
    /// The ids of their calls, where ids must differ in the whole conversation.
    call_ids: Ids,
    /// The ids of their items, likewise.
    item_ids: Ids,
}

impl Settled {
    /// No settled messages yet. The last `open` messages, at least one, are never settled: a conversation can be rolled
    /// back to before them and continue from the settled ones.
    pub fn new(open: NonZeroUsize) -> Self {
        let ids = || Ids(HashSet::new());
        Self { open: open.get(), messages: 0, findings: Vec::new(), call_ids: ids(), item_ids: ids() }
    }

    /// Forgets all that is settled.
    pub fn clear(&mut self) {
        self.messages = 0;
        self.findings.clear();
        self.call_ids.0.clear();
        self.item_ids.0.clear();
    }

    /// How many messages must stay unchanged: the settled ones, and the one after them.
    pub fn needs(&self) -> usize {
        if self.messages == 0 { 0 } else { self.messages + 1 }
    }

    /// Whether findings are kept, which point to bytes of the body.
    pub fn has_findings(&self) -> bool {
        !self.findings.is_empty()
    }

    /// The number of bytes of memory that it takes, about.
    pub fn held_bytes(&self) -> usize {
        let ids = self.call_ids.0.capacity() + self.item_ids.0.capacity();
        size_of::<Self>() + self.findings.capacity() * size_of::<RuleFinding>() + ids * size_of::<(u64, u8)>()
    }

    /// One past the last settled message.
    pub(crate) fn end(&self) -> MessageIndex {
        MessageIndex(self.messages as u32)
    }

    /// The findings of settled messages.
    pub(crate) fn findings(&self) -> &[RuleFinding] {
        &self.findings
    }

    /// Whether a settled message may be an item with this id.
    pub(crate) fn may_have_item(&self, id: &str) -> bool {
        self.item_ids.may_hold(id)
    }

    /// Adds messages up to a later seam.
    pub(crate) fn extend(&mut self, more: More) {
        self.messages = more.end.get();
        self.findings.extend(more.findings);
        self.call_ids.0.extend(more.call_ids);
        self.item_ids.0.extend(more.item_ids);
    }

    /// The messages that a check settles among the checked ones, which are those after the settled ones or all.
    pub(crate) fn more(&self, context: &Context<'_, '_>, report: &Report) -> Option<More> {
        let end = last_seam(context, (self.open, report.unsettled));
        let is_before = |finding: &&RuleFinding| finding.place.message.is_some_and(|message| message < end);
        let lasting = report.lasting.iter().map(|&at| &report.findings[at]).filter(is_before);
        let known = context.settled.map_or(0, |settled| settled.findings.len());
        if end == context.first() || known + lasting.clone().count() > FINDINGS_MAX {
            return None;
        }
        let calls = context.pairing.calls.iter().take_while(|state| state.message < end);
        let call_ids = calls.filter(|_| has_distant_ids(context)).map(|state| context.id(state.call));
        let items = context.transcript.items.get(context.first().get()..end.get()).unwrap_or_default();
        let item_ids = items.iter().filter(|_| context.constraints.repeated_item.is_some()).filter_map(item_id);
        let (call_ids, item_ids) = (call_ids.map(hash).collect(), item_ids.map(hash).collect());
        Some(More { end, findings: lasting.cloned().collect(), call_ids, item_ids })
    }
}

/// The addition of a check to the settled messages.
pub(crate) struct More {
    end: MessageIndex,
    findings: Vec<RuleFinding>,
    call_ids: Vec<u64>,
    item_ids: Vec<u64>,
}

/// Whether the ids of calls are compared over the whole conversation.
pub(crate) fn has_distant_ids(context: &Context<'_, '_>) -> bool {
    let choice = context.policy.duplicate_call_id;
    match context.constraints.unique_ids {
        Uniqueness::Nowhere => false,
        _ if context.constraints.carrier == Carrier::Items => choice == DuplicateCallId::RenameLater,
        Uniqueness::Request(_) => true,
        Uniqueness::Cycle(_) => matches!(choice, DuplicateCallId::Error | DuplicateCallId::RenameLater),
    }
}

/// Whether a call may have the id of one in a settled message.
pub(crate) fn repeats_settled_call(context: &Context<'_, '_>) -> bool {
    let mut ids = context.pairing.calls.iter().map(|state| context.id(state.call)).filter(|id| !id.is_empty());
    context.settled.is_some_and(|settled| ids.any(|id| settled.call_ids.may_hold(id)))
}

/// The id of an item, if it has one.
pub(crate) fn item_id(item: &Item) -> Option<&str> {
    item.id.as_deref().filter(|id| !id.is_empty())
}

/// The last seam among the checked messages, before the last `open` of them and not after `limit`; the first checked
/// message if there is no seam.
fn last_seam(context: &Context<'_, '_>, (open, limit): (usize, Option<MessageIndex>)) -> MessageIndex {
    let transcript = context.transcript;
    let loose = context.pairing.results.iter().find(|state| !matches!(state.fate, ResultFate::Answers(_)));
    let loose = loose.map(|state| transcript.block(state.result).message);
    let open = transcript.messages.len().saturating_sub(open);
    let end = [limit, loose].into_iter().flatten().map(MessageIndex::get).fold(open, usize::min);
    let mut calls = context.pairing.calls.iter().peekable();
    let mut seam = context.first();
    let mut awaited = None;
    for (index, message) in transcript.enumerate_from(seam.next()).take_while(|(index, _)| index.get() <= end) {
        while let Some(PairedCall { matched, .. }) = calls.next_if(|state| state.message < index) {
            let Some(matched) = matched else { return seam };
            awaited = awaited.max(Some(matched.result));
        }
        let is_closed = awaited < Some(BlockIndex(message.first_block)) || awaited.is_none();
        if is_closed && is_seam(context, index) {
            seam = index;
        }
    }
    seam
}

/// Whether an assistant message follows one of another role that makes no calls.
fn is_seam(context: &Context<'_, '_>, index: MessageIndex) -> bool {
    let transcript = context.transcript;
    let Some(before) = index.0.checked_sub(1).map(MessageIndex) else { return false };
    transcript.message(index).role == Role::Assistant
        && transcript.message(before).role != Role::Assistant
        && !transcript.has_calls(before)
}

/// The hashes of ids. Two ids may have the same hash, so a lookup may find an id that was never added.
#[derive(Debug, Clone)]
struct Ids(HashSet<u64>);

impl Ids {
    fn may_hold(&self, id: &str) -> bool {
        self.0.contains(&hash(id))
    }
}

fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

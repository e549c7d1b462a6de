//! The input of a rule.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};

use seamline_model::{
    Block, BlockIndex, Carrier, Constraints, ErrorText, FactKind, ItemKind, Joint, Member, Message, MessageIndex,
    PairedCall, Pairing, ResultFate, Role, Scope, Stage, Tool, Transcript, Values, WireId,
};

use crate::RepairPolicy;
use crate::policy::MatchScope;
use crate::rejected;
use crate::settled::Settled;

/// The input of a rule: the transcript, its pairing, the constraints of the provider and the policy of the caller.
pub(crate) struct Context<'c, 'a> {
    pub(crate) transcript: &'c Transcript<'a>,
    pub(crate) constraints: &'c Constraints,
    pub(crate) policy: &'c RepairPolicy,
    /// The pairing of the calls and results of the checked messages.
    pub(crate) pairing: Pairing,
    /// The settled messages before the checked ones; `None` if all messages are checked.
    pub(crate) settled: Option<&'c Settled>,
    /// Whether a rule needs facts about settled messages that are not kept.
    asks_whole: Cell<bool>,
    /// For each checked message, the message in which its calls are answered (results as blocks), the message that it
    /// answers (results as messages), or the first of the calls that it may answer (results as adjacent items).
    partner: Vec<Option<MessageIndex>>,
    /// The ids of the calls of the message that was last asked for.
    siblings: RefCell<(Option<MessageIndex>, HashSet<String>)>,
    /// The first call of each tool, computed when a rule asks for it.
    called: OnceCell<HashMap<Tool, BlockIndex>>,
    /// The results that repeat the one of each call, computed when a rule asks for them.
    repeats: OnceCell<HashMap<BlockIndex, Vec<BlockIndex>>>,
    /// For each checked message that a rule asked for, whether it holds only results. Computed only after a first
    /// finding.
    only_results: OnceCell<Vec<Cell<Option<bool>>>>,
    /// The last message that holds more than results, computed in the same way.
    last_said: OnceCell<Option<MessageIndex>>,
    /// The first message whose role is known, computed when a rule asks for it.
    first_known: OnceCell<Option<MessageIndex>>,
    /// The first item that is only the id of one that the provider stores, computed when a rule asks for it.
    first_reference: OnceCell<Option<MessageIndex>>,
}

impl<'c, 'a> Context<'c, 'a> {
    /// The context of all messages.
    pub(crate) fn new(transcript: &'c Transcript<'a>, constraints: &'c Constraints, policy: &'c RepairPolicy) -> Self {
        let pairing = Pairing::of(transcript, scope(transcript, constraints, policy));
        Self::with(transcript, (constraints, policy), (pairing, None))
    }

    /// The context of the messages after the settled ones. `None` if one of their results may answer a call of a
    /// settled message.
    pub(crate) fn behind(
        transcript: &'c Transcript<'a>,
        constraints: &'c Constraints,
        policy: &'c RepairPolicy,
        settled: &'c Settled,
    ) -> Option<Self> {
        let scope = scope(transcript, constraints, policy);
        let pairing = Pairing::behind(transcript, scope, settled.end())?;
        Some(Self::with(transcript, (constraints, policy), (pairing, Some(settled))))
    }

    fn with(
        transcript: &'c Transcript<'a>,
        (constraints, policy): (&'c Constraints, &'c RepairPolicy),
        (pairing, settled): (Pairing, Option<&'c Settled>),
    ) -> Self {
        let first = settled.map_or(MessageIndex(0), Settled::end);
        let partner = match constraints.carrier {
            _ if !transcript.has.pairs => Vec::new(),
            Carrier::UserBlocks => result_messages(transcript, first, constraints.joint_results),
            Carrier::ToolMessages => answered_messages(transcript, first),
            Carrier::Items if constraints.pairs.adjacent.is_some() => batches(transcript, first),
            Carrier::Items => Vec::new(),
        };
        let mut context = Self {
            transcript,
            constraints,
            policy,
            pairing,
            settled,
            asks_whole: Cell::new(false),
            partner,
            siblings: RefCell::default(),
            called: OnceCell::new(),
            repeats: OnceCell::new(),
            only_results: OnceCell::new(),
            last_said: OnceCell::new(),
            first_known: OnceCell::new(),
            first_reference: OnceCell::new(),
        };
        if policy.match_scope == MatchScope::Adjacent {
            context.forget_displaced();
        }
        context
    }

    /// Whether the provider has rejected the reasoning or the signature of a block.
    pub(crate) fn is_rejected(&self, block: &Block) -> bool {
        rejected::is_rejected(&self.policy.rejected_reasoning, self.transcript, block)
    }

    /// The first checked message.
    pub(crate) fn first(&self) -> MessageIndex {
        self.settled.map_or(MessageIndex(0), Settled::end)
    }

    /// The checked messages.
    pub(crate) fn messages(&self) -> impl Iterator<Item = (MessageIndex, &'c Message)> {
        self.transcript.enumerate_from(self.first())
    }

    /// The blocks of the checked messages.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (BlockIndex, &'c Block)> {
        let message = self.transcript.messages.get(self.first().get());
        let first = message.map_or(self.transcript.blocks.len() as u32, |message| message.first_block);
        (first..).map(BlockIndex).zip(&self.transcript.blocks[first as usize..])
    }

    /// The members of the checked messages.
    pub(crate) fn members(&self) -> &'c [Member] {
        self.transcript.members_among(self.first().get()..usize::MAX)
    }

    /// Whether the provider may store the call that an item answers, because an earlier item refers to a stored one.
    pub(crate) fn may_be_stored(&self, index: MessageIndex) -> bool {
        let forgets = self.transcript.envelope.stateless || self.constraints.keeps_nothing;
        let first = self.first_reference.get_or_init(|| {
            let at = self.transcript.items.iter().position(|item| item.kind == ItemKind::Reference);
            at.map(|at| MessageIndex(at as u32))
        });
        !forgets && first.is_some_and(|first| first < index)
    }

    /// Requests a check of all messages, because the rule needs facts about settled messages that are not kept. A check
    /// of all messages must not request it.
    pub(crate) fn ask_whole(&self) {
        debug_assert!(self.settled.is_some(), "all messages are checked already");
        self.asks_whole.set(true);
    }

    /// Whether a rule requested a check of all messages.
    pub(crate) fn asks_whole(&self) -> bool {
        self.asks_whole.get()
    }

    /// Unpairs the results that are not in their place.
    fn forget_displaced(&mut self) {
        for index in 0..self.pairing.calls.len() {
            let PairedCall { call, matched, .. } = self.pairing.calls[index];
            let Some(matched) = matched.filter(|matched| !self.in_place(call, matched.result)) else {
                continue;
            };
            self.pairing.calls[index].matched = None;
            if let Ok(at) = self.pairing.results.binary_search_by_key(&matched.result, |state| state.result) {
                self.pairing.results[at].fate = ResultFate::Orphan;
            }
        }
    }

    /// Whether a result is where the provider looks for the result of a call.
    pub(crate) fn in_place(&self, call: BlockIndex, result: BlockIndex) -> bool {
        let asks = self.transcript.block(call).message;
        let holder = self.transcript.block(result).message;
        match self.constraints.carrier {
            Carrier::UserBlocks => self.partner(asks) == Some(holder),
            Carrier::ToolMessages => self.partner(holder) == Some(asks),
            Carrier::Items if self.constraints.pairs.adjacent.is_some() => {
                asks < holder && self.partner(holder).is_some_and(|first| first <= asks)
            }
            Carrier::Items => asks < holder,
        }
    }

    /// The message in which the calls of a message are answered, when results are blocks.
    pub(crate) fn result_message(&self, asks: MessageIndex) -> Option<MessageIndex> {
        match self.constraints.carrier {
            Carrier::UserBlocks => self.partner(asks),
            Carrier::ToolMessages | Carrier::Items => None,
        }
    }

    fn partner(&self, message: MessageIndex) -> Option<MessageIndex> {
        let at = message.get().checked_sub(self.first().get())?;
        self.partner.get(at).copied().flatten()
    }

    /// Whether a message may hold calls.
    pub(crate) fn may_call(&self, message: MessageIndex) -> bool {
        self.transcript.message(message).role == Role::Assistant
    }

    /// Whether a message may hold results.
    pub(crate) fn may_answer(&self, message: MessageIndex) -> bool {
        let carrier = match self.constraints.carrier {
            Carrier::UserBlocks => Role::User,
            Carrier::ToolMessages | Carrier::Items => Role::Tool,
        };
        self.transcript.message(message).role == carrier
    }

    /// The first message whose role is known.
    pub(crate) fn first_known(&self) -> Option<MessageIndex> {
        let find = || self.transcript.enumerate().find(|(_, message)| message.role != Role::Unknown);
        *self.first_known.get_or_init(|| find().map(|(index, _)| index))
    }

    /// The error if results of a message are not alone in it. `None` if they may be beside other blocks.
    pub(crate) fn results_alone(&self, message: MessageIndex) -> Option<ErrorText> {
        let of_programs = || self.constraints.pairs.program_results_alone.filter(|_| self.answers_program(message));
        self.constraints.results_alone.or_else(of_programs)
    }

    /// The first document of a message, with its format and the error if it shares the message with results.
    pub(crate) fn document_apart(&self, message: MessageIndex) -> Option<(BlockIndex, &str, ErrorText)> {
        let error = self.constraints.pairs.documents_apart?;
        let facts = self.transcript.facts_among(message.get()..message.get() + 1);
        let document = facts.iter().find(|fact| fact.kind == FactKind::Document)?;
        Some((document.block, &document.id, error))
    }

    /// Whether a message holds the result of a call that a server tool made.
    fn answers_program(&self, message: MessageIndex) -> bool {
        let is_made = |block| match self.pairing.result(block).map(|state| state.fate) {
            Some(ResultFate::Answers(call)) => self.transcript.has_fact(call, FactKind::Caller),
            _ => false,
        };
        !self.transcript.facts.is_empty() && self.transcript.blocks_of(message).any(|(block, _)| is_made(block))
    }

    /// Whether only results follow a message, so that its calls may still be answered.
    pub(crate) fn is_frontier(&self, message: MessageIndex) -> bool {
        self.last_said.get_or_init(|| self.last_said()).is_none_or(|last| last <= message)
    }

    fn last_said(&self) -> Option<MessageIndex> {
        let mut messages = (0..self.transcript.messages.len() as u32).rev().map(MessageIndex);
        // An emptied message says nothing, so it ends no turn; calls that are items of their
        // own are made together.
        let together = |index| self.constraints.carrier == Carrier::Items && self.transcript.has_calls(index);
        let says = |&index: &MessageIndex| {
            !self.holds_only_results(index) && !self.transcript.message(index).range().is_empty() && !together(index)
        };
        messages.find(says)
    }

    /// The first message of the last run of assistant messages, and of messages that hold only results.
    pub(crate) fn last_turn(&self) -> MessageIndex {
        let belongs = |index: MessageIndex| {
            self.transcript.message(index).role == Role::Assistant || self.holds_only_results(index)
        };
        let messages = (0..self.transcript.messages.len() as u32).rev().map(MessageIndex);
        messages.take_while(|&index| belongs(index)).last().unwrap_or(MessageIndex(u32::MAX))
    }

    /// Whether a message holds results, and nothing else but cache marks.
    pub(crate) fn holds_only_results(&self, index: MessageIndex) -> bool {
        let Some(at) = index.get().checked_sub(self.first().get()) else {
            return holds_only_results(self.transcript, index);
        };
        let count = self.transcript.messages.len() - self.first().get();
        let asked = self.only_results.get_or_init(|| vec![Cell::new(None); count]);
        let Some(known) = asked.get(at) else { return false };
        known.get().unwrap_or_else(|| {
            let only = holds_only_results(self.transcript, index);
            known.set(Some(only));
            only
        })
    }

    /// The id of a call, to be compared or measured.
    pub(crate) fn call_id(&self, call: BlockIndex) -> Option<&WireId> {
        self.transcript.call(call).and_then(|call| call.id.as_ref())
    }

    /// The id of a call or result, or nothing.
    pub(crate) fn id(&self, block: BlockIndex) -> &str {
        let call = self.transcript.call(block).and_then(|call| call.id.as_deref());
        let result = self.transcript.result(block).and_then(|result| result.id.as_deref());
        call.or(result).unwrap_or("")
    }

    /// Whether a result has no id where ids are optional, and its tool was called under one: then the name that serves
    /// as its id belongs to no call.
    pub(crate) fn is_unaddressed(&self, result: BlockIndex) -> bool {
        self.first_call_of_unaddressed(result).is_some()
    }

    /// The first call of the tool of a result that [is not addressed](Self::is_unaddressed).
    pub(crate) fn first_call_of_unaddressed(&self, result: BlockIndex) -> Option<BlockIndex> {
        let tool = self.transcript.result(result)?.tool?;
        let first = || self.called.get_or_init(|| first_calls(self.transcript)).get(&tool).copied();
        if self.is_named_by_tool(result) { first() } else { None }
    }

    /// Whether a result has no id where ids are optional, so that the name of its tool serves as one.
    pub(crate) fn is_named_by_tool(&self, result: BlockIndex) -> bool {
        let tool = self.transcript.result(result).and_then(|result| result.tool);
        let is_name = tool.is_some() && self.transcript.name(tool) == Some(self.id(result));
        is_name && !self.constraints.call_id.demanded
    }

    /// The results that repeat the one that answers a call.
    pub(crate) fn repeats_of(&self, call: BlockIndex) -> &[BlockIndex] {
        let repeats = self.repeats.get_or_init(|| {
            let mut repeats: HashMap<BlockIndex, Vec<BlockIndex>> = HashMap::new();
            for state in &self.pairing.results {
                if let ResultFate::Duplicate(call) | ResultFate::Superseded(call) = state.fate {
                    repeats.entry(call).or_default().push(state.result);
                }
            }
            repeats
        });
        repeats.get(&call).map_or(&[], Vec::as_slice)
    }

    /// Whether another call of the same message has this id.
    pub(crate) fn is_taken(&self, call: BlockIndex, id: &str) -> bool {
        let message = self.transcript.block(call).message;
        let mut siblings = self.siblings.borrow_mut();
        if siblings.0 != Some(message) {
            let calls = self.transcript.blocks_of(message).filter_map(|(block, _)| self.transcript.call(block));
            let ids = calls.filter_map(|call| call.id.as_deref().map(str::to_owned)).collect();
            *siblings = (Some(message), ids);
        }
        siblings.1.contains(id)
    }

    /// The values of a block for an error text.
    pub(crate) fn values<'v>(&self, block: BlockIndex, id: &'v str) -> Values<'v> {
        let content = self.transcript.block(block);
        let kind = self.transcript.item(content.message).map_or("", |item| item.of.words);
        Values { message: content.message.get(), block: content.slot().index as usize, id, kind, ..Values::default() }
    }

    /// When calls get ids of their own. Results that are items may come anywhere after their call, so only ids tell
    /// which call they answer: ids must be correct before pairs are repaired.
    pub(crate) fn naming_stage(&self) -> Stage {
        match self.constraints.carrier {
            Carrier::UserBlocks | Carrier::ToolMessages => Stage::Finish,
            Carrier::Items => Stage::Form,
        }
    }
}

/// The first call of each tool.
fn first_calls(transcript: &Transcript<'_>) -> HashMap<Tool, BlockIndex> {
    let mut first = HashMap::new();
    for (index, block) in transcript.blocks.iter().enumerate() {
        if let Some(tool) = block.call().and_then(|call| call.tool) {
            first.entry(tool).or_insert(BlockIndex(index as u32));
        }
    }
    first
}

/// The distance from their calls at which results are recognised.
fn scope(transcript: &Transcript<'_>, constraints: &Constraints, policy: &RepairPolicy) -> Scope {
    let mut scope = policy.scope().under(constraints);
    // A result that names no call here may name one that the provider stores.
    scope.misaddressed &= !transcript.envelope.chained;
    scope
}

fn holds_only_results(transcript: &Transcript<'_>, index: MessageIndex) -> bool {
    let is_result = |block| transcript.result(block).is_some();
    let mut blocks = transcript.blocks_of(index).peekable();
    blocks.peek().is_some()
        && blocks.all(|(block, _)| is_result(block) || transcript.is_cache_point(block))
        && transcript.has_results(index)
}

/// For each result from `first` on that follows adjacent calls, or other results of them, the first of those calls.
fn batches(transcript: &Transcript<'_>, first: MessageIndex) -> Vec<Option<MessageIndex>> {
    let mut partner = Vec::with_capacity(transcript.messages.len() - first.get());
    let (mut batch, mut is_answered) = (None, false);
    for (index, _) in transcript.enumerate_from(first) {
        if transcript.has_calls(index) {
            batch = batch.filter(|_| !is_answered).or(Some(index));
            is_answered = false;
            partner.push(None);
        } else if transcript.has_results(index) {
            is_answered = true;
            partner.push(batch);
        } else {
            // An unknown item may be anything, so it ends no batch.
            if transcript.item(index).is_none_or(|item| item.kind != ItemKind::Unknown) {
                (batch, is_answered) = (None, false);
            }
            partner.push(None);
        }
    }
    partner
}

/// Where the calls of each message from `first` on are answered: the next message, or the one after the
/// messages with calls that are answered together with it.
fn result_messages(transcript: &Transcript<'_>, first: MessageIndex, joint: Joint) -> Vec<Option<MessageIndex>> {
    let messages = transcript.messages.get(first.get()..).unwrap_or_default();
    let mut partner = vec![None; messages.len()];
    // The next message of a known role, and where the next calls of this run of the assistant are answered.
    let (mut known, mut together) = (None, None);
    for (at, message) in messages.iter().enumerate().rev() {
        let index = MessageIndex(first.0 + at as u32);
        let is_said = message.role == Role::Assistant && joint != Joint::Apart;
        partner[at] = together.filter(|_| is_said).unwrap_or(known);
        if message.role == Role::Unknown {
            // It may hold calls that are answered together with those before it.
            if joint != Joint::Apart && transcript.has_unknown_pair(index) {
                together = together.or(Some(known));
            }
            continue;
        }
        known = Some(index);
        // In this order, because the last condition reads blocks.
        let before = at.checked_sub(1).map(|before| messages[before].role);
        if is_said && matches!(before, Some(Role::Assistant | Role::Unknown)) && transcript.may_ask(index) {
            together = Some(partner[at]);
        } else if !is_said || !transcript.connects(index, joint) {
            together = None;
        }
    }
    partner
}

/// The message that each run of tool messages from `first` on answers.
fn answered_messages(transcript: &Transcript<'_>, first: MessageIndex) -> Vec<Option<MessageIndex>> {
    let mut partner: Vec<Option<MessageIndex>> = Vec::with_capacity(transcript.messages.len() - first.get());
    let is_known = |index: &MessageIndex| transcript.message(*index).role != Role::Unknown;
    let mut before = (0..first.0).rev().map(MessageIndex).find(is_known);
    let mut answered = None;
    for (index, message) in transcript.enumerate_from(first) {
        if message.role == Role::Tool {
            if before.is_some_and(|before| transcript.message(before).role != Role::Tool) {
                answered = before;
            }
            partner.push(answered);
        } else {
            partner.push(None);
        }
        if message.role != Role::Unknown {
            before = Some(index);
        }
    }
    partner
}

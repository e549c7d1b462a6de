//! The calls and results of the provider's own tools that are apart from each other.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use seamline_model::{BlockIndex, BlockKind, FactKind, MessageIndex, Role};

use crate::context::Context;

/// The calls and results of the provider's own tools that are apart from each other.
#[derive(Default)]
pub(super) struct ServerPairs<'c> {
    /// The calls without a result in their turn, in order.
    pub(super) open: Vec<OpenServerCall<'c>>,
    /// The results without a call before them in their turn, in order.
    pub(super) strays: Vec<Stray<'c>>,
}

/// A call without a result in its turn.
pub(super) struct OpenServerCall<'c> {
    /// The block of the call.
    pub(super) block: BlockIndex,
    /// Its id, which may be empty.
    pub(super) id: &'c str,
    /// The message after its turn; none if the turn may still continue.
    pub(super) turn_end: Option<MessageIndex>,
    /// Whether its result is in another turn.
    pub(super) has_stray: bool,
}

/// A result without a call before it in its turn.
pub(super) struct Stray<'c> {
    /// The block of the result.
    pub(super) block: BlockIndex,
    /// The id that it names, which may be empty.
    pub(super) id: &'c str,
    /// The open call that it answers.
    pub(super) call: Option<BlockIndex>,
}

impl<'c> ServerPairs<'c> {
    /// Finds them in all messages. A turn is a run of assistant messages, and of messages that hold only results: the
    /// provider may answer in its next message, after the client's calls are answered.
    pub(super) fn of(context: &Context<'c, '_>) -> Self {
        let mut pairs = Self::default();
        if !context.transcript.has.server_pairs {
            return pairs;
        }
        let count = context.transcript.messages.len();
        let mut start = 0;
        while start < count {
            let end = turn_end(context, start).max(start + 1);
            pairs.read_turn(context, start..end);
            start = end;
        }
        pairs.leave_unknown(context);
        pairs.join();
        pairs
    }

    fn read_turn(&mut self, context: &Context<'c, '_>, turn: Range<usize>) {
        let turn_end = Some(MessageIndex(turn.end as u32)).filter(|_| turn.end < context.transcript.messages.len());
        let mut calls: Vec<(OpenServerCall<'c>, bool)> = Vec::new();
        let mut known: HashMap<&str, Vec<usize>> = HashMap::new();
        for (block, content) in turn.flat_map(|index| context.transcript.blocks_of(MessageIndex(index as u32))) {
            match &content.kind {
                BlockKind::ServerCall(call) => {
                    let id = call.call.id.as_deref().unwrap_or("");
                    known.entry(id).or_default().push(calls.len());
                    calls.push((OpenServerCall { block, id, turn_end, has_stray: false }, false));
                }
                BlockKind::ServerResult(result) => {
                    let id = result.id.as_deref().unwrap_or("");
                    match known.get_mut(id) {
                        Some(open) => open.drain(..).for_each(|at| calls[at].1 = true),
                        None => self.strays.push(Stray { block, id, call: None }),
                    }
                }
                _ => {}
            }
        }
        self.open.extend(calls.into_iter().filter(|(_, is_answered)| !is_answered).map(|(call, _)| call));
    }

    /// Leaves out those whose other half may be a block of unknown kind.
    fn leave_unknown(&mut self, context: &Context<'c, '_>) {
        let facts = context.transcript.facts.iter().filter(|fact| fact.kind == FactKind::Unknown);
        let ids: HashSet<&str> = facts.map(|fact| &*fact.id).collect();
        self.open.retain(|call| !ids.contains(call.id));
        self.strays.retain(|stray| !ids.contains(stray.id));
    }

    /// Finds the open call of each stray result. Each of several results with one id answers another call.
    fn join(&mut self) {
        let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, call) in self.open.iter().enumerate().rev().filter(|(_, call)| !call.id.is_empty()) {
            open.entry(call.id).or_default().push(at);
        }
        for stray in &mut self.strays {
            let Some(at) = open.get_mut(stray.id).and_then(Vec::pop) else { continue };
            self.open[at].has_stray = true;
            stray.call = Some(self.open[at].block);
        }
    }
}

/// One past the last message of the turn at `start`.
fn turn_end(context: &Context<'_, '_>, start: usize) -> usize {
    let belongs = |index: &usize| {
        context.transcript.messages[*index].role == Role::Assistant
            || context.holds_only_results(MessageIndex(*index as u32))
    };
    (start..context.transcript.messages.len()).take_while(belongs).last().map_or(start, |last| last + 1)
}

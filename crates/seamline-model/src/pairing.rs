//! Pairs results with the calls that they answer.
//!
//! Pairing is by occurrence, not by id, because ids repeat in real conversations. One pass over the transcript, in
//! linear time, in five steps; each step claims only what the previous ones left:
//!
//! 1. in a cycle's own span (until the next assistant message) the k-th result with an
//!    id answers the k-th call with that id; a result that names its tool prefers the
//!    calls of that tool;
//! 2. a result elsewhere answers the only open call before it with its id (late); if
//!    there is none, the first call after it with its id and no other tool, if that
//!    stayed open (early);
//! 3. a result whose id is another form of the id of an open call answers it (`hist_tool_1`
//!    and `call_1`);
//! 4. in a span with exactly one open call, the first result whose id names no call of
//!    the cycle and whose tool does not contradict answers it (misaddressed), if the name
//!    of the tool or the position of the result proves it;
//! 5. the rest are orphans, duplicates and results that replace a synthetic one.
//!
//! Where ids are optional, a missing id does not contradict: results without one, and those whose id several calls or none have,
//! wait until the span ends. Then, in order, each answers the first open call of its tool; a result with an id that no call
//! has answers only calls without one.
//!
//! A block of unknown kind may be a call or a result. After step 1 and the late results of step 2 it answers the open
//! calls before it that have its id, and owns the results after it that have its id. Rules then find neither an
//! unanswered call nor an orphan.
//!
//! Where results may come anywhere after their call, a span lasts until the next calls, so that step 1 finds them, and
//! a further result answers the latest open call with its id; step 4 still looks no further than the next assistant
//! message.
//!
//! Each step looks back only as far as the result itself, so appending messages changes
//! an earlier pair only when one of them takes part in a pair itself.

mod behind;
mod by_tool;
mod early;
mod misaddressed;
mod queues;
mod renamed;
mod unknown;

use std::collections::{HashMap, VecDeque};

use self::by_tool::Waiting;
use self::queues::Queues;
use crate::{BlockIndex, BlockKind, Joint, MessageIndex, ResultBlock, Role, Scope, Tool, Transcript, WireId};

/// The relation between the calls and the results of a transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairing {
    /// The cycles, in order.
    pub cycles: Vec<Cycle>,
    /// Every call, in order.
    pub calls: Vec<PairedCall>,
    /// Every result, in order.
    pub results: Vec<ResultState>,
    /// The calls without a result that a block of unknown kind may answer, in order.
    pub unknown: Vec<BlockIndex>,
}

/// One message with calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cycle {
    /// The message that makes the calls.
    pub message: MessageIndex,
    /// The first of its calls in [`Pairing::calls`].
    pub first_call: u32,
    /// The index after its last call.
    pub end_call: u32,
}

impl Cycle {
    /// Its calls as a range of [`Pairing::calls`].
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first_call as usize..self.end_call as usize
    }
}

/// A call and the result that answers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairedCall {
    /// The block of the call.
    pub call: BlockIndex,
    /// The message that makes it.
    pub message: MessageIndex,
    /// The result that answers it.
    pub matched: Option<MatchedResult>,
}

/// A result that answers a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchedResult {
    /// The block of the result.
    pub result: BlockIndex,
    /// Whether it names another id than the call.
    pub misaddressed: bool,
    /// Whether its id, the name of its tool or its position proves that it answers the call.
    pub proven: bool,
}

/// A result and its fate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultState {
    /// The block of the result.
    pub result: BlockIndex,
    /// The fate of the result.
    pub fate: ResultFate,
}

/// The fate of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultFate {
    /// It answers this call.
    Answers(BlockIndex),
    /// Another result answers this call already.
    Duplicate(BlockIndex),
    /// It is synthetic, and the real result of this call exists.
    Superseded(BlockIndex),
    /// It answers no call.
    Orphan,
    /// Several open calls could own it, so none does.
    Ambiguous,
    /// A block of unknown kind before it has its id, and may be its call.
    Unknown,
}

impl Pairing {
    /// Pairs the calls and results of a transcript, looking as far as `scope` says.
    pub fn of(transcript: &Transcript<'_>, scope: Scope) -> Self {
        if !transcript.has.pairs {
            return Self::default();
        }
        let mut walk = Walk::new(transcript, scope, behind::Start::default());
        walk.run();
        walk.claim_unknown();
        if scope.early {
            walk.claim_early();
        }
        walk.claim_renamed();
        if scope.misaddressed {
            walk.claim_misaddressed();
        }
        walk.pairing
    }

    /// The state of the call in `block`.
    pub fn call(&self, block: BlockIndex) -> Option<&PairedCall> {
        let at = self.calls.binary_search_by_key(&block, |state| state.call).ok()?;
        self.calls.get(at)
    }

    /// Whether neither a result nor a block of unknown kind answers a call.
    pub fn is_unanswered(&self, state: &PairedCall) -> bool {
        state.matched.is_none() && !self.is_answered_by_unknown(state.call)
    }

    /// Whether only a block of unknown kind may answer the call in `block`.
    pub fn is_answered_by_unknown(&self, block: BlockIndex) -> bool {
        self.unknown.binary_search(&block).is_ok()
    }

    /// The state of the result in `block`.
    pub fn result(&self, block: BlockIndex) -> Option<&ResultState> {
        let at = self.results.binary_search_by_key(&block, |state| state.result).ok()?;
        self.results.get(at)
    }
}

/// Ids as they are compared: an empty id is a missing one, and those are equal.
type Key<'t> = Option<&'t WireId>;

fn key(id: Option<&WireId>) -> Key<'_> {
    id.filter(|id| !id.is_empty())
}

/// Cycles with more calls than this are looked up by a map instead of a scan.
const SCAN_MAX: usize = 8;

/// The id or the tool by which a result finds calls of closed spans.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Name<'t> {
    Id(Key<'t>),
    /// The tool, for results without an id.
    Tool(Tool),
}

/// The calls of one name in closed spans.
#[derive(Default)]
struct Known {
    /// The calls without a real result.
    open: VecDeque<u32>,
    /// The latest call.
    latest: Option<u32>,
}

/// The cycles whose span is running: several only when they are answered together.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Running {
    first: u32,
    last: u32,
}

struct Walk<'t, 'a> {
    transcript: &'t Transcript<'a>,
    scope: Scope,
    /// Where the walk starts, and whether it needed facts from before that.
    start: behind::Start,
    pairing: Pairing,
    /// The span that is still running.
    current: Option<Running>,
    /// The span of the last calls, while nothing separates them from further ones.
    connected: Option<Running>,
    /// Whether the assistant said something else after the span began.
    interrupted: bool,
    /// Whether a message other than a result came since the calls of the span.
    said: bool,
    /// The running span's calls by id and tool.
    queues: Queues<'t>,
    /// Ids of closed spans. Filled only once a result is not answered in its own span, which never happens in an intact
    /// conversation.
    known: HashMap<Name<'t>, Known>,
    /// How many cycles `known` covers.
    known_cycles: usize,
    /// For each result, the span that contains it, and whether only results are between it and the calls.
    span_of: Vec<Option<(Running, bool)>>,
    /// Results whose id no earlier call has, as places in the list of results.
    early: Vec<u32>,
    /// Results of the running span that are paired once it ends.
    waiting: Vec<(u32, Waiting)>,
    /// Results without an id that no call without an id claimed, likewise.
    nameless: Vec<u32>,
    /// The span that was last searched for its only open call, and the outcome.
    counted: (Option<Running>, Option<usize>),
}

impl<'t, 'a> Walk<'t, 'a> {
    fn new(transcript: &'t Transcript<'a>, scope: Scope, start: behind::Start) -> Self {
        let room = start.room(transcript);
        Self {
            transcript,
            scope,
            start,
            pairing: Pairing {
                calls: Vec::with_capacity(room),
                results: Vec::with_capacity(room),
                ..Pairing::default()
            },
            current: None,
            connected: None,
            interrupted: false,
            said: false,
            queues: Queues::default(),
            known: HashMap::new(),
            known_cycles: 0,
            span_of: Vec::with_capacity(room),
            early: Vec::new(),
            waiting: Vec::new(),
            nameless: Vec::new(),
            counted: (None, None),
        }
    }

    fn run(&mut self) {
        for (index, message) in self.transcript.enumerate_from(self.start.message) {
            let before = self.connected;
            if message.role == Role::Assistant && !self.is_unknown_call(index) {
                self.interrupted = true;
                if !self.scope.lasting {
                    self.claim_waiting();
                    self.current = None;
                }
            }
            let first = self.pairing.calls.len() as u32;
            let seen = self.pairing.results.len();
            for (block, content) in self.transcript.blocks_of(index) {
                match &content.kind {
                    BlockKind::Call(_) => {
                        self.pairing.calls.push(PairedCall { call: block, message: index, matched: None });
                    }
                    BlockKind::Result(result) => {
                        self.open_span(index, first, before);
                        self.see_result(block, result);
                    }
                    // Media beside a result travel with it.
                    BlockKind::Media if self.pairing.results.len() > seen => {}
                    _ => self.said |= message.role != Role::Assistant,
                }
            }
            self.open_span(index, first, before);
            if self.pairing.calls.len() as u32 > first {
                self.connected = self.current;
            } else if self.scope.lasting || !self.transcript.connects(index, self.scope.joint) {
                self.connected = None;
            }
        }
        self.claim_waiting();
    }

    /// Whether a message may make calls of an unknown kind, which are answered together with those before it.
    fn is_unknown_call(&self, index: MessageIndex) -> bool {
        self.scope.joint != Joint::Apart && !self.scope.lasting && self.transcript.has_unknown_pair(index)
    }

    /// Starts or widens a span with the calls of a message seen so far.
    fn open_span(&mut self, message: MessageIndex, first_call: u32, before: Option<Running>) {
        let end_call = self.pairing.calls.len() as u32;
        if first_call == end_call {
            return;
        }
        let running = self.current.and_then(|span| self.pairing.cycles.get_mut(span.last as usize));
        match running.filter(|cycle| cycle.message == message) {
            Some(cycle) if cycle.end_call == end_call => {}
            Some(cycle) => cycle.end_call = end_call,
            None => {
                self.claim_waiting();
                self.interrupted = false;
                self.said = false;
                let last = self.pairing.cycles.len() as u32;
                let is_joint =
                    self.scope.joint != Joint::Apart && self.transcript.message(message).role == Role::Assistant;
                let joined = before.filter(|_| is_joint);
                self.current = Some(Running { first: joined.map_or(last, |span| span.first), last });
                self.pairing.cycles.push(Cycle { message, first_call, end_call });
                if joined.is_none() {
                    self.queues.clear();
                }
            }
        }
    }

    fn see_result(&mut self, block: BlockIndex, result: &'t ResultBlock) {
        let key = key(result.id.as_ref());
        let position = self.pairing.results.len() as u32;
        self.span_of.push(self.current.filter(|_| !self.interrupted).map(|span| (span, !self.said)));
        self.pairing.results.push(ResultState { result: block, fate: ResultFate::Orphan });
        if let Some(why) = self.waits(key, block) {
            self.waiting.push((position, why));
            return;
        }
        let fate = match self.claim_in_span(key, block) {
            Some(fate) => fate,
            None => self.claim_late(key, block, position),
        };
        self.pairing.results[position as usize].fate = fate;
        self.wait_if_unknown(block, position);
    }

    /// The calls of a span.
    fn calls_of(&self, span: Running) -> std::ops::Range<usize> {
        let cycles = &self.pairing.cycles;
        cycles[span.first as usize].range().start..cycles[span.last as usize].range().end
    }

    /// Step 1. `None` when the running span has no call with this id.
    fn claim_in_span(&mut self, key: Key<'t>, block: BlockIndex) -> Option<ResultFate> {
        let range = self.calls_of(self.current?);
        let tool = self.transcript.result(block).and_then(|result| result.tool);
        let index = if range.len() > SCAN_MAX {
            self.next_in_queue(key, tool, range)?
        } else {
            let same = || range.clone().filter(|&index| self.call_key(index) == key);
            let open = || same().filter(|&index| self.pairing.calls[index].matched.is_none());
            let last = same().next_back()?;
            let of_tool = tool.and_then(|_| open().find(|&index| self.call_tool(index) == tool));
            of_tool.or_else(|| open().next()).unwrap_or(last)
        };
        let repeats = self.pairing.calls[index].matched.is_some();
        if repeats && self.scope.lasting && self.is_open_before(key) {
            return None;
        }
        Some(self.answer_again(index, block))
    }

    /// Whether a call with this id is open in a span that has closed.
    fn is_open_before(&mut self, key: Key<'t>) -> bool {
        self.start.look_back();
        self.learn_closed_spans();
        key.is_some() && self.known.get(&Name::Id(key)).is_some_and(|known| !known.open.is_empty())
    }

    /// The next call with this id in a large cycle, or the last one when all are answered.
    fn next_in_queue(&mut self, key: Key<'t>, tool: Option<Tool>, range: std::ops::Range<usize>) -> Option<usize> {
        let mut queues = std::mem::take(&mut self.queues);
        queues.fill(range, |index| (self.call_key(index), self.call_tool(index)));
        let next = queues.next(key, tool, |index| self.pairing.calls[index].matched.is_some());
        self.queues = queues;
        next
    }

    /// Step 2, looking back. A result without an id is identified only by its place.
    fn claim_late(&mut self, key: Key<'t>, block: BlockIndex, position: u32) -> ResultFate {
        self.start.look_back();
        if key.is_none() {
            self.nameless.push(position);
            return ResultFate::Orphan;
        }
        self.learn_closed_spans();
        let name = self.late_name(key, block);
        let mut known = self.known.remove(&name).unwrap_or_default();
        if self.scope.by_tool {
            known.forget_answered(|index| self.is_open(index));
        }
        let fate = match (known.open.back().copied(), known.latest) {
            (Some(index), _) if self.scope.lasting || self.scope.late && known.open.len() == 1 => {
                known.open.pop_back();
                self.answer_again(index as usize, block)
            }
            (None, Some(index)) => self.answer_again(index as usize, block),
            (None, None) => {
                self.early.push(position);
                ResultFate::Orphan
            }
            (Some(_), _) if !self.scope.late => ResultFate::Orphan,
            // A guess could be wrong.
            (Some(_), _) => ResultFate::Ambiguous,
        };
        self.known.insert(name, known);
        fate
    }

    /// Brings [`Walk::known`] up to the cycle whose span is running.
    fn learn_closed_spans(&mut self) {
        let closed = self.current.map_or(self.pairing.cycles.len(), |span| span.first as usize);
        for at in self.known_cycles..closed {
            for index in self.pairing.cycles[at].range() {
                let open = self.is_open(index);
                let tool = self.call_tool(index).filter(|_| self.scope.by_tool).map(Name::Tool);
                for name in [Name::Id(self.call_key(index))].into_iter().chain(tool) {
                    let known = self.known.entry(name).or_default();
                    known.latest = Some(index as u32);
                    if open {
                        known.open.push_back(index as u32);
                    }
                }
            }
        }
        self.known_cycles = closed;
    }

    fn answer(&mut self, index: usize, result: BlockIndex) -> ResultFate {
        let state = &mut self.pairing.calls[index];
        state.matched = Some(MatchedResult { result, misaddressed: false, proven: true });
        ResultFate::Answers(state.call)
    }

    /// Answers an open call. A further result replaces a synthetic one; otherwise it is a duplicate.
    fn answer_again(&mut self, index: usize, block: BlockIndex) -> ResultFate {
        let state = self.pairing.calls[index];
        let Some(matched) = state.matched else {
            return self.answer(index, block);
        };
        if !self.is_made_up(matched.result) || self.is_made_up(block) {
            return ResultFate::Duplicate(state.call);
        }
        if let Ok(at) = self.pairing.results.binary_search_by_key(&matched.result, |known| known.result) {
            self.pairing.results[at].fate = ResultFate::Superseded(state.call);
        }
        self.answer(index, block)
    }

    /// Whether a call has no real result yet.
    fn is_open(&self, index: usize) -> bool {
        let call = &self.pairing.calls[index];
        call.matched.map_or_else(|| self.pairing.is_unanswered(call), |matched| self.is_made_up(matched.result))
    }

    fn is_made_up(&self, block: BlockIndex) -> bool {
        self.transcript.is_made_up(block)
    }

    fn call_key(&self, index: usize) -> Key<'t> {
        key(self.transcript.call(self.pairing.calls[index].call).and_then(|call| call.id.as_ref()))
    }

    fn call_tool(&self, index: usize) -> Option<Tool> {
        self.transcript.call(self.pairing.calls[index].call).and_then(|call| call.tool)
    }

    fn result_key(&self, position: usize) -> Key<'t> {
        key(self.transcript.result(self.pairing.results[position].result).and_then(|result| result.id.as_ref()))
    }
}

#[cfg(test)]
#[path = "pairing_tests.rs"]
mod tests;

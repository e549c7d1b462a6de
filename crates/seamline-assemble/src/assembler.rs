//! Assembles a message from the events of a stream.

use std::collections::BTreeMap;

use seamline_model::{
    Addition, Assembled, AssembledBlock, AssembledCall, Content, Ending, Event, LocatedFlaw, Piece, Stop, StreamFlaw,
    Text, Unreadable,
};

use crate::arguments::{ArgSource, is_plain_object};
use crate::block::Block;
use crate::catalogue::FlawKind;
use crate::duplicates;
use crate::ending::{Left, Signs};
use crate::members::Members;

/// The limits of an assembled message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssemblyLimits {
    /// The highest number of bytes of text and JSON.
    pub message_bytes_max: usize,
    /// The highest number of blocks.
    pub blocks_max: usize,
    /// The highest number of recorded flaws.
    pub flaws_max: usize,
}

impl Default for AssemblyLimits {
    fn default() -> Self {
        Self { message_bytes_max: 256 * 1024 * 1024, blocks_max: 100_000, flaws_max: 100 }
    }
}

/// Assembles a message from the events of a stream.
#[derive(Debug)]
pub struct Assembler {
    source: ArgSource,
    limits: AssemblyLimits,
    blocks: BTreeMap<u32, Block>,
    members: Members,
    usage: Members,
    signs: Signs,
    word: String,
    /// The frame that gave the stop reason.
    stop_frame: Option<u64>,
    failure: Option<String>,
    flaws: Vec<LocatedFlaw>,
    /// The present frame, counted from one.
    frame: Option<u64>,
    bytes: usize,
    /// The number of events so far, and that number at the last unreadable event.
    events: u64,
    last_gap: u64,
    /// The number of events at the last unreadable event after the stop reason.
    late_gap: u64,
    /// Whether an addition named a block that does not exist.
    has_stray: bool,
    /// Whether the message reached its limit, so that nothing more is kept.
    is_full: bool,
    /// Whether the stream became unreadable after the end of the message.
    is_broken: bool,
    /// The call that began last or last received input.
    latest_call: Option<u32>,
}

impl Assembler {
    /// An assembler for a new message.
    pub fn new(source: ArgSource, limits: AssemblyLimits) -> Self {
        Self {
            source,
            limits,
            blocks: BTreeMap::new(),
            members: Members::default(),
            usage: Members::default(),
            signs: Signs::default(),
            word: String::new(),
            stop_frame: None,
            failure: None,
            flaws: Vec::new(),
            frame: None,
            bytes: 0,
            events: 0,
            last_gap: 0,
            late_gap: 0,
            has_stray: false,
            is_full: false,
            is_broken: false,
            latest_call: None,
        }
    }

    /// Begins the next frame: later events belong to it.
    pub fn handle_frame(&mut self) {
        self.frame = Some(self.frame.map_or(1, |frame| frame + 1));
    }

    /// Handles the next event of the stream.
    pub fn handle_event(&mut self, event: &Event<'_>) {
        let bytes = kept_bytes(event);
        if !self.may_keep(event, bytes) {
            return;
        }
        self.bytes += bytes;
        self.events += 1;
        match *event {
            Event::Member { name, json } => self.members.set(name, json),
            Event::Usage { name, json } => self.note_usage(name, json),
            Event::Begin { place, piece, base } => self.begin(place, piece, base),
            Event::Add { place, addition } => self.add(place, addition),
            Event::End { place } => match self.blocks.get_mut(&place) {
                Some(block) => block.close(self.last_gap),
                None => self.flaw(StreamFlaw::Unreadable(Unreadable::Stray)),
            },
            Event::Again => self.begin_again(),
            Event::Stop { stop, word } => {
                if self.signs.record_stop(stop) {
                    word.clone_into(&mut self.word);
                    self.stop_frame = self.frame;
                }
            }
            Event::Failed { said } => self.fail(said),
            Event::Done => self.signs.done = true,
            Event::Unreadable { what } => self.skip_unreadable(what),
        }
    }

    /// Records that the caller aborted the request.
    pub fn handle_abort(&mut self) {
        self.signs.left.get_or_insert(Left::Aborted);
    }

    /// Records that the stream stalled.
    pub fn handle_stall(&mut self) {
        self.signs.left.get_or_insert(Left::Stalled);
    }

    /// Records that the stream could not be read further, and why. A message that was already complete stays complete,
    /// with a flaw.
    pub fn handle_failure(&mut self, text: &str) {
        if !self.signs.done {
            self.fail(text);
        } else if !std::mem::replace(&mut self.is_broken, true) {
            self.flaw(StreamFlaw::Unreadable(Unreadable::NotJson));
        }
    }

    /// Records that the last frame is incomplete. That only decides the ending, unless the message had already ended.
    pub fn handle_cut(&mut self) {
        if self.signs.done {
            self.handle_failure("the last frame was cut");
        }
    }

    /// Whether the message reached its limit, so that nothing more is kept.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// The message, after the end of the stream.
    pub fn finish(mut self) -> Assembled {
        if self.signs.stop == Some(Stop::Other) {
            self.frame = self.stop_frame;
            self.flaw(StreamFlaw::UnknownStop);
        }
        // Flaws found from here on belong to no single frame.
        self.frame = None;
        self.signs.ends_in_call = self.blocks.values().next_back().is_some_and(|block| block.piece == Piece::Call);
        let ending = self.signs.ending();
        let last = self.blocks.keys().next_back().copied();
        let calls = || self.blocks.values().filter(|block| block.piece == Piece::Call);
        let last_begun = calls().map(|call| call.begun).max().unwrap_or_default();
        // Input without a call may be the input of a call that has none.
        self.has_stray |= calls().any(|call| call.is_nameless() && call.arguments.has_arrived());
        self.has_stray |= ending == Ending::Complete && has_misrouted_input(&calls().collect::<Vec<_>>(), self.source);
        let (mut blocks, mut nameless) = (Vec::with_capacity(self.blocks.len()), Vec::new());
        for (place, block) in std::mem::take(&mut self.blocks) {
            let may_run = match ending {
                Ending::Complete => true,
                // The limit cut the last call; earlier calls may have been streamed at the same time.
                Ending::CutCall => {
                    let is_last = Some(place) == last || Some(place) == self.latest_call;
                    !is_last && block.is_finished(last_begun, self.source)
                }
                _ => false,
            };
            let is_left_out = ending != Ending::Complete && block.needs_signature && block.signature.is_none();
            if is_left_out {
                self.flaw(StreamFlaw::Unsigned { place });
            }
            let list = if block.is_nameless() { &mut nameless } else { &mut blocks };
            let assembled = self.assemble(place, block, may_run);
            list.push(AssembledBlock { left_out: is_left_out, ..assembled });
        }
        for place in duplicates::resolve(&mut blocks) {
            self.flaw(StreamFlaw::Repeated { place });
        }
        Assembled {
            ending,
            stop: self.signs.stop.map(|stop: Stop| (stop, self.word)),
            blocks,
            nameless,
            members: self.members.into_list(),
            usage: self.usage.into_list(),
            failure: self.failure,
            flaws: self.flaws,
        }
    }

    /// Counts the bytes that an event would add; `bytes` are those that are not deltas. If the limit is exceeded, the
    /// message fails and later events are ignored.
    fn may_keep(&mut self, event: &Event<'_>, bytes: usize) -> bool {
        let growth = match event {
            Event::Add { place, addition } => self.blocks.get(place).map_or(0, |block| block.growth(addition)),
            _ => 0,
        };
        let is_new = matches!(event, Event::Begin { place, .. } if !self.blocks.contains_key(place));
        let too_many = is_new && self.blocks.len() >= self.limits.blocks_max;
        let is_over = self.is_full || too_many || self.bytes + bytes + growth > self.limits.message_bytes_max;
        if is_over && !self.is_full {
            self.is_full = true;
            self.flaws.push(LocatedFlaw { flaw: StreamFlaw::TooLong, frame: self.frame });
            self.signs.failed = true;
        }
        !is_over
    }

    fn fail(&mut self, text: &str) {
        self.signs.failed = true;
        self.failure.get_or_insert_with(|| text.to_owned());
    }

    fn flaw(&mut self, flaw: StreamFlaw) {
        if self.flaws.len() >= self.limits.flaws_max {
            // A more severe flaw replaces a less severe one.
            let severity = FlawKind::of(&flaw).severity;
            let is_lesser = |noted: &LocatedFlaw| FlawKind::of(&noted.flaw).severity < severity;
            let Some(lesser) = self.flaws.iter().rposition(is_lesser) else { return };
            self.flaws.remove(lesser);
        }
        self.flaws.push(LocatedFlaw { flaw, frame: self.frame });
    }

    /// Replaces a usage value by a later one.
    fn note_usage(&mut self, name: &str, json: &str) {
        // `null` does not replace a known value.
        if json != "null" || !self.usage.has(name) {
            self.usage.set(name, json);
        }
    }

    /// Records an unreadable event. It may have been part of any open block, and a call may look complete without it.
    /// After the stop reason nothing more should arrive, unless the stream continues anyway.
    fn skip_unreadable(&mut self, what: Unreadable) {
        if matches!(what, Unreadable::NotJson | Unreadable::Shape | Unreadable::Stray) && !self.signs.done {
            let gap = if self.signs.stop.is_none() { &mut self.last_gap } else { &mut self.late_gap };
            *gap = self.events;
            self.has_stray |= what == Unreadable::Stray;
        }
        self.flaw(StreamFlaw::Unreadable(what));
    }

    /// Discards the blocks so far, because the message is sent again.
    fn begin_again(&mut self) {
        self.flaw(StreamFlaw::BegunAgain);
        self.blocks.clear();
        self.signs.stop = None;
        self.word.clear();
        self.latest_call = None;
        self.has_stray = false;
    }

    fn begin(&mut self, place: u32, piece: Piece, base: &str) {
        if self.blocks.contains_key(&place) {
            self.flaw(StreamFlaw::Repeated { place });
            return;
        }
        let block = Block::new(piece, base, self.events);
        if piece == Piece::Call {
            self.latest_call = Some(place);
        }
        self.blocks.insert(place, block);
    }

    fn add(&mut self, place: u32, addition: Addition<'_>) {
        let Some(block) = self.blocks.get_mut(&place) else {
            self.has_stray |= !self.signs.done;
            self.flaw(StreamFlaw::Unreadable(Unreadable::Stray));
            return;
        };
        if block.piece == Piece::Call && matches!(addition, Addition::Arguments(_)) {
            self.latest_call = Some(place);
            block.gap |= !block.closed && self.late_gap > block.begun;
        }
        let size = block.size();
        let (mut is_repeated, mut is_alone, mut is_unbegun) = (false, false, false);
        match addition {
            Addition::Text(text) => {
                is_alone = !text.is_empty() && block.flush_half();
                block.text.push(text);
            }
            Addition::Arguments(piece) => {
                is_alone = !piece.is_empty() && block.flush_half();
                block.arguments.push(piece);
            }
            Addition::Half(unit) => is_alone = block.take_half(unit),
            Addition::WholeText(text) => block.repeat(text),
            Addition::Id(id) => is_repeated = set_once(&mut block.id, id, block.whole.is_some()),
            Addition::Name(name) => is_repeated = set_once(&mut block.name, name, block.whole.is_some()),
            Addition::StartInput(json) => block.arguments.start(json),
            Addition::WholeArguments(text) => block.arguments.set_whole(text),
            Addition::FreeInput => {
                block.free = true;
                block.arguments.disable_snapshots();
            }
            Addition::WithoutId => block.needs_id = false,
            Addition::Unfinished => block.unfinished = true,
            Addition::AnsweredByServer => block.piece = Piece::ServerCall,
            Addition::Unbegun => is_unbegun = true,
            Addition::NeedsSignature => block.needs_signature = true,
            Addition::Signature(signature) => block.sign(signature),
            Addition::Member(name, json) => block.members.set(name, json),
            Addition::Element(name, json) => block.members.append(name, json),
            Addition::Whole(json) => block.whole = Some(json.to_owned()),
            Addition::Recalled(what, said) => is_repeated = block.recall(what, said),
        }
        self.bytes = self.bytes + block.size() - size;
        if is_repeated {
            self.flaw(StreamFlaw::Repeated { place });
        }
        if is_alone {
            self.flaw(StreamFlaw::Half { place });
        }
        if is_unbegun {
            self.flaw(StreamFlaw::Unbegun { place });
        }
    }

    fn assemble(&mut self, place: u32, mut block: Block, may_run: bool) -> AssembledBlock {
        if block.flush_half() {
            self.flaw(StreamFlaw::Half { place });
        }
        let content = match block.piece {
            Piece::Text | Piece::Refusal | Piece::Reasoning => {
                Content::Text(Text { text: self.text(place, &block), signature: block.signature.clone() })
            }
            Piece::Call | Piece::ServerCall => Content::Call(self.call(place, &block, may_run)),
            Piece::Opaque => Content::Opaque,
        };
        let Block { piece, base, whole, members, closed, .. } = block;
        AssembledBlock { place, piece, base, whole, content, members: members.into_list(), closed, left_out: false }
    }

    fn text(&mut self, place: u32, block: &Block) -> String {
        // Signed text is kept byte for byte, so snapshots are not detected in it.
        let pieces = block.text.text();
        if let Some(whole) = &block.whole_text {
            if block.has_two_texts || !block.text.is_empty() && *whole != pieces {
                self.flaw(StreamFlaw::TwoTexts { place });
            }
            return whole.clone();
        }
        if block.text.is_repeated() {
            self.flaw(StreamFlaw::Snapshots { place });
        }
        pieces.into_owned()
    }

    fn call(&mut self, place: u32, block: &Block, may_run: bool) -> AssembledCall {
        let arguments = if block.free { block.arguments.free_text() } else { block.arguments.text(self.source) };
        let executable = if block.is_nameless() {
            self.flaw(StreamFlaw::Nameless { place, arguments: arguments.clone() });
            false
        } else {
            self.is_executable(place, block, &arguments, may_run)
        };
        AssembledCall {
            id: block.id.clone(),
            needs_id: block.needs_id,
            name: block.name.clone(),
            arguments,
            free: block.free,
            signature: block.signature.clone(),
            executable,
        }
    }

    /// Whether a call may run. Records what is wrong with it.
    fn is_executable(&mut self, place: u32, block: &Block, arguments: &str, may_run: bool) -> bool {
        if !block.free && block.arguments.differs() {
            self.flaw(StreamFlaw::TwoInputs { place });
        }
        if !block.free && block.arguments.is_snapshot() {
            self.flaw(StreamFlaw::Snapshots { place });
        }
        if block.id.trim().is_empty() && block.needs_id && block.piece == Piece::Call {
            self.flaw(StreamFlaw::NoId { place });
        }
        let is_readable = block.free || is_plain_object(arguments);
        if !is_readable {
            self.flaw(StreamFlaw::BrokenInput { place });
        }
        // A call without input is uncertain if input went astray, or if nothing closed the call or the message.
        let is_certain = !self.has_stray && (block.closed || block.whole.is_some() || self.signs.stop.is_some());
        let is_whole = block.is_whole(self.last_gap) && (is_certain || block.arguments.has_arrived());
        if may_run && is_readable && !is_whole && block.piece == Piece::Call {
            self.flaw(StreamFlaw::Unfinished { place });
        }
        may_run && is_readable && is_whole && block.piece == Piece::Call
    }
}

/// Whether one call may have received the input of another.
fn has_misrouted_input(calls: &[&Block], source: ArgSource) -> bool {
    let is_broken =
        |call: &&Block| !call.free && call.arguments.has_arrived() && !is_plain_object(&call.arguments.text(source));
    calls.iter().any(|call| !call.arguments.has_arrived()) && calls.iter().any(is_broken)
}

/// Sets a value that is set once; only the provider's own complete block may replace it. Returns whether a different
/// value was already set.
fn set_once(slot: &mut String, value: &str, is_whole: bool) -> bool {
    let is_repeated = !slot.is_empty() && !value.is_empty() && slot != value;
    if slot.is_empty() || (is_repeated && is_whole) {
        value.clone_into(slot);
    }
    is_repeated
}

/// The number of bytes that an event adds, not counting deltas.
fn kept_bytes(event: &Event<'_>) -> usize {
    match event {
        Event::Member { name, json } | Event::Usage { name, json } => name.len() + json.len(),
        Event::Begin { base: json, .. } => json.len(),
        Event::Add { addition, .. } => match addition {
            Addition::WholeText(text)
            | Addition::Id(text)
            | Addition::Name(text)
            | Addition::StartInput(text)
            | Addition::WholeArguments(text)
            | Addition::Signature(text)
            | Addition::Whole(text) => text.len(),
            Addition::Member(name, json) | Addition::Element(name, json) => name.len() + json.len(),
            // Deltas are counted when they are kept.
            Addition::Text(_)
            | Addition::Arguments(_)
            | Addition::Half(_)
            | Addition::FreeInput
            | Addition::WithoutId
            | Addition::Unfinished
            | Addition::AnsweredByServer
            | Addition::Unbegun
            | Addition::NeedsSignature
            | Addition::Recalled(..) => 0,
        },
        Event::Failed { said } => said.len(),
        Event::Again | Event::Stop { .. } | Event::End { .. } | Event::Done | Event::Unreadable { .. } => 0,
    }
}

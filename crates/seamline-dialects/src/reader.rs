//! Reads a whole body, message by message, for every dialect.

mod extend;

pub use extend::{Earlier, Extended};
pub(crate) use extend::{decode_on, read_on};

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

use seamline_model::{
    Block, BlockIndex, BlockKind, ContentForm, Emptiness, Encoded, Entries, Envelope, Fact, FactKind, Irregularity,
    IrregularityKind, Message, MessageIndex, RequestFacts, Role, Slot, Span, Synthetic, Transcript, UnreadableEntry,
};

use crate::density::{Density, entries_exceeding};
use crate::ids::CONTENT_KEYS;
use crate::json::{BYTES_MAX, Document, Kind, ListVisitor, Syntax, SyntaxKind, Value, grow};
use crate::{Error, Position};

/// The envelope of a dialect, and its reader of one message.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    /// The dialect's name.
    pub(crate) dialect: &'static str,
    /// The member of the body that is the list of messages.
    pub(crate) list: &'static str,
    /// The member of a message that is its list of blocks.
    pub(crate) content: &'static str,
    /// The member of a message that is its list of calls, in dialects that have one.
    pub(crate) calls: &'static str,
    /// The member of the body that names the model.
    pub(crate) model: &'static str,
    /// The hint for a body without such a list.
    pub(crate) hint: &'static str,
    /// Reads the settings beside the messages that rules look at.
    pub(crate) request: fn(Value<'_, '_>) -> RequestFacts,
    /// Reads whether the provider keeps messages before these.
    pub(crate) envelope: fn(Value<'_, '_>) -> Envelope,
    /// Reads one message.
    pub(crate) message: for<'d, 'a> fn(&mut Reader<'a>, Value<'d, 'a>),
}

/// The hint for a body without a list, for dialects that call it `messages`.
pub(crate) const MESSAGES_HINT: &str = "give an object with a list of messages (`messages`, `input` or `contents`), or that list itself; if \
     another object contains it, take it out, as with `jq .request FILE`";

/// Turns a syntax error into the error of reading a body.
pub(crate) fn unreadable(body: &[u8], syntax: Syntax) -> Error {
    let Syntax { offset, kind } = syntax;
    let position = Position::of(body, offset);
    match kind {
        SyntaxKind::NotUtf8 => Error::NotUtf8 { offset, position },
        _ => Error::NotJson { syntax, position },
    }
}

/// The envelope of a body whose messages are all that the provider knows.
pub(crate) fn no_envelope(_: Value<'_, '_>) -> Envelope {
    Envelope::default()
}

/// Reads a body and the settings around its messages.
pub(crate) fn decode(body: &[u8], form: Form) -> Result<Transcript<'_>, Error> {
    let mut reader = Reader::new(Transcript::new(body));
    let read = Document::read_list(body, Messages { reader: &mut reader, form });
    finish(reader, read, form)
}

/// Ends the reading of a body whose messages were read, with the values around them.
fn finish<'a>(mut reader: Reader<'a>, read: Result<Document<'a>, Syntax>, form: Form) -> Result<Transcript<'a>, Error> {
    let body = reader.transcript.source.body;
    let read = read.map_err(|syntax| unreadable(body, syntax));
    if reader.density.is_exceeded() {
        let parts = reader.transcript.blocks.len().max(reader.transcript.messages.len());
        return Err(Error::TooManyParts { parts, bytes: body.len() });
    }
    let document = read?;
    if let Some(parts) = entries_exceeding(document.root(), form.list, body.len()) {
        return Err(Error::TooManyParts { parts, bytes: body.len() });
    }
    reader.transcript.list = list_of(&document, form)?;
    reader.note_other_lists(&document, form);
    let model = document.root().object().and_then(|body| body.get(form.model)).and_then(Value::str);
    reader.transcript.model = model;
    reader.transcript.request = (form.request)(document.root());
    reader.transcript.envelope = (form.envelope)(document.root());
    Ok(reader.finish(&document.lone_surrogates, document.byte_order_mark))
}

struct Messages<'r, 'a> {
    reader: &'r mut Reader<'a>,
    form: Form,
}

impl<'a> ListVisitor<'a> for Messages<'_, 'a> {
    fn enter(&mut self, key: Option<&str>) -> bool {
        let found = key.is_none_or(|key| key == self.form.list);
        if found {
            self.reader.forget();
        }
        found
    }

    fn element(&mut self, value: Value<'_, 'a>) -> ControlFlow<()> {
        (self.form.message)(self.reader, value);
        if self.reader.density.is_exceeded() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Finds the list of messages: a member of the body, or the body itself.
fn list_of(document: &Document<'_>, form: Form) -> Result<Span, Error> {
    let root = document.root();
    let Form { dialect, list: key, .. } = form;
    let wrong = |found: String| Err(Error::Envelope { dialect, found });
    match root.kind() {
        Kind::Array => Ok(root.span()),
        Kind::Object => match root.object().and_then(|body| body.get(key)) {
            Some(list) if list.is(Kind::Array) => Ok(list.span()),
            Some(other) => wrong(format!("`{key}` is {}, not a list", other.kind().as_str())),
            None => wrong(format!("there is no `{key}`")),
        },
        other => wrong(format!("the body is {}, not an object", other.as_str())),
    }
}

/// The number of bytes that repairs may always write, however small the body is.
const WRITTEN_BYTES: usize = 1024 * 1024;

/// Reads the text that edits produced. Copied messages keep what was read of them; only rewritten messages are read.
/// Returns nothing when the whole body must be read again.
pub(crate) fn follow<'n>(before: &Transcript<'n>, encoded: &'n Encoded, form: Form) -> Option<Transcript<'n>> {
    let source = encoded.source(before.source.body);
    // A dialect that rewrites everything in every pass would otherwise grow its text without bound.
    let written_max = (source.body.len() / 2).max(WRITTEN_BYTES);
    let fits = encoded.spans.len() == encoded.origins.len()
        && encoded.written.len() <= written_max
        && source.len() <= BYTES_MAX;
    if !fits || !before.irregularities.is_empty() {
        return None;
    }
    let added = encoded.spans.len().saturating_sub(before.messages.len());
    let transcript = Transcript::with_room(source, encoded.spans.len(), before.blocks.len() + added);
    let mut reader = Reader::new(transcript);
    if !before.items.is_empty() {
        reader.transcript.items.reserve_exact(encoded.spans.len());
    }
    reader.transcript.tools = before.tools.clone();
    reader.transcript.marked.clone_from(&before.marked);
    let mut at = 0;
    while let Some(&span) = encoded.spans.get(at) {
        if let Some(run) = encoded.copied_run(at) {
            at += run.len();
            reader.copy(before, run);
        } else {
            at += 1;
            let part = Document::part(source, span);
            if !part.lone_surrogates.is_empty() {
                return None;
            }
            (form.message)(&mut reader, part.root());
        }
    }
    if reader.density.is_exceeded() {
        return None;
    }
    // Only the list of messages changed.
    let mut transcript = reader.transcript;
    transcript.list = before.list;
    transcript.layout = Some(encoded.layout.clone());
    transcript.model.clone_from(&before.model);
    transcript.request = before.request.clone();
    transcript.envelope = before.envelope;
    transcript.irregularities = reader.found;
    transcript.irregularities.sort_by_key(|irregularity| irregularity.span);
    Some(transcript)
}

/// A transcript while it is read.
pub(crate) struct Reader<'a> {
    pub(crate) transcript: Transcript<'a>,
    found: Vec<Irregularity>,
    /// The limits on parts and irregularities.
    pub(crate) density: Density,
    /// The message and block being read.
    message: Option<MessageIndex>,
    block: Option<BlockIndex>,
    /// Whether the message being read is of an unknown kind.
    is_unknown: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(transcript: Transcript<'a>) -> Self {
        let density = Density::of(transcript.source.len());
        Self { transcript, found: Vec::new(), density, message: None, block: None, is_unknown: false }
    }

    /// Starts over, because the body has a second list of messages. The last one counts.
    fn forget(&mut self) {
        self.transcript.messages.clear();
        self.transcript.blocks.clear();
        self.transcript.members.clear();
        self.transcript.facts.clear();
        self.transcript.items.clear();
        self.transcript.has = seamline_model::Kinds::default();
        self.found.clear();
        self.density = Density::of(self.transcript.source.len());
    }

    /// Notes the lists of messages that readers ignore because another one follows.
    fn note_other_lists(&mut self, document: &Document<'_>, form: Form) {
        self.message = None;
        self.block = None;
        let mut last = None;
        for (key, value) in document.root().members() {
            if key.says(form.list)
                && let Some(earlier) = last.replace(value)
            {
                self.note_duplicate(earlier);
            }
        }
    }

    /// Begins a message. Blocks and notes that follow belong to it.
    pub(crate) fn begin(&mut self) {
        self.message = Some(MessageIndex(self.transcript.messages.len() as u32));
        self.block = None;
        self.is_unknown = false;
    }

    /// Notes that the message being read has an unknown role or is of an unknown kind. A provider may have added it, with
    /// demands of its own, so its calls, results and reasoning are only unknown blocks with ids.
    pub(crate) fn set_unknown(&mut self, message: Value<'_, '_>, found: UnreadableEntry, is_named: bool) {
        self.is_unknown = is_named;
        self.unknown_block(message);
        self.note(IrregularityKind::UnreadableMessage { found }, message.span());
    }

    /// Begins a block of the message. Notes that follow belong to it.
    pub(crate) fn begin_block(&mut self) {
        self.block = Some(self.next_block());
    }

    /// The message and block being read.
    pub(crate) fn place(&self) -> (MessageIndex, Option<BlockIndex>) {
        (MessageIndex(self.transcript.messages.len() as u32), self.block)
    }

    /// The index of the next block.
    pub(crate) fn next_block(&self) -> BlockIndex {
        BlockIndex(self.transcript.blocks.len() as u32)
    }

    /// Notes a fact about the next block.
    pub(crate) fn fact(&mut self, kind: FactKind, id: &str) {
        let (message, block) = (MessageIndex(self.transcript.messages.len() as u32), self.next_block());
        self.transcript.facts.push(Fact { message, block, kind, id: id.into() });
    }

    /// Adds a block to the message.
    pub(crate) fn block(&mut self, value: Value<'_, 'a>, slot: Slot, kind: BlockKind) {
        self.signed_block(value, slot, kind, false);
    }

    /// Adds a block to the message, and whether the provider signed it.
    pub(crate) fn signed_block(&mut self, value: Value<'_, 'a>, slot: Slot, kind: BlockKind, signed: bool) {
        if !self.density.has_place_for(self.transcript.blocks.len()) {
            return;
        }
        let message = MessageIndex(self.transcript.messages.len() as u32);
        let (kind, signed) = match kind {
            BlockKind::Text(Emptiness::Present) | BlockKind::Media => (kind, signed),
            _ if self.is_unknown => (BlockKind::Opaque, false),
            _ => (kind, signed),
        };
        self.transcript.has.note(&kind);
        self.transcript.has.reasoning |= signed;
        let blocks = &mut self.transcript.blocks;
        if blocks.len() == blocks.capacity() {
            let read = value.span().start as usize;
            grow(blocks, self.transcript.source.len().saturating_sub(read), read);
        }
        blocks.push(Block::new(message, value.span(), slot, kind, signed));
    }

    /// Finds out whether a repair made a result, by its content if that is one short text. The caller gives no text for a
    /// result with members that a repair does not write, such as a success: that one is real.
    pub(crate) fn synthetic(&mut self, content: Option<Value<'_, '_>>, text: Option<Cow<'_, str>>) -> Synthetic {
        let (Some(content), Some(text)) = (content, text) else { return Synthetic::No };
        let synthetic = Synthetic::of(&text);
        if matches!(synthetic, Synthetic::Marked | Synthetic::Foreign) {
            self.transcript.marked.insert(content.span(), text.into_owned());
        }
        synthetic
    }

    /// Ends the message, whose blocks are those from `first` on.
    pub(crate) fn end(&mut self, value: Value<'_, 'a>, first: BlockIndex, role: Role, body: ContentForm) {
        let (first_block, end_block) = (first.0, self.next_block().0);
        if !self.density.has_place_for(self.transcript.messages.len()) {
            return;
        }
        let is_unknown = self.is_unknown;
        self.transcript.push(Message { role, span: value.span(), first_block, end_block, body, is_unknown });
        self.look_at_entry(value, role);
    }

    /// Notes what kind of entry the list has, until one entry looks like a message.
    fn look_at_entry(&mut self, value: Value<'_, '_>, role: Role) {
        if self.transcript.entries != Entries::Messages {
            self.transcript.entries = match holds_message(value) {
                true => Entries::Log,
                false if looks_like_message(value, role) => Entries::Messages,
                false => self.transcript.entries,
            };
        }
    }

    /// Looks at the messages read so far, until one looks like a message. The first one nearly always does.
    fn look_at_entries(&mut self) -> Option<()> {
        let (source, mut at) = (self.transcript.source, 0);
        while self.transcript.entries != Entries::Messages {
            let Some(&Message { span, role, .. }) = self.transcript.messages.get(at) else { break };
            self.look_at_entry(Document::read_part(source, span).ok()?.root(), role);
            at += 1;
        }
        Some(())
    }

    /// Adds a run of messages of the previous transcript that kept their spans.
    fn copy(&mut self, before: &Transcript<'_>, run: Range<usize>) {
        let old = &before.messages[run.clone()];
        let (Some(first), Some(last)) = (old.first(), old.last()) else { return };
        let messages = (self.transcript.messages.len() as u32).wrapping_sub(run.start as u32);
        let blocks = self.next_block().0.wrapping_sub(first.first_block);
        let has = &mut self.transcript.has;
        let copied = before.blocks[first.range().start..last.range().end].iter().map(|block| {
            has.note(&block.kind);
            has.reasoning |= block.is_signed();
            block.moved(messages)
        });
        self.transcript.blocks.extend(copied);
        let members = before.members_among(run.clone());
        self.transcript.members.extend(members.iter().map(|member| member.moved(messages, blocks)));
        let facts = before.facts_among(run.clone());
        self.transcript.facts.extend(facts.iter().map(|fact| fact.moved(messages, blocks)));
        self.transcript.items.extend_from_slice(before.items.get(run).unwrap_or_default());
        let moved = old.iter().map(|message| message.moved(blocks));
        self.transcript.extend(moved, before.has.neighbouring_ids);
    }

    /// Ends the reading, and sorts the irregularities in the order of the source.
    pub(crate) fn finish(self, lone_surrogates: &[Span], byte_order_mark: Option<Span>) -> Transcript<'a> {
        let Self { mut transcript, mut found, mut density, .. } = self;
        for &span in lone_surrogates {
            if density.has_place_among(&mut found, &IrregularityKind::LoneSurrogate) {
                let message = message_at(&transcript, span);
                found.push(Irregularity::new(IrregularityKind::LoneSurrogate, span, message, None));
            }
        }
        if let Some(span) = byte_order_mark {
            found.push(Irregularity::new(IrregularityKind::ByteOrderMark, span, None, None));
        }
        let is_sorted = found.is_empty();
        transcript.irregularities.append(&mut found);
        if !is_sorted {
            transcript.irregularities.sort_by_key(|irregularity| irregularity.span);
        }
        transcript
    }
}

/// The notes of a dialect: repeated keys, keys under another name, values in another form.
impl Reader<'_> {
    /// Puts the value of a key into its slot. If the key is repeated, the last value is used, as by every known reader;
    /// the value before is noted.
    pub(crate) fn set<'d, 'a>(&mut self, slot: &mut Option<Value<'d, 'a>>, value: Value<'d, 'a>) {
        if let Some(earlier) = slot.replace(value)
            && earlier.key().name() == value.key().name()
        {
            self.note_duplicate(earlier);
        }
    }

    /// Puts a value into a slot that several keys may fill. The key of the dialect itself wins; `own` says that this is
    /// the one.
    pub(crate) fn set_one_of<'d, 'a>(&mut self, slot: &mut Option<Value<'d, 'a>>, value: Value<'d, 'a>, own: bool) {
        if slot.is_none() || own {
            self.set(slot, value);
        }
    }

    /// Puts the value of a key into a list. If the key is repeated, the last value is used.
    pub(crate) fn set_among<'d, 'a>(&mut self, among: &mut Vec<Value<'d, 'a>>, value: Value<'d, 'a>) {
        match among.iter_mut().find(|other| other.key().name() == value.key().name()) {
            Some(earlier) => {
                let earlier = std::mem::replace(earlier, value);
                self.note_duplicate(earlier);
            }
            None => among.push(value),
        }
    }

    fn note_duplicate(&mut self, earlier: Value<'_, '_>) {
        let key = earlier.key();
        // The member that repeats the key follows, so there is a next one.
        let cut = Span { start: key.span().start, end: earlier.after().span().start };
        let kind = IrregularityKind::DuplicateKey { key: key.raw_str().to_owned(), cut };
        self.note(kind, key.span());
    }

    /// Reads an id. A number is read by its digits, and noted.
    pub(crate) fn id<'a>(&mut self, value: Value<'_, 'a>) -> Option<Cow<'a, str>> {
        if value.is(Kind::Number) {
            self.note(IrregularityKind::UnquotedId, value.span());
            return Some(Cow::Borrowed(value.raw()));
        }
        let id = value.str();
        if id.is_none() {
            self.odd_value(Some(value));
        }
        id
    }

    /// Notes a key that has another name in this dialect.
    pub(crate) fn foreign(&mut self, key: Span, expected: &'static str) {
        self.note(IrregularityKind::ForeignKey { expected }, key);
    }

    pub(crate) fn note(&mut self, kind: IrregularityKind, span: Span) {
        if self.density.has_place_among(&mut self.found, &kind) {
            self.found.push(Irregularity::new(kind, span, self.message, self.block));
        }
    }
}

/// Whether an entry of a list has a member that messages have, or is an item of some type.
fn looks_like_message(entry: Value<'_, '_>, role: Role) -> bool {
    let is_known = |name: &str| match name {
        "role" => true,
        "type" => role != Role::Unknown,
        name => CONTENT_KEYS.contains(&name),
    };
    entry.members().any(|(key, _)| is_known(&key.name()))
}

/// Whether an entry of a list is not a message but holds one.
fn holds_message(entry: Value<'_, '_>) -> bool {
    let Some(members) = entry.object() else { return false };
    let wraps =
        ["message", "payload"].into_iter().any(|key| members.get(key).is_some_and(|held| held.is(Kind::Object)));
    wraps && members.get("role").is_none() && CONTENT_KEYS.iter().all(|key| members.get(key).is_none())
}

fn message_at(transcript: &Transcript<'_>, span: Span) -> Option<MessageIndex> {
    let after = transcript.messages.partition_point(|message| message.span.start <= span.start);
    let index = after.checked_sub(1)?;
    (transcript.messages[index].span.end >= span.end).then_some(MessageIndex(index as u32))
}

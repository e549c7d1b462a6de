//! One conversation, dialect taken out; everything still points at its source bytes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::{
    Block, BlockIndex, CallId, Entries, Envelope, Irregularity, Item, Kinds, Layout, Member, MessageIndex, Request,
    ResultBlock, Role, Source, Span, Synthetic, Tool, Tools,
};

/// The messages of one conversation, in order.
#[derive(Debug, Clone)]
pub struct Transcript<'a> {
    /// What every span points into. What is in a span is UTF-8.
    pub source: Source<'a>,
    /// The messages.
    pub messages: Vec<Message>,
    /// The blocks of all messages, in order; a message owns a range of them.
    pub blocks: Vec<Block>,
    /// Where the list of messages stood in the body when it was read.
    pub list: Span,
    /// What stands between messages; nothing when they stand as they were read.
    pub layout: Option<Layout>,
    /// The tools that calls and results name.
    pub tools: Tools,
    /// The model the request names.
    pub model: Option<Cow<'a, str>>,
    /// What the request says beside its messages.
    pub request: Request,
    /// Members that some providers count or refuse, in the order of the messages.
    pub members: Vec<Member>,
    /// What could be read only by being tolerant.
    pub irregularities: Vec<Irregularity>,
    /// What each message is as an item; nothing in dialects without items.
    pub items: Vec<Item>,
    /// What the body around the messages says.
    pub envelope: Envelope,
    /// What the list of messages holds at first sight. Only what was read as a whole says so.
    pub entries: Entries,
    /// The texts of results that carry our mark, by where their content stands.
    pub marked: HashMap<Span, String>,
    /// Texts of results that the policy has made up, beside those that are always known.
    pub made_up: Vec<String>,
    /// Which kinds of block occur, so that rules about absent kinds cost nothing.
    pub has: Kinds,
}

/// How long a message and a block of a usual conversation are, so that room is made once.
const MESSAGE_BYTES: usize = 1024;
const BLOCK_BYTES: usize = 512;

impl<'a> Transcript<'a> {
    /// A transcript of a body with nothing in it yet, with room for what is to come.
    pub fn new(body: &'a [u8]) -> Self {
        Self::with_room(Source::new(body), body.len() / MESSAGE_BYTES + 1, body.len() / BLOCK_BYTES + 1)
    }

    /// The same, with room for so many messages and blocks.
    pub fn with_room(source: Source<'a>, messages: usize, blocks: usize) -> Self {
        Self {
            source,
            messages: Vec::with_capacity(messages),
            blocks: Vec::with_capacity(blocks),
            list: Span::default(),
            layout: None,
            tools: Tools::default(),
            model: None,
            request: Request::default(),
            members: Vec::new(),
            irregularities: Vec::new(),
            items: Vec::new(),
            envelope: Envelope::default(),
            entries: Entries::default(),
            marked: HashMap::new(),
            made_up: Vec::new(),
            has: Kinds::default(),
        }
    }

    /// The transcript without its text, to be put [`over`](Self::over) it again.
    pub fn detached(self) -> Transcript<'static> {
        let model = self.model.map(|model| Cow::Owned(model.into_owned()));
        Transcript { source: Source::default(), model, ..self }
    }

    /// The transcript over the text it was [`detached`](Self::detached) from.
    #[must_use]
    pub fn over(self, source: Source<'a>) -> Self {
        Self { source, ..self }
    }

    /// Takes out all messages behind the first so many. What the list holds at first sight is not known any more.
    pub fn truncate(&mut self, messages: usize) {
        let Some(first) = self.messages.get(messages) else { return };
        let (blocks, start) = (first.range().start, first.span.start);
        let gone = self.kinds_from(messages);
        self.messages.truncate(messages);
        self.blocks.truncate(blocks);
        self.items.truncate(messages);
        self.members.truncate(self.members.partition_point(|member| member.message.get() < messages));
        self.irregularities.retain(|irregularity| irregularity.span.start < start);
        self.marked.retain(|content, _| content.start < start);
        self.entries = Entries::default();
        self.has = self.has.without(gone).unwrap_or_else(|| self.kinds_from(0));
        debug_assert_eq!(self.has, self.kinds_from(0), "kinds of block came or went");
    }

    /// Which kinds of block occur in the messages from `first` on, as far as they tell.
    fn kinds_from(&self, first: usize) -> Kinds {
        let mut kinds = Kinds::default();
        let mut before = first.checked_sub(1).map_or(0..0, |before| self.messages[before].range());
        for message in &self.messages[first..] {
            for block in &self.blocks[message.range()] {
                kinds.note(&block.kind);
                kinds.reasoning |= block.is_signed();
            }
            kinds.note_calls(&self.blocks[before], &self.blocks[message.range()]);
            before = message.range();
        }
        kinds
    }

    /// What stands before a message: between it and the one before it, or the start of the list.
    pub fn lead(&self, index: MessageIndex) -> Span {
        if let Some(layout) = &self.layout {
            return layout.leads[index.get()];
        }
        let before = index.get().checked_sub(1).map(|before| self.messages[before].span.end);
        Span { start: before.unwrap_or(self.list.start + 1), end: self.message(index).span.start }
    }

    /// What stands between the last message and the end of the list.
    pub fn closing(&self) -> Span {
        match (&self.layout, self.messages.last()) {
            (Some(layout), _) => layout.closing,
            (None, last) => Span {
                start: last.map_or(self.list.start + 1, |last| last.span.end),
                end: self.list.end.saturating_sub(1),
            },
        }
    }

    /// Adds a message, whose blocks were added before.
    pub fn push(&mut self, message: Message) {
        let before = self.messages.last().map_or(0..0, Message::range);
        self.has.note_calls(&self.blocks[before], &self.blocks[message.range()]);
        self.messages.push(message);
    }

    /// Adds messages of another transcript whose blocks were added before, and which follow
    /// each other there as they do here. `neighbouring` says whether calls of neighbours may
    /// have the same id there.
    pub fn extend(&mut self, mut messages: impl Iterator<Item = Message>, neighbouring: bool) {
        if let Some(first) = messages.next() {
            self.push(first);
        }
        if neighbouring {
            for message in messages {
                self.push(message);
            }
        } else {
            // Where no two neighbours are alike, only the first of them has a new one.
            self.messages.extend(messages);
        }
    }

    /// The message at `index`.
    pub fn message(&self, index: MessageIndex) -> &Message {
        &self.messages[index.get()]
    }

    /// What the message at `index` is as an item, in dialects that have items.
    pub fn item(&self, index: MessageIndex) -> Option<&Item> {
        self.items.get(index.get())
    }

    /// The block at `index`.
    pub fn block(&self, index: BlockIndex) -> &Block {
        &self.blocks[index.get()]
    }

    /// The source text of a span.
    pub fn text(&self, span: Span) -> &'a str {
        self.source.get(span).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }

    /// Whether the body is the list of messages itself.
    pub fn is_bare_list(&self) -> bool {
        let body = self.source.body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(self.source.body);
        body.trim_ascii_start().first() == Some(&b'[')
    }

    /// Every message with its index.
    pub fn enumerate(&self) -> impl Iterator<Item = (MessageIndex, &Message)> {
        self.messages.iter().enumerate().map(|(index, message)| (MessageIndex(index as u32), message))
    }

    /// Every message from `first` on with its index.
    pub fn enumerate_from(&self, first: MessageIndex) -> impl Iterator<Item = (MessageIndex, &Message)> {
        let messages = self.messages.get(first.get()..).unwrap_or_default();
        (first.0..).map(MessageIndex).zip(messages)
    }

    /// The blocks of one message with their indexes.
    pub fn blocks_of(&self, index: MessageIndex) -> impl DoubleEndedIterator<Item = (BlockIndex, &Block)> {
        let range = self.message(index).range();
        let first = range.start as u32;
        self.blocks[range].iter().enumerate().map(move |(offset, block)| (BlockIndex(first + offset as u32), block))
    }

    /// Every block with its index.
    pub fn enumerate_blocks(&self) -> impl Iterator<Item = (BlockIndex, &Block)> {
        self.blocks.iter().enumerate().map(|(index, block)| (BlockIndex(index as u32), block))
    }

    /// The members of one message, and of its blocks, that some providers count or refuse.
    pub fn members_of(&self, index: MessageIndex) -> &[Member] {
        self.members_among(index.get()..index.get() + 1)
    }

    /// The members of several messages.
    pub fn members_among(&self, messages: Range<usize>) -> &[Member] {
        let start = self.members.partition_point(|member| member.message.get() < messages.start);
        let end = self.members.partition_point(|member| member.message.get() < messages.end);
        &self.members[start..end]
    }

    /// The call in a block, if it is one the client answers.
    pub fn call(&self, index: BlockIndex) -> Option<&Call> {
        self.block(index).call()
    }

    /// The result in a block, if it answers a call of the client's.
    pub fn result(&self, index: BlockIndex) -> Option<&ResultBlock> {
        match &self.block(index).kind {
            BlockKind::Result(result) => Some(result),
            _ => None,
        }
    }

    /// Whether a block is a result that a repair made up.
    pub fn is_made_up(&self, index: BlockIndex) -> bool {
        self.result(index).is_some_and(|result| match result.synthetic {
            Synthetic::No => false,
            Synthetic::Yes => true,
            Synthetic::Marked => self
                .marked
                .get(&result.content)
                .is_some_and(|text| self.made_up.iter().any(|known| known.trim() == text)),
        })
    }

    /// What a tool is called.
    pub fn name(&self, tool: Option<Tool>) -> Option<&str> {
        tool.map(|tool| self.tools.name(tool))
    }

    /// Whether a message holds calls that the client answers.
    pub fn has_calls(&self, index: MessageIndex) -> bool {
        self.blocks[self.message(index).range()].iter().any(|block| block.call().is_some())
    }

    /// Whether a message holds results.
    pub fn has_results(&self, index: MessageIndex) -> bool {
        self.blocks[self.message(index).range()].iter().any(|block| matches!(block.kind, BlockKind::Result(_)))
    }

    /// Whether a message holds signed reasoning or other signed blocks, which must stay as
    /// they were produced.
    pub fn has_signed_reasoning(&self, index: MessageIndex) -> bool {
        self.has.reasoning
            && self.blocks[self.message(index).range()]
                .iter()
                .any(|block| block.is_signed() || matches!(block.kind, BlockKind::Reasoning { signed: true }))
    }
}

/// One role's contribution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// Where it stands in the source.
    pub span: Span,
    /// Its first block.
    pub first_block: u32,
    /// One past its last block.
    pub end_block: u32,
    /// How its content is written.
    pub body: Body,
}

impl Message {
    /// Its blocks as a range of [`Transcript::blocks`].
    pub fn range(&self) -> Range<usize> {
        self.first_block as usize..self.end_block as usize
    }

    /// The same with its blocks moved by so many places.
    #[must_use]
    pub fn moved(&self, blocks: u32) -> Self {
        let first_block = self.first_block.wrapping_add(blocks);
        let end_block = self.end_block.wrapping_add(blocks);
        Self { first_block, end_block, ..*self }
    }
}

/// How a message's content is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// A string.
    Text,
    /// A list of blocks.
    Blocks,
    /// `null`.
    Null,
    /// Not there.
    Missing,
    /// Something that no dialect allows.
    Unreadable,
}

/// What a block is.
#[derive(Debug, Clone)]
pub enum BlockKind {
    /// Text somebody said.
    Text(Emptiness),
    /// The model asks for a tool to be run.
    Call(Call),
    /// The answer to a call.
    Result(ResultBlock),
    /// A call of a tool that the provider runs itself.
    ServerCall(Box<ServerCall>),
    /// The answer to a [`BlockKind::ServerCall`], inside the assistant's own message.
    ServerResult(Box<ServerResult>),
    /// The model's reasoning; `signed` when the provider checks it byte for byte.
    Reasoning {
        /// Whether a signature or encrypted content stands on it.
        signed: bool,
    },
    /// An image, a document, sound.
    Media,
    /// A block we do not know; kept as it is.
    Opaque,
}

/// How much text there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emptiness {
    /// None at all.
    Empty,
    /// White space only.
    Blank,
    /// Some.
    Present,
}

/// A call: the model asks for a tool to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its id.
    pub id: Option<CallId>,
    /// The tool.
    pub tool: Option<Tool>,
    /// How its input is written.
    pub input: Input,
    /// What its id is made of. Known here so that rules need not look at the text again.
    pub id_form: IdForm,
    /// Whether its name is made of letters, digits, `_` and `-` alone.
    pub plain_name: bool,
}

impl Call {
    /// A call as it was read.
    pub fn new(id: Option<&str>, name: Option<&str>, input: Input, tools: &mut Tools) -> Self {
        Self {
            id: id.map(CallId::from),
            tool: name.map(|name| tools.add(name)),
            input,
            id_form: IdForm::of(id.unwrap_or("")),
            plain_name: name.is_some_and(is_word),
        }
    }
}

/// What an id is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdForm {
    /// Letters, digits, `_` and `-`.
    Word,
    /// The same, and starts as ids do that a client uses inside its own history.
    Internal,
    /// Other characters.
    Other,
}

impl IdForm {
    /// How ids start that a client uses inside its own history.
    pub const INTERNAL: &'static str = "hist_tool_";

    fn of(id: &str) -> Self {
        match is_word(id) {
            true if id.starts_with(Self::INTERNAL) => Self::Internal,
            true => Self::Word,
            false => Self::Other,
        }
    }
}

/// Whether a text is made of letters, digits, `_` and `-` alone.
pub(crate) fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| WORD[usize::from(byte)])
}

/// For each byte, whether it is a letter, a digit, `_` or `-`.
static WORD: [bool; 256] = {
    let mut word = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        word[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        byte += 1;
    }
    word
};

/// A call of a tool that the provider runs itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerCall {
    /// The call.
    pub call: Call,
    /// Whether it must be answered before the turn is closed. Calls of servers that are
    /// connected to the provider were not seen to be rejected.
    pub must_be_answered: bool,
    /// What errors call the family of the tool.
    pub family: String,
}

/// The answer to a [`ServerCall`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerResult {
    /// The call it answers.
    pub id: Option<CallId>,
    /// What the dialect calls such a block.
    pub kind: String,
}

/// How a call's input is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// As a JSON object.
    Object,
    /// As a string; where it should hold JSON, it holds an object.
    Text,
    /// As a string that holds JSON, but no object.
    ValueText,
    /// As a string that should hold JSON and holds nothing.
    EmptyText,
    /// As a string that should hold JSON and does not.
    BrokenText,
    /// As `null`.
    Null,
    /// Not there.
    Missing,
    /// As another kind of value.
    Other,
}

impl Input {
    /// Whether it is written as a string.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::ValueText | Self::EmptyText | Self::BrokenText)
    }
}

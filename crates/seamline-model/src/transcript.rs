//! One conversation, independent of its dialect; everything points at its source bytes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::{
    Block, BlockIndex, Entries, Envelope, Fact, Irregularity, Item, Kinds, Layout, Member, MessageIndex,
    RejectedMember, RequestFacts, ResultBlock, Role, Signatures, Source, Span, Synthetic, Tool, Tools, WireId,
    is_of_session_about,
};

mod growth;

/// The messages of one conversation, in order.
#[derive(Debug, Clone)]
pub struct Transcript<'a> {
    /// The bytes that every span points into. The bytes of a span are UTF-8.
    pub source: Source<'a>,
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// The blocks of all messages, in order; a message owns a range of them.
    pub blocks: Vec<Block>,
    /// The bytes of the message list in the body that was read.
    pub list: Span,
    /// The bytes between messages; `None` if they are as they were read.
    pub layout: Option<Layout>,
    /// The tools that calls and results name.
    pub tools: Tools,
    /// The model that the request names.
    pub model: Option<Cow<'a, str>>,
    /// Facts in the request outside its messages.
    pub request: RequestFacts,
    /// Members that some providers count or reject, in message order.
    pub members: Vec<Member>,
    /// Members that the provider has rejected by their path, in the order of the body.
    pub rejected: Vec<RejectedMember>,
    /// Facts that few conversations have, in message order.
    pub facts: Vec<Fact>,
    /// Everything that could be read only with tolerance.
    pub irregularities: Vec<Irregularity>,
    /// Each message as an item; empty in dialects without items.
    pub items: Vec<Item>,
    /// Facts in the body around the messages.
    pub envelope: Envelope,
    /// The form of the elements of the list. Known only if the whole body was read at once.
    pub entries: Entries,
    /// The texts of results that only more knowledge tells from real ones, by the span of their content.
    pub marked: HashMap<Span, String>,
    /// The policy's own synthetic texts for results, in addition to those always known.
    pub made_up: Vec<String>,
    /// The signatures that the provider gave calls, by the id of the call. Clients lose some of them.
    pub signatures: Signatures,
    /// The kinds of block that occur, so that rules skip absent kinds.
    pub has: Kinds,
}

impl<'a> Transcript<'a> {
    /// An empty transcript with capacity for so many messages and blocks.
    pub fn with_room(source: Source<'a>, messages: usize, blocks: usize) -> Self {
        Self {
            source,
            messages: Vec::with_capacity(messages),
            blocks: Vec::with_capacity(blocks),
            list: Span::default(),
            layout: None,
            tools: Tools::default(),
            model: None,
            request: RequestFacts::default(),
            members: Vec::new(),
            rejected: Vec::new(),
            facts: Vec::new(),
            irregularities: Vec::new(),
            items: Vec::new(),
            envelope: Envelope::default(),
            entries: Entries::default(),
            marked: HashMap::new(),
            made_up: Vec::new(),
            signatures: Signatures::default(),
            has: Kinds::default(),
        }
    }

    /// The transcript without its source, to be attached again with [`over`](Self::over).
    pub fn detached(self) -> Transcript<'static> {
        let model = self.model.map(|model| Cow::Owned(model.into_owned()));
        Transcript { source: Source::default(), model, ..self }
    }

    /// The transcript attached to the source it was [`detached`](Self::detached) from.
    #[must_use]
    pub fn over(self, source: Source<'a>) -> Self {
        Self { source, ..self }
    }

    /// Removes all messages after the first `messages`, and resets `entries`.
    pub fn truncate(&mut self, messages: usize) {
        let Some(first) = self.messages.get(messages) else { return };
        let (blocks, start) = (first.range().start, first.span.start);
        let gone = self.kinds_from(messages);
        self.messages.truncate(messages);
        self.blocks.truncate(blocks);
        self.items.truncate(messages);
        self.members.truncate(self.members.partition_point(|member| member.message.get() < messages));
        self.facts.truncate(self.facts.partition_point(|fact| fact.message.get() < messages));
        self.irregularities.retain(|irregularity| irregularity.span.start < start);
        self.marked.retain(|content, _| content.start < start);
        self.entries = Entries::default();
        self.has = self.has.without(gone).unwrap_or_else(|| self.kinds_from(0));
        debug_assert_eq!(self.has, self.kinds_from(0), "kinds of block came or went");
    }

    /// The kinds of block that occur in the messages from `first` on.
    fn kinds_from(&self, first: usize) -> Kinds {
        let mut kinds = Kinds::default();
        let mut before = first.checked_sub(1).map(|before| &self.messages[before]);
        for message in &self.messages[first..] {
            for block in &self.blocks[message.range()] {
                kinds.note(&block.kind);
                kinds.reasoning |= block.is_signed();
            }
            let beside = before.map_or(0..0, Message::range);
            kinds.note_calls(before.map(|before| before.role), &self.blocks[beside], &self.blocks[message.range()]);
            before = Some(message);
        }
        kinds
    }

    /// The bytes before a message: from the end of the previous one, or from the start of the list.
    pub fn lead(&self, index: MessageIndex) -> Span {
        if let Some(layout) = &self.layout {
            return layout.leads[index.get()];
        }
        let before = index.get().checked_sub(1).map(|before| self.messages[before].span.end);
        Span { start: before.unwrap_or(self.list.start + 1), end: self.message(index).span.start }
    }

    /// The bytes between the last message and the end of the list.
    pub fn closing(&self) -> Span {
        match (&self.layout, self.messages.last()) {
            (Some(layout), _) => layout.closing,
            (None, last) => Span {
                start: last.map_or(self.list.start + 1, |last| last.span.end),
                end: self.list.end.saturating_sub(1),
            },
        }
    }

    /// Adds a message whose blocks are already added.
    pub fn push(&mut self, message: Message) {
        let before = self.messages.last();
        let beside = &self.blocks[before.map_or(0..0, Message::range)];
        self.has.note_calls(before.map(|before| before.role), beside, &self.blocks[message.range()]);
        if self.messages.len() == self.messages.capacity() {
            self.make_room(message.span.end as usize);
        }
        self.messages.push(message);
    }

    /// Adds consecutive messages of another transcript, whose blocks are already added. `neighbouring` says whether
    /// adjacent calls may share an id there.
    pub fn extend(&mut self, mut messages: impl Iterator<Item = Message>, neighbouring: bool) {
        if let Some(first) = messages.next() {
            self.push(first);
        }
        if neighbouring {
            for message in messages {
                self.push(message);
            }
        } else {
            // Without shared ids there, only the first message has a new neighbour.
            self.messages.extend(messages);
        }
    }

    /// The message at `index`.
    pub fn message(&self, index: MessageIndex) -> &Message {
        &self.messages[index.get()]
    }

    /// The message at `index` as an item, in dialects that have items.
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

    /// Whether the body itself is the list of messages.
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

    /// The members of one message and its blocks that some providers count or reject.
    pub fn members_of(&self, index: MessageIndex) -> &[Member] {
        self.members_among(index.get()..index.get() + 1)
    }

    /// The members of a range of messages.
    pub fn members_among(&self, messages: Range<usize>) -> &[Member] {
        let start = self.members.partition_point(|member| member.message.get() < messages.start);
        let end = self.members.partition_point(|member| member.message.get() < messages.end);
        &self.members[start..end]
    }

    /// The call in a block, if the client answers it.
    pub fn call(&self, index: BlockIndex) -> Option<&Call> {
        self.block(index).call()
    }

    /// The result in a block, if it answers a call of the client.
    pub fn result(&self, index: BlockIndex) -> Option<&ResultBlock> {
        match &self.block(index).kind {
            BlockKind::Result(result) => Some(result),
            _ => None,
        }
    }

    /// Whether a block is a synthetic result.
    pub fn is_made_up(&self, index: BlockIndex) -> bool {
        let is_of_policy = |text: &String| self.made_up.iter().any(|known| known == text);
        self.result(index).is_some_and(|result| match result.synthetic {
            Synthetic::No => false,
            Synthetic::Yes => true,
            Synthetic::Foreign => result.failed || self.marked.get(&result.content).is_some_and(is_of_policy),
            Synthetic::Marked => self.marked.get(&result.content).is_some_and(|text| {
                let is_tool = |said: &str| said.is_empty() || self.tools.has_labelled(said);
                is_of_policy(text) || is_of_session_about(text, result.id.as_deref(), &is_tool)
            }),
        })
    }

    /// The name of a tool.
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

    /// Whether a message holds signed reasoning or other signed blocks, which must stay unchanged.
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
    /// The role that speaks.
    pub role: Role,
    /// Its bytes in the source.
    pub span: Span,
    /// The index of its first block.
    pub first_block: u32,
    /// One past its last block.
    pub end_block: u32,
    /// How its content is written.
    pub body: ContentForm,
    /// Whether a provider may have added its role or its kind, so that no rule changes it or calls it wrong.
    pub is_unknown: bool,
}

impl Message {
    /// Its blocks, as a range of [`Transcript::blocks`].
    pub fn range(&self) -> Range<usize> {
        self.first_block as usize..self.end_block as usize
    }

    /// A copy with its block indexes moved; a difference below zero wraps.
    #[must_use]
    pub fn moved(&self, blocks: u32) -> Self {
        let first_block = self.first_block.wrapping_add(blocks);
        let end_block = self.end_block.wrapping_add(blocks);
        Self { first_block, end_block, ..*self }
    }
}

/// How a message's content is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentForm {
    /// A JSON string.
    Text,
    /// A list of blocks.
    Blocks,
    /// The value `null`.
    Null,
    /// The member is absent.
    Missing,
    /// The member is absent, and the message is a setting that needs none.
    Setting,
    /// A value that no dialect allows.
    Unreadable,
}

/// The kind of a block.
#[derive(Debug, Clone)]
pub enum BlockKind {
    /// Text of the user or the model.
    Text(Emptiness),
    /// The model asks for a tool to be run.
    Call(Call),
    /// The result of a call.
    Result(ResultBlock),
    /// A call of a tool that the provider runs itself.
    ServerCall(Box<ServerCall>),
    /// The result of a [`BlockKind::ServerCall`], inside the assistant's own message.
    ServerResult(Box<ServerResult>),
    /// The model's reasoning; `signed` if the provider checks it byte for byte.
    Reasoning {
        /// Whether it has a signature or encrypted content.
        signed: bool,
    },
    /// An image, document or sound.
    Media,
    /// An unknown block; kept unchanged.
    Opaque,
}

/// Whether a text has content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emptiness {
    /// No characters at all.
    Empty,
    /// White space only.
    Blank,
    /// Some other characters.
    Present,
}

/// A tool call: the model asks for a tool to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The call id.
    pub id: Option<WireId>,
    /// The tool it names.
    pub tool: Option<Tool>,
    /// How its input is written.
    pub input: Input,
    /// The form of its id, stored so that rules need not read the text again.
    pub id_form: IdForm,
    /// Whether its name has only letters, digits, `_` and `-`.
    pub plain_name: bool,
}

impl Call {
    /// A call as it was read.
    pub fn new(id: Option<&str>, name: Option<&str>, input: Input, tools: &mut Tools) -> Self {
        Self {
            id: id.map(WireId::from),
            tool: name.map(|name| tools.add(name)),
            input,
            id_form: IdForm::of(id.unwrap_or("")),
            plain_name: name.is_some_and(is_word),
        }
    }
}

/// The characters of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdForm {
    /// Letters, digits, `_` and `-`.
    Word,
    /// As [`Word`](Self::Word), with the prefix that a client uses inside its own history.
    Internal,
    /// The same prefix, with any other characters behind it.
    InternalOther,
    /// Any other characters.
    Other,
}

impl IdForm {
    /// The prefix of ids that a client uses inside its own history.
    pub const INTERNAL: &'static str = "hist_tool_";

    fn of(id: &str) -> Self {
        match is_word(id) {
            true if id.starts_with(Self::INTERNAL) => Self::Internal,
            true => Self::Word,
            false if id.starts_with(Self::INTERNAL) => Self::InternalOther,
            false => Self::Other,
        }
    }

    /// Whether it has only letters, digits, `_` and `-`.
    pub(crate) fn is_word(self) -> bool {
        matches!(self, Self::Word | Self::Internal)
    }

    /// Whether it has the prefix that a client uses inside its own history.
    pub fn is_internal(self) -> bool {
        matches!(self, Self::Internal | Self::InternalOther)
    }
}

/// Whether a text has only letters, digits, `_` and `-`.
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
    /// The call itself.
    pub call: Call,
    /// Whether it must be answered before the turn ends. No provider is known to reject unanswered calls of connected
    /// MCP servers.
    pub must_be_answered: bool,
    /// The name of the tool's family in error texts.
    pub family: String,
}

/// The result of a [`ServerCall`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerResult {
    /// The id of the call it answers.
    pub id: Option<WireId>,
    /// The dialect's type for such a block.
    pub kind: String,
}

/// How a call's input is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A JSON object.
    Object,
    /// A string; where it should hold JSON, it holds an object.
    Text,
    /// A string that holds JSON other than an object.
    ValueText,
    /// An empty string that should hold JSON.
    EmptyText,
    /// A string that should hold JSON and does not.
    BrokenText,
    /// The value `null`.
    Null,
    /// The member is absent.
    Missing,
    /// Any other kind of value.
    Other,
}

impl Input {
    /// Whether it is written as a string.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::ValueText | Self::EmptyText | Self::BrokenText)
    }
}

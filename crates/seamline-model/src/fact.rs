//! Facts about single blocks that few conversations have.

use std::ops::Range;

use crate::{BlockIndex, BlockKind, MessageIndex, Transcript};

/// A fact about a block that few conversations have. Facts are kept apart from blocks, so that blocks stay small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The message of the block.
    pub message: MessageIndex,
    /// The block it is about.
    pub block: BlockIndex,
    /// The kind of fact.
    pub kind: FactKind,
    /// The id or name that it gives; empty for kinds without one.
    pub id: Box<str>,
}

impl Fact {
    /// A copy with its message and block indexes moved; differences below zero wrap.
    #[must_use]
    pub fn moved(&self, messages: u32, blocks: u32) -> Self {
        let message = MessageIndex(self.message.0.wrapping_add(messages));
        let block = BlockIndex(self.block.0.wrapping_add(blocks));
        Self { message, block, ..self.clone() }
    }
}

/// The kinds of fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactKind {
    /// The result of this call may come in a later request.
    Deferred,
    /// A program or a server tool made this call, or the call that this result answers; the id is that of the maker.
    Caller,
    /// A program that the model wrote and the provider runs, with the id that its output and its calls name.
    Program,
    /// The output of a program, with the id of the program.
    ProgramOutput,
    /// A request for an approval, with its id.
    ApprovalRequest,
    /// The response to a request for an approval, with the id of the request.
    ApprovalResponse,
    /// A safety check of this call that the client must acknowledge, with its id.
    PendingCheck,
    /// A safety check that this result acknowledges, with its id.
    AcknowledgedCheck,
    /// The name of a declared tool that the message adds or removes.
    ToolReference,
    /// The name of a tool that the message defines.
    ToolDefinition,
    /// A signed summary that replaces the conversation before it.
    Compaction,
    /// A cache mark that is a block of its own.
    CachePoint,
    /// A document in a message, with its format.
    Document,
    /// The text of this block is empty, and its other members have content.
    Beside,
    /// A name, an id or a role that is an object or a list; the id is its source. A message with an odd role may have no
    /// block.
    OddValue,
    /// An id of an unknown block or message, by which it may make or answer a call.
    Unknown,
    /// An id in an unknown member of a message, by which that may make a call.
    UnknownMember,
    /// The name of the tool of an unknown block that has an id. A result without an id may answer it.
    UnknownTool,
}

impl Transcript<'_> {
    /// The facts about a range of messages.
    pub fn facts_among(&self, messages: Range<usize>) -> &[Fact] {
        let start = self.facts.partition_point(|fact| fact.message.get() < messages.start);
        let end = self.facts.partition_point(|fact| fact.message.get() < messages.end);
        &self.facts[start..end]
    }

    /// The ids that facts of a kind give for a block.
    pub fn facts_of(&self, block: BlockIndex, kind: FactKind) -> impl Iterator<Item = &str> {
        let start = self.facts.partition_point(|fact| fact.block < block);
        let facts = self.facts[start..].iter().take_while(move |fact| fact.block == block);
        facts.filter(move |fact| fact.kind == kind).map(|fact| &*fact.id)
    }

    /// Whether there is a fact of a kind about a block.
    pub fn has_fact(&self, block: BlockIndex, kind: FactKind) -> bool {
        self.facts_of(block, kind).next().is_some()
    }

    /// Whether a block is a cache mark and nothing else.
    pub fn is_cache_point(&self, block: BlockIndex) -> bool {
        matches!(self.block(block).kind, BlockKind::Opaque) && self.has_fact(block, FactKind::CachePoint)
    }
}

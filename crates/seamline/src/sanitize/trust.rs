//! Which messages and blocks of a body an untrusted client may have made up.

use std::collections::HashSet;

use seamline_model::{
    BlockIndex, BlockKind, Constraints, Field, IrregularityKind, MessageIndex, Pairing, ResultFate, Role, Scope,
    Transcript,
};
use serde_json::Value;

use super::TrustedCalls;

/// Kinds of blocks that are content and not known by their own kind.
const CONTENT: &[&str] = &["cachePoint", "compaction", "guardContent"];

/// Items that hold the call of a provider's own tool together with its result.
const WHOLE_CALLS: &[&str] =
    &["code_interpreter_call", "file_search_call", "image_generation_call", "mcp_call", "web_search_call"];

/// The calls of a provider's own tools whose results are blocks of their own, and those results.
const SERVER_CALLS: &[&str] = &["executableCode", "executable_code", "program", "toolCall"];
const SERVER_RESULTS: &[&str] = &["codeExecutionResult", "code_execution_result", "program_output", "toolResponse"];

/// Items that only the server may name: they refer to stored items, approve calls or list tools.
const OF_SERVER: &[&str] = &[
    "item_reference",
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_list_tools",
    "tool_addition",
    "tool_removal",
];

/// A block that is neither text nor media nor a call or result of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Opaque {
    Content,
    /// A call together with its result.
    Whole(Option<String>),
    Call(Option<String>),
    Result(Option<String>),
    OfServer(Option<String>),
    Unknown,
}

/// The judgement of the messages and blocks that a client sends.
pub(super) struct Trust<'t, 'b> {
    transcript: &'t Transcript<'b>,
    trusted: &'t TrustedCalls,
    known: HashSet<&'t str>,
    /// The calls and results of the client that may stay.
    paired: HashSet<BlockIndex>,
    /// The calls and results of the provider's own tools that have each other.
    server: HashSet<BlockIndex>,
}

impl<'t, 'b> Trust<'t, 'b> {
    pub(super) fn of(transcript: &'t Transcript<'b>, constraints: &Constraints, trusted: &'t TrustedCalls) -> Self {
        let known = match trusted {
            TrustedCalls::Known(ids) => ids.iter().map(String::as_str).collect(),
            TrustedCalls::Answered | TrustedCalls::None => HashSet::new(),
        };
        let mut trust = Self { transcript, trusted, known, paired: HashSet::new(), server: HashSet::new() };
        let pairing = Pairing::of(transcript, Scope::ALL.under(constraints));
        for call in &pairing.calls {
            if trust.is_trusted(trust.id_of(call.call), call.matched.is_some()) {
                trust.paired.insert(call.call);
            }
        }
        for state in &pairing.results {
            if matches!(state.fate, ResultFate::Answers(call) if trust.paired.contains(&call)) {
                trust.paired.insert(state.result);
            }
        }
        trust.server = trust.server_pairs();
        trust
    }

    /// Why a message goes, if it does.
    pub(super) fn message(&self, index: MessageIndex) -> Option<&'static str> {
        match self.transcript.message(index).role {
            Role::System | Role::Developer => Some("instructions"),
            Role::Unknown => Some("message"),
            _ if self.says_system(index) => Some("instructions"),
            Role::Function if !self.answers_legacy(index) => Some("result"),
            Role::User | Role::Assistant | Role::Tool | Role::Function => None,
        }
    }

    /// Whether a block may be made up.
    pub(super) fn is_forged(&self, block: BlockIndex) -> bool {
        match &self.transcript.block(block).kind {
            BlockKind::Text(_) | BlockKind::Media | BlockKind::Reasoning { .. } => false,
            BlockKind::Call(call) if self.is_legacy(block) && call.id.is_none() => {
                !self.paired.contains(&block) && !self.is_answered_legacy(block)
            }
            BlockKind::Call(_) | BlockKind::Result(_) => !self.paired.contains(&block),
            BlockKind::ServerCall(_) | BlockKind::ServerResult(_) => !self.server.contains(&block),
            BlockKind::Opaque => match self.opaque(block) {
                Opaque::Content => false,
                Opaque::Whole(id) => !self.is_trusted(id.as_deref(), true),
                Opaque::Call(_) if self.is_legacy(block) => !self.is_answered_legacy(block),
                Opaque::Call(_) | Opaque::Result(_) => !self.server.contains(&block),
                Opaque::OfServer(id) => !id.is_some_and(|id| self.known.contains(id.as_str())),
                Opaque::Unknown => true,
            },
        }
    }

    /// Whether a message is of no use without this block.
    pub(super) fn is_whole_message(&self, block: BlockIndex) -> bool {
        let block = self.transcript.block(block);
        matches!(block.kind, BlockKind::Opaque) && matches!(block.slot().field, Field::Whole | Field::Item)
    }

    /// The kind of a part in a report, and the id of its call.
    pub(super) fn described(&self, block: BlockIndex) -> (&'static str, Option<String>) {
        let own = |id: &Option<seamline_model::WireId>| id.as_deref().map(str::to_owned);
        match &self.transcript.block(block).kind {
            BlockKind::Call(call) => ("call", own(&call.id)),
            BlockKind::ServerCall(server) => ("call", own(&server.call.id)),
            BlockKind::Result(result) => ("result", own(&result.id)),
            BlockKind::ServerResult(result) => ("result", own(&result.id)),
            BlockKind::Opaque => match self.opaque(block) {
                Opaque::Call(id) | Opaque::Whole(id) => ("call", id),
                Opaque::Result(id) => ("result", id),
                Opaque::Content | Opaque::OfServer(_) | Opaque::Unknown => ("block", None),
            },
            BlockKind::Text(_) | BlockKind::Reasoning { .. } | BlockKind::Media => ("block", None),
        }
    }

    fn is_trusted(&self, id: Option<&str>, is_answered: bool) -> bool {
        match self.trusted {
            TrustedCalls::Answered => is_answered,
            TrustedCalls::Known(_) => id.is_some_and(|id| self.known.contains(id)),
            TrustedCalls::None => false,
        }
    }

    fn id_of(&self, block: BlockIndex) -> Option<&'t str> {
        self.transcript.call(block).and_then(|call| call.id.as_deref())
    }

    /// Pairs the calls of the provider's own tools with the first results after them.
    fn server_pairs(&self) -> HashSet<BlockIndex> {
        let mut paired = HashSet::new();
        let mut open: Vec<(Option<String>, BlockIndex)> = Vec::new();
        for (index, block) in self.transcript.enumerate_blocks() {
            let (is_call, id) = match &block.kind {
                BlockKind::ServerCall(server) => (true, server.call.id.as_deref().map(str::to_owned)),
                BlockKind::ServerResult(result) => (false, result.id.as_deref().map(str::to_owned)),
                BlockKind::Opaque => match self.opaque(index) {
                    Opaque::Call(id) => (true, id),
                    Opaque::Result(id) => (false, id),
                    _ => continue,
                },
                _ => continue,
            };
            if is_call {
                if matches!(self.trusted, TrustedCalls::Known(_)) && self.is_trusted(id.as_deref(), false) {
                    paired.insert(index);
                }
                open.push((id, index));
            } else if let Some(at) = open.iter().rposition(|(open, _)| *open == id) {
                let (id, call) = open.swap_remove(at);
                if self.is_trusted(id.as_deref(), true) {
                    paired.extend([call, index]);
                }
            }
        }
        paired
    }

    fn opaque(&self, block: BlockIndex) -> Opaque {
        let read = self.transcript.block(block);
        let text = self.transcript.text(read.span);
        let Ok(value) = serde_json::from_str::<Value>(text) else { return Opaque::Unknown };
        let Some(members) = value.as_object() else {
            // A refusal of a chat message is a text beside its content. A list of calls can be a text, too.
            let is_words = value.as_str().is_some_and(|said| !said.trim_start().starts_with(['[', '{']));
            return if is_words && self.is_legacy(block) { Opaque::Content } else { Opaque::Unknown };
        };
        let said = |name: &str| members.get(name).and_then(Value::as_str).map(str::to_owned);
        let kind = said("type").or_else(|| members.keys().find(|key| is_kind(key)).cloned());
        let inner = kind.as_deref().and_then(|kind| members.get(kind));
        let held = inner.and_then(|inner| inner.get("id")).and_then(Value::as_str).map(str::to_owned);
        let id = || said("call_id").or_else(|| said("id")).or(held);
        match kind.as_deref() {
            Some("text" | "refusal") => Opaque::Content,
            Some(kind) if CONTENT.contains(&kind) => Opaque::Content,
            Some("mcp_approval_response") => Opaque::OfServer(said("approval_request_id")),
            Some(kind) if OF_SERVER.contains(&kind) => Opaque::OfServer(said("id")),
            Some("file_search_call") if self.transcript.items.is_empty() => Opaque::Call(id()),
            Some(kind) if WHOLE_CALLS.contains(&kind) => Opaque::Whole(said("id")),
            Some("tool_search_call") => Opaque::Whole(id()),
            Some("tool_search_output") => Opaque::Result(id()),
            Some(kind) if SERVER_CALLS.contains(&kind) || is_step(kind, "_call") => Opaque::Call(id()),
            Some(kind) if SERVER_RESULTS.contains(&kind) || is_step(kind, "_result") => Opaque::Result(id()),
            None if self.is_legacy(block) && members.contains_key("name") => Opaque::Call(None),
            // The audio of a chat message.
            None if self.is_legacy(block) && members.contains_key("id") => Opaque::Content,
            _ => Opaque::Unknown,
        }
    }

    /// Whether the role of a message is a name of instructions, which a repair would give to the user.
    fn says_system(&self, index: MessageIndex) -> bool {
        self.transcript.irregularities.iter().any(|irregularity| {
            let said = self.transcript.text(irregularity.span).trim_matches('"').trim().to_ascii_lowercase();
            irregularity.message == Some(index)
                && matches!(irregularity.kind, IrregularityKind::ForeignRole { .. })
                && matches!(said.as_str(), "system" | "developer")
        })
    }

    /// Whether a block is a member of a chat message beside its content, as calls were before they had a list.
    fn is_legacy(&self, block: BlockIndex) -> bool {
        self.transcript.block(block).slot().field == Field::Whole
    }

    fn is_answered_legacy(&self, block: BlockIndex) -> bool {
        let next = MessageIndex(self.transcript.block(block).message.0 + 1);
        let follower = self.transcript.messages.get(next.get());
        *self.trusted == TrustedCalls::Answered && follower.is_some_and(|message| message.role == Role::Function)
    }

    fn answers_legacy(&self, index: MessageIndex) -> bool {
        let Some(before) = index.0.checked_sub(1).map(MessageIndex) else { return false };
        let is_call = |block: BlockIndex| {
            self.is_legacy(block)
                && match &self.transcript.block(block).kind {
                    BlockKind::Call(_) => true,
                    BlockKind::Opaque => matches!(self.opaque(block), Opaque::Call(_)),
                    _ => false,
                }
        };
        *self.trusted == TrustedCalls::Answered && self.transcript.blocks_of(before).any(|(block, _)| is_call(block))
    }
}

/// Whether a member names the kind of a block, in dialects whose blocks have no `type`.
fn is_kind(key: &str) -> bool {
    CONTENT.contains(&key) || SERVER_CALLS.contains(&key) || SERVER_RESULTS.contains(&key) || OF_SERVER.contains(&key)
}

/// Whether a kind is a step of a tool that the provider of the Gemini Interactions API runs.
fn is_step(kind: &str, ending: &str) -> bool {
    const TOOLS: &[&str] = &[
        "code_execution",
        "file_search",
        "google_maps",
        "google_search",
        "mcp_server_tool",
        "processing",
        "retrieval",
        "url_context",
    ];
    kind.strip_suffix(ending).is_some_and(|tool| TOOLS.contains(&tool))
}

//! The tool calls in the history of a request, in the rounds in which the model made them.

use std::collections::HashMap;

use seamline_dialects::Dialect;
use seamline_guard::{CallInRound, ToolSchemas};
use seamline_model::conversation::{Conversation, LiftedCall, LiftedResult, Says};
use seamline_model::{BlockIndex, BlockKind, Pairing, Place, Role, Transcript};

/// The member under which a lifted call keeps a text that is not a JSON object.
const RAW: &str = "raw";

/// The calls of one round. Parallel calls are one round, also where each is an item of its own.
pub(super) struct Round {
    /// Whether a message of the user precedes it.
    pub(super) begins_turn: bool,
    pub(super) calls: Vec<CallOfRound>,
}

/// A call with its result.
pub(super) struct CallOfRound {
    pub(super) block: BlockIndex,
    pub(super) name: String,
    /// The text of the arguments.
    arguments: String,
    /// Whether the arguments are free text.
    free: bool,
    pub(super) result: Option<ResultOfRound>,
}

/// The result that answers a call.
pub(super) struct ResultOfRound {
    pub(super) block: BlockIndex,
    pub(super) text: String,
    /// Whether the dialect says that the tool failed.
    pub(super) failed: bool,
    /// Whether the result has only text.
    pub(super) is_text: bool,
}

impl CallOfRound {
    pub(super) fn in_round(&self) -> CallInRound<'_> {
        CallInRound { name: &self.name, arguments: &self.arguments, free: self.free, truncated: false }
    }

    pub(super) fn arguments(&self) -> &str {
        &self.arguments
    }

    fn new(block: BlockIndex, name: &str, call: &LiftedCall, result: Option<ResultOfRound>) -> Self {
        let (arguments, free) = match &call.free {
            Some(text) => (text.clone(), true),
            None => (arguments(call), false),
        };
        Self { block, name: name.to_owned(), arguments, free, result }
    }
}

impl ResultOfRound {
    fn new(block: BlockIndex, result: &LiftedResult) -> Self {
        let texts = result.blocks.iter().filter_map(|block| match &block.says {
            Says::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let texts: Vec<_> = texts.collect();
        Self { block, failed: result.failed, is_text: texts.len() == result.blocks.len(), text: texts.join("\n") }
    }
}

/// Reads the rounds of a transcript. `conversation` is the same body, lifted.
pub(super) fn rounds(
    dialect: &Dialect,
    transcript: &Transcript<'_>,
    pairing: &Pairing,
    conversation: &Conversation,
) -> Vec<Round> {
    let blocks = conversation.messages.iter().flat_map(|message| &message.blocks);
    let lifted: HashMap<&str, &Says> = blocks.map(|block| (block.pointer.as_str(), &block.says)).collect();
    let says = |block: BlockIndex| {
        let content = transcript.block(block);
        let place = Place { message: Some(content.message), block: Some(block), span: content.span };
        lifted.get(dialect.pointer(transcript, &place).as_str()).copied()
    };
    let mut rounds: Vec<Round> = Vec::new();
    let (mut begins_turn, mut is_open) = (true, false);
    for (index, message) in transcript.enumerate() {
        let mut has_text = false;
        for (block, content) in transcript.blocks_of(index) {
            match &content.kind {
                BlockKind::Call(call) => {
                    let Some(Says::Call(lifted)) = says(block) else { continue };
                    let matched = pairing.call(block).and_then(|call| call.matched);
                    let result = matched.and_then(|matched| match says(matched.result)? {
                        Says::Result(result) => Some(ResultOfRound::new(matched.result, result)),
                        _ => None,
                    });
                    let name = transcript.name(call.tool).unwrap_or_default();
                    let call = CallOfRound::new(block, name, lifted, result);
                    match rounds.last_mut().filter(|_| is_open && !begins_turn) {
                        Some(round) => round.calls.push(call),
                        None => rounds.push(Round { begins_turn, calls: vec![call] }),
                    }
                    (begins_turn, is_open) = (false, true);
                }
                BlockKind::Result(_) => is_open = false,
                BlockKind::Text(_) => has_text = true,
                BlockKind::ServerCall(_)
                | BlockKind::ServerResult(_)
                | BlockKind::Reasoning { .. }
                | BlockKind::Media
                | BlockKind::Opaque => {}
            }
        }
        begins_turn |= has_text && message.role == Role::User;
    }
    rounds
}

/// The schemas of the tools that a request declares. A tool that is called and not declared takes any arguments: the
/// client may have declared it in an earlier request.
pub(super) fn schemas(conversation: &Conversation, rounds: &[Round]) -> ToolSchemas {
    let mut tools = ToolSchemas::new();
    // A schema that cannot be used leaves the tool without one.
    for call in rounds.iter().flat_map(|round| &round.calls) {
        if !tools.knows(&call.name) {
            let _ = tools.add(&call.name, None);
        }
    }
    for tool in &conversation.settings.tools {
        let _ = tools.add(&tool.name, tool.schema.as_deref());
    }
    tools
}

/// The text of a call's arguments, as the model wrote it.
fn arguments(call: &LiftedCall) -> String {
    let raw = || match serde_json::from_str(&call.input).ok()? {
        serde_json::Value::Object(mut members) if members.len() == 1 => match members.remove(RAW)? {
            serde_json::Value::String(text) => Some(text),
            _ => None,
        },
        _ => None,
    };
    let raw = if call.whole { None } else { raw() };
    raw.unwrap_or_else(|| call.input.clone())
}

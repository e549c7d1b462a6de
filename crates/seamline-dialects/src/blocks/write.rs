//! The functions with which a dialect writes blocks.

use seamline_model::conversation::{LiftedBlock, LiftedMessage, LiftedResult, Media, Reasoning, Says, Speaker};
use seamline_model::{BlockKind, EMPTY_TEXT, Emptiness, Role, Span};

use crate::beside::{has_more, is_compound, words};
use crate::fenced::Fenced;
use crate::json::{Json, Kind, Value, list, member, object, quoted};
use crate::members::is_hollow;
use crate::reading::emptiness;
use crate::results::{AnsweredCall, synthetic, written};
use crate::rewriting::{set_member, unreadable_text};

/// A span and the text that replaces it.
pub(crate) type Patch = (Span, String);

/// The names of the members of messages, calls and results.
pub(crate) struct Keys {
    /// A message's list of blocks.
    pub(crate) content: &'static str,
    /// The id of a call.
    pub(crate) call_id: &'static str,
    /// The id of the call that a result answers.
    pub(crate) result_id: &'static str,
    /// A tool's name.
    pub(crate) name: &'static str,
    /// A call's input.
    pub(crate) input: &'static str,
    /// The content of a result.
    pub(crate) output: &'static str,
    /// The members of a result that its text shows.
    pub(crate) shown: &'static [&'static str],
    /// The other members of a result that every reader knows.
    pub(crate) result_known: &'static [&'static str],
    /// The members of a block that hold a call or result, in each spelling, if the block itself does not.
    pub(crate) wrappers: &'static [&'static str],
}

/// The writer of a dialect's blocks.
pub(crate) trait Blocks: Sync {
    /// The names of its members.
    fn keys(&self) -> &'static Keys;

    /// The name of a role.
    fn role_name(&self, role: Role) -> &'static str {
        match role {
            Role::Assistant => "assistant",
            Role::System | Role::Developer => "system",
            Role::User | Role::Tool | Role::Function | Role::Unknown => "user",
        }
    }

    /// A block of text.
    fn text<'a>(&self, text: Json<'a>) -> Json<'a>;

    /// A text as the content of a message.
    fn text_content<'a>(&self, text: Json<'a>) -> Json<'a> {
        list(vec![self.text(text)])
    }

    /// A call with this input.
    fn call<'a>(&self, id: &str, name: &str, input: Json<'a>) -> Json<'a>;

    /// A result.
    fn result(&self, result: &LiftedResult) -> Json<'static>;

    /// The result of a call that a host answers.
    fn answered_call(&self, answered: &AnsweredCall<'_>) -> Json<'static> {
        self.result(&answered.result())
    }

    /// A synthetic result for a call, which is given as its block and its id.
    fn made_up_result(&self, _call: Value<'_, '_>, id: &str, text: &str) -> Json<'static> {
        self.result(&synthetic(id, None, text))
    }

    /// Reasoning that the dialect's models gave, if there is a block for it.
    fn thought(&self, _reasoning: &Reasoning) -> Option<Json<'static>> {
        None
    }

    /// Media, if there is a block for them.
    fn shown(&self, _media: &Media) -> Option<Json<'static>> {
        None
    }

    /// The content of a message of a conversation.
    fn content(&self, blocks: &[LiftedBlock]) -> Json<'static> {
        list(blocks.iter().filter_map(|said| block(self, said)).collect())
    }

    /// The patches that let a result answer a call with this id. Both are given by their
    /// members, the call only if it is known.
    fn addressed(&self, result: Value<'_, '_>, id: &str, _call: Option<Value<'_, '_>>) -> Vec<Patch> {
        set_member(result, self.keys().result_id, &quoted(id)).into_iter().collect()
    }

    /// The text of a part of a result, if it is a text part.
    fn part_text<'d, 'a>(&self, part: Value<'d, 'a>) -> Option<Value<'d, 'a>>;

    /// The content of a result in its proper form: without empty text, and `text` when nothing
    /// is left.
    fn filled(&self, output: Option<Value<'_, '_>>, text: &str) -> String;

    /// A part of a result as a block of a message.
    fn part_as_block<'a>(&self, part: Value<'_, 'a>) -> Json<'a> {
        Json::Raw(part.raw())
    }

    /// The content of a result as blocks of a message, between marks.
    fn kept<'a>(&self, result: Value<'_, 'a>, fenced: &Fenced) -> Vec<Json<'a>> {
        let output = result.object().and_then(|members| members.get(self.keys().output));
        kept_parts(self, output, fenced)
    }

    /// The result that closes a call of the provider's own tools, where there is such.
    fn server_result<'a>(&self, _kind: &BlockKind, _value: Value<'_, 'a>) -> Option<Json<'a>> {
        None
    }

    /// The text of a reasoning block, if it has one.
    fn reasoning<'d, 'a>(&self, _block: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
        None
    }

    /// The patches that put a signature on a call.
    fn signed(&self, _call: Value<'_, '_>, _signature: &str) -> Vec<Patch> {
        Vec::new()
    }

    /// The member of the body that declares tools of these names, where it can be missed.
    fn declaration<'a>(&self, _names: &[String]) -> Option<(&'static str, Json<'a>)> {
        None
    }
}

/// Writes a message with this content.
pub(super) fn message<'j>(blocks: &dyn Blocks, role: Role, content: Json<'j>) -> Json<'j> {
    object([member("role", blocks.role_name(role)), (blocks.keys().content, content)])
}

/// Writes a message of a conversation.
pub(crate) fn said(blocks: &dyn Blocks, message: &LiftedMessage) -> Json<'static> {
    let role = match message.speaker {
        Speaker::Assistant => Role::Assistant,
        Speaker::User => Role::User,
        Speaker::System => Role::System,
    };
    self::message(blocks, role, blocks.content(&message.blocks))
}

/// Writes a block of a conversation. Blocks that only another dialect knows are left out.
pub(crate) fn block(blocks: &(impl Blocks + ?Sized), block: &LiftedBlock) -> Option<Json<'static>> {
    match &block.says {
        Says::Text(text) | Says::Refusal(text) => Some(blocks.text(Json::Text(text.clone()))),
        Says::Call(call) => Some(blocks.call(&call.id, &call.name, Json::Written(call.input.clone()))),
        Says::Result(result) => Some(blocks.result(result)),
        Says::Reasoning(reasoning) => blocks.thought(reasoning),
        Says::Media(media) => blocks.shown(media),
        Says::Opaque(_) => None,
    }
}

/// Writes the message with the results of calls.
pub(crate) fn results(blocks: &dyn Blocks, results: &[AnsweredCall<'_>]) -> Vec<String> {
    let results = results.iter().map(|result| blocks.answered_call(result)).collect();
    vec![written(&message(blocks, Role::User, list(results)))]
}

/// The value that holds the members of a call or result.
pub(crate) fn fields_of<'d, 'a>(keys: &Keys, block: Value<'d, 'a>) -> Value<'d, 'a> {
    let inner = |members: crate::json::Object<'d, 'a>| keys.wrappers.iter().find_map(|key| members.get(key));
    block.object().and_then(inner).unwrap_or(block)
}

/// Whether a part of a result is a text with nothing in it.
fn is_empty_text(blocks: &(impl Blocks + ?Sized), part: Value<'_, '_>) -> bool {
    blocks.part_text(part).is_some_and(|text| emptiness(text) != Emptiness::Present)
}

/// Whether a part of a result may be left out: a text with nothing in it and nothing beside it.
fn says_nothing(blocks: &(impl Blocks + ?Sized), part: Value<'_, '_>) -> bool {
    is_empty_text(blocks, part) && !has_more(part)
}

/// Whether a part of a result is a call or a result itself. As a block it would have to be
/// put right again, one layer after the other.
fn is_pair(keys: &Keys, part: Value<'_, '_>) -> bool {
    part.object().is_some_and(|members| {
        keys.wrappers.iter().any(|key| members.get(key).is_some())
            || members.get("type").is_some_and(|kind| kind.says("tool_use") || kind.says("tool_result"))
    })
}

/// The content of a result as blocks of a message, for dialects where it is a string or a list of parts. Calls and
/// results among them are kept as their source.
fn kept_parts<'a>(blocks: &(impl Blocks + ?Sized), output: Option<Value<'_, 'a>>, fenced: &Fenced) -> Vec<Json<'a>> {
    let part = |part: Value<'_, 'a>| {
        if is_pair(blocks.keys(), part) || is_empty_text(blocks, part) {
            blocks.text(Json::Text(part.raw().to_owned()))
        } else {
            blocks.part_as_block(part)
        }
    };
    match output.map(|output| (output, output.kind())) {
        Some((output, Kind::String)) => vec![blocks.text(fenced.string(output))],
        Some((output, Kind::Array)) if output.elements().all(is_word) => {
            let lines: Vec<_> = output.elements().filter(|part| !part.is(Kind::Null)).map(words).collect();
            vec![blocks.text(fenced.lines(&lines))]
        }
        Some((output, Kind::Array)) => {
            let parts = output.elements().filter(|part| !says_nothing(blocks, *part)).map(part);
            fenced.blocks(parts, |text| blocks.text(text))
        }
        Some((output, kind)) if kind != Kind::Null => vec![blocks.text(fenced.text(output.raw()))],
        _ => vec![blocks.text(fenced.nothing())],
    }
}

/// Whether a part of a result is one word or empty, so that it is a line of a text and not a block.
fn is_word(part: Value<'_, '_>) -> bool {
    !is_compound(part) || is_hollow(part)
}

/// The parts of a result without empty text, of which only the other members are kept, for dialects where it is a string or a list of parts. An unreadable
/// content is returned as its source.
pub(crate) fn listed(
    blocks: &(impl Blocks + ?Sized),
    output: Option<Value<'_, '_>>,
    as_part: impl Fn(Value<'_, '_>) -> String,
) -> Result<Vec<String>, String> {
    let Some(output) = output else { return Ok(Vec::new()) };
    if let Some(kept) = unreadable_text(output) {
        return Err(kept);
    }
    let kept_part = |part: Value<'_, '_>| {
        if is_empty_text(blocks, part) {
            written(&blocks.text(Fenced::of(EMPTY_TEXT, part).text(part.raw())))
        } else {
            as_part(part)
        }
    };
    Ok(output.elements().filter(|part| !says_nothing(blocks, *part)).map(kept_part).collect())
}

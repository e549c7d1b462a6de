//! What the dialects share when a body is lifted.

use seamline_model::conversation::{
    Answer, Block, Call, Conversation, Fate, Lost, Message, Opaque, Says, Speaker, ToolDefinition,
};

use super::failure;
use crate::json::{Document, Kind, Value, quoted};
use crate::reader::unreadable;
use crate::rewriting::input_object;
use crate::{Error, Position};

/// What a tool takes that takes any text.
const FREE_SCHEMA: &str = r#"{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}"#;

/// A conversation while it is lifted out of a body.
#[derive(Default)]
pub(crate) struct Lifting {
    pub(crate) conversation: Conversation,
}

impl Lifting {
    /// The body as JSON.
    pub(crate) fn document(body: &[u8]) -> Result<Document<'_>, Error> {
        let text = std::str::from_utf8(body).map_err(|error| {
            let offset = error.valid_up_to();
            Error::NotUtf8 { offset, position: Position::of(body, offset) }
        })?;
        Document::read(text).map_err(|syntax| unreadable(body, syntax))
    }

    /// The list of messages and where it stands: a member of the body, or the body itself.
    pub(crate) fn list<'d, 'a>(
        document: &'d Document<'a>,
        dialect: &'static str,
        key: &'static str,
    ) -> Result<(Value<'d, 'a>, String), Error> {
        let root = document.root();
        let wrong = |found| Err(Error::Envelope { dialect, found });
        match root.kind() {
            Kind::Array => Ok((root, String::new())),
            Kind::Object => match member(root, key) {
                Some(list) if matches!(list.kind(), Kind::Array | Kind::String) => Ok((list, format!("/{key}"))),
                Some(other) => wrong(format!("`{key}` is {}, not a list", other.kind().as_str())),
                None => wrong(format!("there is no `{key}`")),
            },
            other => wrong(other.as_str().to_owned()),
        }
    }

    /// Notes that something is left out.
    pub(crate) fn left(&mut self, what: impl Into<String>, pointer: impl Into<String>, note: &str) {
        self.lost(what, pointer, Fate::Dropped, note);
    }

    /// Notes that something is not as it was.
    pub(crate) fn lost(&mut self, what: impl Into<String>, pointer: impl Into<String>, fate: Fate, note: &str) {
        let lost = Lost { what: what.into(), pointer: pointer.into(), fate, note: note.to_owned() };
        self.conversation.left.push(lost);
    }

    /// Notes a member of the body, or of a group of settings in it, that has no counterpart.
    pub(crate) fn unknown_setting(&mut self, pointer: &str) {
        let name = pointer.trim_start_matches('/').replace('/', ".");
        self.left(format!("setting `{name}`"), pointer, "it has no counterpart");
    }

    /// Notes where a setting stood, if it is one that somebody may have no room for.
    pub(crate) fn placed(&mut self, pointer: &str) {
        let name = match pointer.rsplit('/').next() {
            Some("model" | "modelId") => "model",
            Some("stop" | "stop_sequences" | "stopSequences") => "stop",
            Some("tool_choice" | "toolChoice" | "toolConfig" | "tool_config") => "tool_choice",
            Some("stream") => "stream",
            _ => return,
        };
        self.conversation.settings.pointers.insert(name, pointer.to_owned());
    }

    /// Notes the members of an object that nobody knows.
    pub(crate) fn strangers(&mut self, value: Value<'_, '_>, known: &[&str], pointer: &str) {
        for (key, member) in value.members() {
            let name = key.name();
            if !member.is(Kind::Null) && !known.contains(&&*name) {
                self.left(format!("member `{name}`"), format!("{pointer}/{name}"), "it has no counterpart");
            }
        }
    }

    /// A message, if it says anything.
    pub(crate) fn push(&mut self, speaker: Speaker, blocks: Vec<Block>) {
        if blocks.is_empty() {
            return;
        }
        // What the system says before anybody else stands before the conversation.
        if speaker == Speaker::System && self.conversation.messages.is_empty() {
            self.conversation.system.extend(blocks);
        } else {
            self.conversation.messages.push(Message { speaker, blocks });
        }
    }

    /// A result joins those right before it.
    pub(crate) fn push_result(&mut self, result: Block) {
        match self.conversation.messages.last_mut() {
            Some(last) if last.blocks.iter().all(|block| matches!(block.says, Says::Result(_))) => {
                last.blocks.push(result);
            }
            _ => self.conversation.messages.push(Message { speaker: Speaker::User, blocks: vec![result] }),
        }
    }

    /// A call. Input that is no object is wrapped into one, and that is noted.
    pub(crate) fn call(&mut self, id: String, name: String, input: Option<Value<'_, '_>>, pointer: &str) -> Block {
        let input = self.input(input, pointer);
        Block::new(Says::Call(Call { id, name, input, seal: None }), pointer)
    }

    /// A call of a tool that takes any text.
    pub(crate) fn free_call(&mut self, id: String, name: String, text: &str, pointer: &str) -> Block {
        self.lost("call of a tool that takes any text", pointer, Fate::Altered, "the text is the member `input` now");
        let input = format!("{{\"input\":{}}}", quoted(text));
        Block::new(Says::Call(Call { id, name, input, seal: None }), pointer)
    }

    /// A tool that takes any text.
    pub(crate) fn free_tool(&mut self, tool: Value<'_, '_>, pointer: String) {
        self.lost("tool that takes any text", &pointer, Fate::Altered, "the text is the member `input` now");
        self.tool(tool, "", pointer);
        if let Some(tool) = self.conversation.settings.tools.last_mut() {
            tool.schema = Some(FREE_SCHEMA.to_owned());
        }
    }

    fn input(&mut self, input: Option<Value<'_, '_>>, pointer: &str) -> String {
        let text = compact(&input_object(input));
        let is_wrapped = match input.map(Value::kind) {
            Some(Kind::String) => text.starts_with("{\"raw\":"),
            Some(Kind::Array | Kind::Number | Kind::True | Kind::False) => true,
            Some(Kind::Object | Kind::Null) | None => false,
        };
        let said = input.and_then(Value::str);
        if is_wrapped && said.is_none_or(|said| compact(&said) != text) {
            self.lost("input of a call", pointer, Fate::Altered, "it is no JSON object, so it is wrapped into one");
        }
        text
    }

    /// A result whose failure is a mark in its text.
    pub(crate) fn marked_result(id: String, mut blocks: Vec<Block>, pointer: &str) -> Block {
        let mut failed = false;
        if let Some(Block { says: Says::Text(text), .. }) = blocks.first_mut() {
            let (plain, is_failure) = failure::unmarked(text);
            (*text, failed) = (plain.to_owned(), is_failure);
        }
        Block::new(Says::Result(Answer { id, name: None, blocks, failed }), pointer)
    }

    /// A tool that may be called; nothing for a definition that names none.
    pub(crate) fn tool(&mut self, tool: Value<'_, '_>, schema: &str, pointer: String) {
        let Some(name) = string(tool, "name") else {
            return self.left("tool", pointer, "it is one of the provider's own, or has no name");
        };
        let schema = member(tool, schema).map(|schema| compact(schema.raw()));
        let description = string(tool, "description");
        self.conversation.settings.tools.push(ToolDefinition { name, description, schema, pointer });
    }
}

/// The sources of the values that JSON pointers lead to; nothing for those that lead nowhere.
pub fn sources<'b>(body: &'b [u8], pointers: &[&str]) -> Vec<Option<&'b str>> {
    let Ok(document) = Lifting::document(body) else { return vec![None; pointers.len()] };
    pointers.iter().map(|pointer| at(document.root(), pointer).map(Value::raw)).collect()
}

fn at<'d, 'a>(root: Value<'d, 'a>, pointer: &str) -> Option<Value<'d, 'a>> {
    pointer.split('/').skip(1).try_fold(root, |value, name| match value.kind() {
        Kind::Array => value.elements().nth(name.parse().ok()?),
        _ => member(value, name),
    })
}

/// The value of a key, unless it is `null`.
pub(crate) fn member<'d, 'a>(value: Value<'d, 'a>, key: &str) -> Option<Value<'d, 'a>> {
    value.object()?.get(key).filter(|value| !value.is(Kind::Null))
}

/// The value of the first of these keys that is there.
pub(crate) fn member_of<'d, 'a>(value: Value<'d, 'a>, keys: &[&str]) -> Option<Value<'d, 'a>> {
    keys.iter().find_map(|key| member(value, key))
}

/// What the string under a key says.
pub(crate) fn string(value: Value<'_, '_>, key: &str) -> Option<String> {
    Some(member(value, key)?.str()?.into_owned())
}

/// A number as it was written.
pub(crate) fn number(value: Value<'_, '_>) -> Option<String> {
    value.is(Kind::Number).then(|| value.raw().to_owned())
}

/// The texts of a list, or the one there is.
pub(crate) fn strings(value: Value<'_, '_>) -> Vec<String> {
    match value.str() {
        Some(text) => vec![text.into_owned()],
        None => value.elements().filter_map(Value::str).map(String::from).collect(),
    }
}

/// A block of text.
pub(crate) fn text(text: impl Into<String>, pointer: &str) -> Block {
    Block::new(Says::Text(text.into()), pointer)
}

/// A block that only its own dialect knows.
pub(crate) fn opaque(value: Value<'_, '_>, kind: &str, spoken: bool, pointer: &str) -> Block {
    let opaque = Opaque { kind: kind.to_owned(), raw: compact(value.raw()), spoken };
    Block::new(Says::Opaque(opaque), pointer)
}

/// JSON without the white space between its tokens.
pub(crate) fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut in_string, mut escaped) = (false, false);
    for char in json.chars() {
        if in_string {
            in_string = escaped || char != '"';
            escaped = char == '\\' && !escaped;
        } else if char.is_ascii_whitespace() {
            continue;
        } else {
            in_string = char == '"';
        }
        out.push(char);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn white_space_goes_but_for_what_stands_in_strings() {
        let json = "{\n  \"a b\" : [1.50, \" \\\" \\\\\" ],\t\"c\":\r null }";
        assert_eq!(compact(json), r#"{"a b":[1.50," \" \\"],"c":null}"#);
    }
}

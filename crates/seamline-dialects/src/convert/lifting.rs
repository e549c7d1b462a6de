//! Lifts a body into a conversation, for every dialect.

use seamline_model::conversation::{
    Conversation, Fate, LiftedBlock, LiftedCall, LiftedMessage, LiftedResult, Opaque, Says, Speaker,
};

use super::failure;
use super::rendering::is_result;
use crate::density::parts_max;
use crate::json::{Document, Kind, Value, quoted};
use crate::members::is_hollow;
use crate::reader::{Form as WireForm, unreadable};
use crate::rewriting::input_object;
use crate::{Error, Position, pointer};

/// The note for something that is not carried over, although another dialect might have it.
pub(crate) const NOT_CARRIED: &str = "it is not carried over";

/// Members of a message that mean nothing without others.
const QUIET: &[&str] = &["role", "type", "id", "status"];

/// The roles of most dialects.
const ROLES: &[(&str, Speaker)] =
    &[("user", Speaker::User), ("assistant", Speaker::Assistant), ("system", Speaker::System)];

/// The envelope of a dialect, for lifting. A setting is named by its path in the body, such as `inferenceConfig.topP`.
pub(crate) struct Form {
    /// The envelope as the reader of transcripts knows it.
    pub(crate) wire: WireForm,
    /// Members of the body that hold settings.
    pub(crate) groups: &'static [&'static str],
    /// Settings that are carried over unchanged, by their names in [`Settings::others`] and
    /// by their paths.
    ///
    /// [`Settings::others`]: seamline_model::conversation::Settings::others
    pub(crate) shared: &'static [(&'static str, &'static str)],
    /// Settings that every dialect has, by their paths here.
    pub(crate) usual: &'static [(&'static str, Usual)],
    /// Whether keys may be spelled as protocol buffers spell them.
    pub(crate) snake_too: bool,
    /// Reads a setting, and says whether the dialect knows it.
    pub(crate) setting: fn(&mut Lifting, &str, Value<'_, '_>, &str) -> bool,
}

/// A setting that every dialect has.
#[derive(Clone, Copy)]
pub(crate) enum Usual {
    Model,
    MaxTokens,
    Temperature,
    TopP,
    Stop,
    Stream,
}

/// A conversation while it is lifted out of a body.
#[derive(Default)]
pub(crate) struct Lifting {
    pub(crate) conversation: Conversation,
    /// The number of blocks so far, and the most that a body of this size may have.
    blocks: usize,
    blocks_max: usize,
    /// The number of losses that are not listed.
    pub(super) more_lost: usize,
}

impl Lifting {
    /// Lifts a body. `message` reads each entry of the list; an entry that it makes nothing of is kept as text.
    pub(crate) fn run(
        body: &[u8],
        form: &Form,
        mut message: impl FnMut(&mut Self, Value<'_, '_>, &str),
    ) -> Result<Conversation, Error> {
        let document = Self::document(body)?;
        let (list, base) = Self::list(&document, form)?;
        let mut lifting = Self { blocks_max: parts_max(body.len()), ..Self::default() };
        for (key, value) in lifting.last_members(document.root(), "") {
            if !key.says(form.wire.list) {
                lifting.setting(form, &key.name(), value, &pointer::joined("", &key.name()));
            }
        }
        if let Some(said) = list.str() {
            lifting.push(Speaker::User, vec![text(said, &base)]);
        }
        for (index, value) in list.elements().enumerate() {
            let pointer = format!("{base}/{index}");
            let before = lifting.said();
            if value.is(Kind::Object) {
                message(&mut lifting, value, &pointer);
            }
            if lifting.said() == before && says_something(value) {
                lifting.push(Speaker::User, vec![unread(value, &pointer)]);
            }
        }
        if lifting.blocks > lifting.blocks_max {
            return Err(Error::TooManyParts { parts: lifting.blocks, bytes: body.len() });
        }
        lifting.note_more_lost();
        Ok(lifting.conversation)
    }

    /// Lifts a body whose messages have a role and a `content` of blocks. `block` reads one block.
    pub(crate) fn run_blocks(
        body: &[u8],
        form: &Form,
        block: fn(&mut Self, Value<'_, '_>, &str) -> LiftedBlock,
    ) -> Result<Conversation, Error> {
        Self::run(body, form, |lifting, message, pointer| {
            let speaker = lifting.speaker(message, ROLES, pointer);
            lifting.note_unknown(message, &["role", "content"], pointer);
            let blocks = lifting.content(member(message, "content"), &format!("{pointer}/content"), block);
            lifting.push(speaker, blocks);
        })
    }

    /// Counts what has been read.
    fn said(&self) -> (usize, usize, usize, usize) {
        let Conversation { system, messages, left, .. } = &self.conversation;
        (system.len(), messages.len(), messages.last().map_or(0, |last| last.blocks.len()), left.len())
    }

    fn setting(&mut self, form: &Form, path: &str, value: Value<'_, '_>, pointer: &str) {
        if value.is(Kind::Null) {
            return;
        }
        let path = if form.snake_too { camel(path) } else { path.to_owned() };
        if let Some((_, usual)) = form.usual.iter().find(|(known, _)| *known == path) {
            return self.usual(*usual, value, pointer);
        }
        if (form.setting)(self, &path, value, pointer) {
            return;
        }
        if let Some((name, _)) = form.shared.iter().find(|(_, known)| *known == path) {
            return self.other(name, compact(value.raw()), pointer);
        }
        if !form.groups.contains(&path.as_str()) || !value.is(Kind::Object) {
            return self.note_dropped(format!("setting `{path}`"), pointer, NOT_CARRIED);
        }
        for (key, value) in self.last_members(value, pointer) {
            self.setting(form, &format!("{path}.{}", key.name()), value, &pointer::joined(pointer, &key.name()));
        }
    }

    fn usual(&mut self, usual: Usual, value: Value<'_, '_>, pointer: &str) {
        match usual {
            Usual::Model => {
                self.note_pointer("model", pointer);
                self.conversation.settings.model = self.word(value, pointer);
            }
            Usual::MaxTokens => self.conversation.settings.max_tokens = self.number(value, pointer),
            Usual::Temperature => self.conversation.settings.temperature = self.number(value, pointer),
            Usual::TopP => self.conversation.settings.top_p = self.number(value, pointer),
            Usual::Stop => {
                self.note_pointer("stop", pointer);
                self.conversation.settings.stop = self.words(value, pointer);
            }
            Usual::Stream => {
                self.note_pointer("stream", pointer);
                self.conversation.settings.stream = self.flag(value, pointer);
            }
        }
    }

    /// Parses the body as JSON.
    pub(super) fn document(body: &[u8]) -> Result<Document<'_>, Error> {
        let text = std::str::from_utf8(body).map_err(|error| {
            let offset = error.valid_up_to();
            Error::NotUtf8 { offset, position: Position::of(body, offset) }
        })?;
        Document::read(text).map_err(|syntax| unreadable(body, syntax))
    }

    /// Finds the list of messages and its pointer: a member of the body, or the body itself.
    fn list<'d, 'a>(document: &'d Document<'a>, form: &Form) -> Result<(Value<'d, 'a>, String), Error> {
        let root = document.root();
        let WireForm { dialect, list: key, .. } = form.wire;
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

    /// Finds the speaker of a message by its role. An unknown role is noted, and read as the user's.
    pub(crate) fn speaker(&mut self, value: Value<'_, '_>, roles: &[(&str, Speaker)], pointer: &str) -> Speaker {
        let role = member(value, "role");
        let known = roles.iter().find(|(name, _)| role.is_some_and(|role| role.says(name)));
        if let Some((_, speaker)) = known {
            return *speaker;
        }
        if role.is_some() {
            let note = "unknown role; the message becomes a user message";
            self.note_lost("role", format!("{pointer}/role"), Fate::Altered, note);
        }
        Speaker::User
    }

    /// Adds a message, if it has blocks.
    pub(crate) fn push(&mut self, speaker: Speaker, blocks: Vec<LiftedBlock>) {
        if blocks.is_empty() {
            return;
        }
        // System messages at the start belong before the conversation.
        if speaker == Speaker::System && self.conversation.messages.is_empty() {
            self.conversation.system.extend(blocks);
        } else {
            self.conversation.messages.push(LiftedMessage { speaker, blocks });
        }
    }

    /// Adds a result to the message of the results right before it, if there is one. Results come before all other
    /// blocks, so it is enough to look at the last block.
    pub(crate) fn push_result(&mut self, result: LiftedBlock) {
        match self.conversation.messages.last_mut() {
            Some(last) if last.blocks.last().is_some_and(is_result) => last.blocks.push(result),
            _ => self.conversation.messages.push(LiftedMessage { speaker: Speaker::User, blocks: vec![result] }),
        }
    }

    /// Reads the blocks of a content, which may be a string. A content or block of another type is kept unchanged.
    pub(crate) fn content(
        &mut self,
        content: Option<Value<'_, '_>>,
        pointer: &str,
        mut block: impl FnMut(&mut Self, Value<'_, '_>, &str) -> LiftedBlock,
    ) -> Vec<LiftedBlock> {
        let Some(content) = content else { return Vec::new() };
        if let Some(said) = content.str() {
            return vec![text(said, pointer)];
        }
        if !content.is(Kind::Array) {
            return (!is_hollow(content)).then(|| unread(content, pointer)).into_iter().collect();
        }
        let mut blocks = Vec::with_capacity(content.elements().count().min(self.blocks_max));
        for (index, value) in content.elements().enumerate() {
            self.blocks += 1;
            // The rest is not read: the whole body is refused.
            if self.blocks > self.blocks_max {
                break;
            }
            let pointer = format!("{pointer}/{index}");
            match value.kind() {
                Kind::Object => blocks.push(block(self, value, &pointer)),
                Kind::Null => {}
                _ => blocks.push(unread(value, &pointer)),
            }
        }
        blocks
    }

    /// Makes a call. Input that is not an object is wrapped in one, and that is noted.
    pub(crate) fn call(
        &mut self,
        id: String,
        name: String,
        input: Option<Value<'_, '_>>,
        pointer: &str,
    ) -> LiftedBlock {
        let (input, whole) = self.input(input, pointer);
        let call = LiftedCall { whole, ..LiftedCall::new(id, name, input) };
        LiftedBlock::new(Says::Call(Box::new(call)), pointer)
    }

    /// Makes a call of a tool that takes any text.
    pub(crate) fn free_call(id: String, name: String, text: String, pointer: &str) -> LiftedBlock {
        let input = format!("{{\"input\":{}}}", quoted(&text));
        let call = LiftedCall { free: Some(text), ..LiftedCall::new(id, name, input) };
        LiftedBlock::new(Says::Call(Box::new(call)), pointer)
    }

    /// Reads the input of a call as an object, and says whether it was one.
    fn input(&mut self, input: Option<Value<'_, '_>>, pointer: &str) -> (String, bool) {
        let text = compact(&input_object(input));
        let is_wrapped = match input.map(Value::kind) {
            Some(Kind::String) => text.starts_with("{\"raw\":"),
            Some(Kind::Array | Kind::Number | Kind::True | Kind::False) => true,
            Some(Kind::Object | Kind::Null) | None => false,
        };
        let said = input.and_then(Value::str);
        let was_object = !is_wrapped || said.is_some_and(|said| compact(&said) == text);
        if !was_object {
            self.note_lost(
                "input of a call",
                pointer,
                Fate::Altered,
                "it is not a JSON object, so it is wrapped into one",
            );
        }
        (text, was_object)
    }

    /// Makes a result whose failure is a mark in its text.
    pub(crate) fn marked_result(mut result: LiftedResult, pointer: &str) -> LiftedBlock {
        if let Some(LiftedBlock { says: Says::Text(text), .. }) = result.blocks.first_mut() {
            let (plain, is_failure) = failure::unmarked(text);
            *text = plain.to_owned();
            result.failed |= is_failure;
        }
        LiftedBlock::new(Says::Result(Box::new(result)), pointer)
    }
}

/// Whether a value holds anything beside a role, a type, an id or a status.
fn says_something(value: Value<'_, '_>) -> bool {
    match value.kind() {
        Kind::Object => value.members().any(|(key, member)| !QUIET.contains(&&*key.name()) && !is_hollow(member)),
        _ => !is_hollow(value),
    }
}

/// Writes the names of a path in camel case, as JSON spells them.
fn camel(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut after_line = false;
    for char in path.chars() {
        match char {
            '_' if !out.is_empty() && !out.ends_with('.') => after_line = true,
            char if std::mem::take(&mut after_line) => out.push(char.to_ascii_uppercase()),
            char => out.push(char),
        }
    }
    out
}

/// Finds the source text of the values that JSON pointers lead to. A pointer that leads nowhere gives nothing.
pub fn sources<'b>(body: &'b [u8], pointers: &[&str]) -> Vec<Option<&'b str>> {
    let Ok(document) = Lifting::document(body) else { return vec![None; pointers.len()] };
    pointers.iter().map(|at| pointer::resolve(document.root(), at).map(Value::raw)).collect()
}

/// The value of a key, unless it is `null`.
pub(crate) fn member<'d, 'a>(value: Value<'d, 'a>, key: &str) -> Option<Value<'d, 'a>> {
    value.object()?.get(key).filter(|value| !value.is(Kind::Null))
}

/// The value of the first of these keys that is there.
pub(crate) fn member_of<'d, 'a>(value: Value<'d, 'a>, keys: &[&str]) -> Option<Value<'d, 'a>> {
    keys.iter().find_map(|key| member(value, key))
}

/// Reads the string under a key.
pub(crate) fn string(value: Value<'_, '_>, key: &str) -> Option<String> {
    Some(member(value, key)?.str()?.into_owned())
}

/// A block of text.
pub(crate) fn text(text: impl Into<String>, pointer: &str) -> LiftedBlock {
    LiftedBlock::new(Says::Text(text.into()), pointer)
}

/// A block that only its own dialect knows.
pub(crate) fn opaque(value: Value<'_, '_>, kind: &str, spoken: bool, pointer: &str) -> LiftedBlock {
    let opaque = Opaque { kind: kind.to_owned(), raw: compact(value.raw()), spoken };
    LiftedBlock::new(Says::Opaque(Box::new(opaque)), pointer)
}

/// A value that the dialect does not know, kept unchanged.
pub(crate) fn unread(value: Value<'_, '_>, pointer: &str) -> LiftedBlock {
    let raw = value.str().map_or_else(|| compact(value.raw()), String::from);
    LiftedBlock::new(Says::Opaque(Box::new(Opaque { kind: String::new(), raw, spoken: true })), pointer)
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
    use super::{camel, compact};

    #[test]
    fn white_space_outside_strings_is_removed() {
        let json = "{\n  \"a b\" : [1.50, \" \\\" \\\\\" ],\t\"c\":\r null }";
        assert_eq!(compact(json), r#"{"a b":[1.50," \" \\"],"c":null}"#);
    }

    #[test]
    fn names_of_protocol_buffers_are_read_as_those_of_json() {
        assert_eq!(camel("generation_config.top_p"), "generationConfig.topP");
        assert_eq!(camel("generationConfig.topP"), "generationConfig.topP");
    }
}

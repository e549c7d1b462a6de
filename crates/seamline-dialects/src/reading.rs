//! Reads single values, for every dialect.

use std::borrow::Cow;

use seamline_model::{
    BesideText, BlockKind, ContentForm, Emptiness, FactKind, Field, Input, IrregularityKind, Listed, Parts, Role, Slot,
    UnreadableEntry,
};

use crate::beside::{has_more, is_compound};
use crate::ids::CONTENT_KEYS;
use crate::json::{Kind, Value, quoted};
use crate::members::is_hollow;
use crate::no_message::is_foreign_pair;
use crate::reader::Reader;
use crate::rewriting::leading_member;
use crate::unknown::is_new_item;

/// Texts longer than this are never taken for synthetic ones.
const SYNTHETIC_BYTES_MAX: usize = 512;

/// Finds out whether a string is empty, blank or neither.
pub(crate) fn emptiness(value: Value<'_, '_>) -> Emptiness {
    let raw = value.raw_str();
    if raw.is_empty() {
        return Emptiness::Empty;
    }
    match raw.trim_start().as_bytes().first() {
        None => Emptiness::Blank,
        // It starts with an escape, which may be white space too.
        Some(b'\\') => match value.str() {
            Some(text) if text.trim().is_empty() => Emptiness::Blank,
            _ => Emptiness::Present,
        },
        Some(_) => Emptiness::Present,
    }
}

/// Finds the text of a part, if it is a text part.
pub(crate) fn part_text<'d, 'a>(part: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    let part = part.object()?;
    part.get("type").filter(|kind| kind.says("text"))?;
    part.get("text").filter(|text| text.is(Kind::String))
}

/// Finds the text of a part, if the dialect calls it a text part.
pub(crate) type TextOf = for<'d, 'a> fn(Value<'d, 'a>) -> Option<Value<'d, 'a>>;

/// Finds out what the content of a result holds.
pub(crate) fn parts(content: Value<'_, '_>) -> Parts {
    parts_by(content, part_text)
}

/// Finds out what the content of a result holds, with a dialect's own test for text parts.
pub(crate) fn parts_by(content: Value<'_, '_>, text_of: TextOf) -> Parts {
    match content.kind() {
        Kind::String => Parts::Text,
        Kind::Null => Parts::Missing,
        Kind::Array => {
            let (mut has_blanks, mut has_texts, mut beside_text) = (false, false, None);
            for part in content.elements() {
                match text_of(part) {
                    Some(text) if emptiness(text) != Emptiness::Present => has_blanks = true,
                    Some(_) => has_texts = true,
                    None => beside_text = beside_text.max(Some(kind_of_part(part))),
                }
            }
            Parts::List(Listed::of(has_blanks, has_texts, beside_text))
        }
        _ => Parts::Unreadable,
    }
}

/// Tells media from parts of a type that no dialect has. A part without a type is known by its members.
fn kind_of_part(part: Value<'_, '_>) -> BesideText {
    match part.object().and_then(|part| part.get("type")).and_then(Value::str) {
        Some(kind) if !is_media_type(&kind) => BesideText::Unknown,
        _ => BesideText::Media,
    }
}

/// Reads a content that is a string or a single text part, if it is short. Synthetic texts are never long.
pub(crate) fn only_text<'a>(content: Value<'_, 'a>) -> Option<Cow<'a, str>> {
    only_text_by(content, part_text)
}

/// Reads such a content, with a dialect's own test for text parts.
pub(crate) fn only_text_by<'a>(content: Value<'_, 'a>, text_of: TextOf) -> Option<Cow<'a, str>> {
    let text = match content.kind() {
        Kind::String => content,
        Kind::Array => {
            let mut elements = content.elements();
            let first = elements.next().filter(|_| elements.next().is_none())?;
            text_of(first)?
        }
        _ => return None,
    };
    short(text)
}

/// Reads a string, unless it is too long to be synthetic.
pub(crate) fn short<'a>(text: Value<'_, 'a>) -> Option<Cow<'a, str>> {
    if text.raw_str().len() > SYNTHETIC_BYTES_MAX { None } else { text.str() }
}

/// Whether a block type is an image, a document, a sound or another medium.
pub(crate) fn is_media_type(kind: &str) -> bool {
    matches!(
        kind,
        "image"
            | "document"
            | "image_url"
            | "input_audio"
            | "audio"
            | "file"
            | "video"
            | "video_url"
            | "search_result"
            | "container_upload"
    )
}

/// Finds out in which form the input of a call is written.
pub(crate) fn input(value: Option<Value<'_, '_>>) -> Input {
    match value.map(Value::kind) {
        Some(Kind::Object) => Input::Object,
        Some(Kind::String) => Input::Text,
        Some(Kind::Null) => Input::Null,
        Some(_) => Input::Other,
        None => Input::Missing,
    }
}

/// Reads the content of a message: a text, or a list of blocks. `read` reads one block, and says whether the provider
/// signed it.
pub(crate) fn content<'a>(
    reader: &mut Reader<'a>,
    content: Option<Value<'_, 'a>>,
    mut read: impl FnMut(&mut Reader<'a>, Value<'_, 'a>) -> (BlockKind, bool),
) -> ContentForm {
    let body = body_of(content);
    match (body, content) {
        (ContentForm::Text, Some(text)) => {
            reader.block(text, Slot { field: Field::Whole, index: 0 }, BlockKind::Text(emptiness(text)));
        }
        (ContentForm::Blocks, Some(list)) => {
            for (index, element) in list.elements().enumerate() {
                reader.begin_block();
                let (kind, signed) = read(reader, element);
                if !element.is(Kind::Object) {
                    let found = element.kind().as_str();
                    reader.note(IrregularityKind::UnreadableBlock { found }, element.span());
                }
                if matches!(kind, BlockKind::Text(Emptiness::Empty | Emptiness::Blank)) && has_more(element) {
                    reader.fact(FactKind::Beside, "");
                }
                reader.signed_block(element, Slot { field: Field::Content, index: index as u32 }, kind, signed);
            }
        }
        _ => {}
    }
    body
}

/// Finds out in which form the content of a message is written.
pub(crate) fn body_of(content: Option<Value<'_, '_>>) -> ContentForm {
    match content.map(Value::kind) {
        Some(Kind::String) => ContentForm::Text,
        Some(Kind::Array) => ContentForm::Blocks,
        Some(Kind::Null) => ContentForm::Null,
        Some(_) => ContentForm::Unreadable,
        None => ContentForm::Missing,
    }
}

/// The content of a message under a name that another program or dialect gives it.
#[derive(Default)]
pub(crate) struct Elsewhere<'d, 'a>(Option<Value<'d, 'a>>);

impl<'d, 'a> Elsewhere<'d, 'a> {
    /// Takes a member that may be the content. The first of several such members is used.
    pub(crate) fn takes(&mut self, name: &str, member: Value<'d, 'a>) -> bool {
        let may_be =
            self.0.is_none() && CONTENT_KEYS.contains(&name) && (member.is(Kind::String) || member.is(Kind::Array));
        if may_be {
            self.0 = Some(member);
        }
        may_be
    }

    /// Whether there is such a member.
    pub(crate) fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// The content under its own name, or else under the other name, which is noted.
    pub(crate) fn or(
        self,
        content: Option<Value<'d, 'a>>,
        expected: &'static str,
        reader: &mut Reader<'_>,
    ) -> Option<Value<'d, 'a>> {
        match (content, self.0) {
            (Some(_), Some(other)) => reader.foreign_member(other),
            (None, Some(other)) => reader.foreign(other.key().span(), expected),
            (_, None) => {}
        }
        content.or(self.0)
    }
}

impl Reader<'_> {
    /// Finds the role of a message, given the role that the dialect read. A role under another name is noted, and so is
    /// an unknown one.
    pub(crate) fn role(
        &mut self,
        read: Role,
        said: Option<Value<'_, '_>>,
        message: Value<'_, '_>,
        called: fn(&str) -> Option<(Role, &'static str)>,
    ) -> Role {
        if read != Role::Unknown {
            return read;
        }
        if let Some(value) = said
            && let Some((role, expected)) = value.str().and_then(|name| called(&name))
        {
            self.note(IrregularityKind::ForeignRole { expected }, value.span());
            return role;
        }
        self.odd_value(said);
        let found = unreadable(message, said);
        if found.is_unknown() {
            // A role that is an object or a list is damage, not a role that a provider has added.
            self.set_unknown(message, found, !said.is_some_and(is_compound));
        } else {
            self.note(IrregularityKind::UnreadableMessage { found }, message.span());
        }
        Role::Unknown
    }
}

/// Names and ids.
impl Reader<'_> {
    /// Reads the name of a tool.
    pub(crate) fn tool_name<'a>(&mut self, name: Option<Value<'_, 'a>>) -> Option<Cow<'a, str>> {
        let read = name?.str();
        if read.is_none() {
            self.odd_value(name);
        }
        read
    }

    /// Notes a name, an id or a role that is a list or an object. A repair that writes another value has to keep or report
    /// it.
    pub(crate) fn odd_value(&mut self, value: Option<Value<'_, '_>>) {
        if let Some(value) = value.filter(|value| is_compound(*value) && !is_hollow(*value)) {
            self.fact(FactKind::OddValue, value.raw());
        }
    }
}

/// Values under the names of other programs and dialects.
impl Reader<'_> {
    /// Returns the value under the dialect's own key, else the one under a foreign key, and notes that key. It compares no
    /// names, because it runs for every call and result.
    #[inline]
    pub(crate) fn own_or_foreign<'d, 'a>(
        &mut self,
        own: Option<Value<'d, 'a>>,
        foreign: Option<Value<'d, 'a>>,
        expected: &'static str,
    ) -> Option<Value<'d, 'a>> {
        if let (None, Some(value)) = (own, foreign) {
            self.foreign(value.key().span(), expected);
        }
        own.or(foreign)
    }

    /// Reads the id under the dialect's own key, else the one under a foreign key, and notes that key.
    #[inline]
    pub(crate) fn own_or_foreign_id<'a>(
        &mut self,
        own: Option<Value<'_, 'a>>,
        foreign: Option<Value<'_, 'a>>,
        expected: &'static str,
    ) -> Option<Cow<'a, str>> {
        self.own_or_foreign(own, foreign, expected).and_then(|id| self.id(id))
    }

    /// Notes the key of a value if the dialect calls it `expected`.
    pub(crate) fn named<'d, 'a>(
        &mut self,
        value: Option<Value<'d, 'a>>,
        expected: &'static str,
    ) -> Option<Value<'d, 'a>> {
        let key = value?.key();
        if !key.says(expected) {
            self.foreign(key.span(), expected);
        }
        value
    }

    /// Reads an id, whose key the dialect calls `expected`.
    pub(crate) fn named_id<'a>(&mut self, id: Option<Value<'_, 'a>>, expected: &'static str) -> Option<Cow<'a, str>> {
        self.named(id, expected).and_then(|id| self.id(id))
    }
}

/// Texts in an irregular form.
impl Reader<'_> {
    /// Notes a block that is unknown here, and a call or result elsewhere.
    pub(crate) fn foreign_pair(&mut self, kind: &BlockKind, block: Value<'_, '_>) {
        if matches!(kind, BlockKind::Opaque) && is_foreign_pair(block) {
            self.note(IrregularityKind::ForeignBlock, block.span());
        }
    }

    /// Notes a text that is not a string. Its source is kept.
    pub(crate) fn wordless(&mut self, text: Value<'_, '_>) {
        let patch = Some((text.span(), quoted(text.raw())));
        self.note(IrregularityKind::WordlessText { patch, empty: false }, text.span());
    }

    /// Reads a block that should be a text but has another form, and notes why. Returns nothing when it is not a text
    /// at all. For dialects whose blocks have a `type`.
    pub(crate) fn odd_text(&mut self, block: Value<'_, '_>) -> Option<BlockKind> {
        let members = block.object()?;
        let text = members.get("text");
        match (members.get("type"), text) {
            (None, Some(text)) if text.is(Kind::String) => {
                let patch = Some(leading_member(block, "type", "\"text\""));
                self.note(IrregularityKind::WordlessText { patch, empty: false }, block.span());
                Some(BlockKind::Text(emptiness(text)))
            }
            (Some(kind), Some(text)) if text.is(Kind::String) && is_other_text(kind) => {
                self.note(IrregularityKind::ForeignType { expected: "text" }, kind.span());
                Some(BlockKind::Text(emptiness(text)))
            }
            (Some(kind), _) if !kind.says("text") => None,
            (_, Some(text)) if !text.is(Kind::Null) => {
                self.wordless(text);
                Some(BlockKind::Opaque)
            }
            (None, _) => None,
            (Some(_), text) => {
                let said = ["content", "value"].into_iter().find_map(|key| members.get(key));
                if let (None, Some(said)) = (text, said.filter(|said| said.is(Kind::String))) {
                    self.foreign(said.key().span(), "text");
                    return Some(BlockKind::Text(emptiness(said)));
                }
                let is_bare = |name: &str| matches!(name, "type" | "text" | "cache_control");
                let empty = block.members().all(|(key, value)| is_bare(&key.name()) || is_hollow(value));
                self.note(IrregularityKind::WordlessText { patch: None, empty }, block.span());
                Some(BlockKind::Opaque)
            }
        }
    }
}

/// Whether another dialect calls a text block so.
fn is_other_text(kind: Value<'_, '_>) -> bool {
    kind.says("input_text") || kind.says("output_text")
}

/// Describes a message that cannot be read.
fn unreadable(message: Value<'_, '_>, role: Option<Value<'_, '_>>) -> UnreadableEntry {
    match (message.kind(), role) {
        (Kind::Object, Some(_)) => UnreadableEntry::UnknownRole,
        (Kind::Object, None) if is_new_item(message) => UnreadableEntry::UnknownKind,
        (Kind::Object, None) => UnreadableEntry::NoRole,
        (other, _) => UnreadableEntry::Value(other.as_str()),
    }
}

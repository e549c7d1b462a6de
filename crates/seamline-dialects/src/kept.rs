//! Messages whose content is in members that no provider reads. Their content is kept as text.

use std::borrow::Cow;
use std::collections::HashSet;

use seamline_model::{Fence, Member, MessageIndex, Role, Span, Transcript};

use crate::fenced::Fenced;
use crate::ids::CONTENT_KEYS;
use crate::json::{Document, Json, Kind, Value, member, object, quoted};
use crate::rewriting::set_members;
use crate::splice::{MessageWriter, apply_patches};

/// The heading inside the marks around members that are kept as text.
const HEADING: &str = "other members of this message, kept as text";

/// Members that hold only the words of a message.
const WORDS: &[&str] = &["content", "text", "parts", "tool_plan", "message", "prompt", "output_text", "refusal"];

/// Writes a message whose unread members become its text. A member that is kept as text is removed, so that its
/// words are in the message once. `as_content` writes a text as content of the dialect, under `key`.
pub(crate) fn with_members_as_text(
    transcript: &Transcript<'_>,
    index: MessageIndex,
    key: &'static str,
    as_content: impl FnOnce(String) -> String,
) -> String {
    let span = transcript.message(index).span;
    let source = Document::part(transcript.source, span);
    let value = source.root();
    let kept = speaking(transcript, index, value);
    let content = match kept[..] {
        // A list of blocks under another name can be the content unchanged.
        [(name, list)] if list.is(Kind::Array) && CONTENT_KEYS.contains(&&*name.name()) => list.raw().to_owned(),
        _ => as_content(text_of(&kept)),
    };
    let holds_content = value.object().is_some_and(|members| members.get(key).is_some());
    let mut patches = Vec::new();
    let mut gone = HashSet::new();
    for (at, (name, member)) in kept.iter().enumerate() {
        if at == 0 && !holds_content {
            // The content takes the place of the first.
            patches.extend([(name.span(), quoted(key)), (member.span(), content.clone())]);
        } else {
            gone.insert(name.span());
        }
    }
    if holds_content {
        patches.extend(set_members(value, [(key, content)]));
    }
    let cuts = value.object().map(|members| members.cut_where(|name| gone.contains(&name.span()))).unwrap_or_default();
    patches.extend(cuts.into_iter().map(|span| (span, String::new())));
    apply_patches(transcript, span, &mut patches)
}

/// Writes the unread members of a message as a text, if there are any.
pub(crate) fn members_as_text(transcript: &Transcript<'_>, index: MessageIndex) -> Option<String> {
    let source = Document::part(transcript.source, transcript.message(index).span);
    let kept = speaking(transcript, index, source.root());
    (!kept.is_empty()).then(|| text_of(&kept))
}

/// Whether a message has unread members that may hold words.
pub(crate) fn speaks_elsewhere(transcript: &Transcript<'_>, index: MessageIndex) -> bool {
    transcript.members_of(index).iter().any(Member::speaks_for_message)
}

type Members<'d, 'a> = Vec<(Value<'d, 'a>, Value<'d, 'a>)>;

/// Finds the unread members of a message that hold words.
fn speaking<'d, 'a>(transcript: &Transcript<'_>, index: MessageIndex, message: Value<'d, 'a>) -> Members<'d, 'a> {
    members_where(transcript, index, message, |member| member.speaks_for_message() && !member.holds_media())
}

/// Finds the members of a message that hold media. They are useless as text.
pub(crate) fn media(transcript: &Transcript<'_>, index: MessageIndex) -> Vec<(String, String)> {
    let source = Document::part(transcript.source, transcript.message(index).span);
    let held = members_where(transcript, index, source.root(), Member::is_media_of_message);
    held.into_iter().map(|(name, member)| (name.name().into_owned(), member.raw().to_owned())).collect()
}

fn members_where<'d, 'a>(
    transcript: &Transcript<'_>,
    index: MessageIndex,
    message: Value<'d, 'a>,
    is_wanted: impl Fn(&Member) -> bool,
) -> Members<'d, 'a> {
    let wanted = transcript.members_of(index).iter().filter(|member| is_wanted(member));
    let wanted: HashSet<Span> = wanted.map(|member| member.key_span).collect();
    message.members().filter(|(name, _)| wanted.contains(&name.span())).collect()
}

fn text_of(kept: &[(Value<'_, '_>, Value<'_, '_>)]) -> String {
    if let [(name, member)] = kept
        && WORDS.contains(&&*name.name())
        && let Some(text) = member.str()
    {
        return text.into_owned();
    }
    let line = |(name, member): &(Value<'_, '_>, Value<'_, '_>)| [&name.name(), ": ", &*words(*member)].concat();
    let lines: Vec<_> = kept.iter().map(line).collect();
    let lines = lines.join("\n");
    Fence::around(HEADING, &lines).text(&lines)
}

/// The words of a member: those of a string or of parts that are only text, else its source.
pub(crate) fn words<'a>(member: Value<'_, 'a>) -> Cow<'a, str> {
    member.str().or_else(|| texts_of_parts(member).map(Cow::Owned)).unwrap_or(Cow::Borrowed(member.raw()))
}

/// The texts of a list of parts that hold nothing else, or of one such part, each on a line of its own. As JSON they would reach the model with
/// escapes.
fn texts_of_parts(list: Value<'_, '_>) -> Option<String> {
    let is_plain = |part: Value<'_, '_>| part.members().all(|(key, _)| matches!(&*key.name(), "type" | "text"));
    let text = |part: Value<'_, '_>| part.object().filter(|_| is_plain(part))?.get("text")?.str().map(Cow::into_owned);
    let only = Some(list)
        .filter(|list| list.object().is_some_and(|part| part.get("type").is_some_and(|kind| kind.says("text"))));
    let texts: Vec<String> = only.into_iter().chain(list.elements()).map(text).collect::<Option<_>>()?;
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The marks around a message whose role is unknown, with that role.
fn taken_in(message: Value<'_, '_>, heading: &str) -> Fenced {
    let fenced = Fenced::of(heading, message);
    let role = message.object().and_then(|members| members.get("role")).filter(|role| !role.is(Kind::Null));
    match role {
        Some(role) => fenced.with(&format!("\nrole: {}", role.str().unwrap_or(role.raw().into()))),
        None => fenced,
    }
}

/// Writes the content of a message whose role is unknown as content of the user, between marks. `text` writes a text
/// block of the dialect. Returns nothing for a value that is not an object.
pub(crate) fn as_user<'a>(
    message: Value<'_, 'a>,
    key: &'static str,
    heading: &str,
    text: impl Fn(Json<'a>) -> Json<'a>,
) -> Option<Json<'a>> {
    Some(taken_in(message, heading).content(message.object()?.get(key), text))
}

/// Writes a message whose role is unknown as a message of the user, for the dialects of `OpenAI`.
pub(crate) fn rewrite_as_user<'a>(
    writer: &MessageWriter<'_, '_>,
    transcript: &Transcript<'_>,
    value: Value<'_, 'a>,
    heading: &str,
    text: impl Fn(Json<'a>) -> Json<'a>,
) -> String {
    let role = Role::User.as_str();
    let Some(content) = as_user(value, "content", heading, text) else {
        return writer.render(&object([member("role", role), ("content", no_message(value, heading))]), 0);
    };
    let values = [("role", quoted(role)), ("content", writer.render(&content, 1))];
    apply_patches(transcript, value.span(), &mut set_members(value, values))
}

/// Writes a value that is not a message as the text of one.
pub(crate) fn no_message<'a>(value: Value<'_, '_>, heading: &str) -> Json<'a> {
    Fenced::of(heading, value).text(value.raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_text_parts_have_no_escapes_and_other_parts_stay_json() {
        let words_of = |json: &str| words(Document::read(json).unwrap().root()).into_owned();
        assert_eq!(words_of(r#"[{"text":"a \"b\""},{"type":"text","text":"c"}]"#), "a \"b\"\nc");
        assert_eq!(words_of(r#"[{"text":"a","cache":1}]"#), r#"[{"text":"a","cache":1}]"#);
        assert_eq!(words_of("[]"), "[]");
        assert_eq!(words_of(r#""a\nb""#), "a\nb");
    }
}

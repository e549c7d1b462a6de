//! Messages that are kept although nobody can read them as they stand.

use std::collections::HashSet;

use seamline_model::{MessageIndex, Span, Transcript};

use crate::ids::CONTENT_KEYS;
use crate::json::{Document, Json, Kind, Value, quoted};
use crate::rewriting::set_members;
use crate::splice::apply_patches;

/// The line above members that are kept as text.
const HEADING: &str = "[other members of this message, kept as text]";

/// Members that hold what was said and nothing else.
const WORDS: &[&str] = &["content", "text", "parts", "tool_plan", "message", "prompt", "output_text", "refusal"];

/// A message whose members that nobody reads are its text. They stand in it once: what is
/// kept as text goes as a member. `as_content` writes a text as content of the dialect, whose
/// member is `key`.
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
        // A list of blocks under another name is a content as it stands.
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
        patches.extend(set_members(value, &[(key, content)]));
    }
    let cuts = value.object().map(|members| members.cut_where(|name| gone.contains(&name.span()))).unwrap_or_default();
    patches.extend(cuts.into_iter().map(|span| (span, String::new())));
    apply_patches(transcript, span, &mut patches)
}

/// The members of a message that nobody reads, as a text, if there are any.
pub(crate) fn members_as_text(transcript: &Transcript<'_>, index: MessageIndex) -> Option<String> {
    let source = Document::part(transcript.source, transcript.message(index).span);
    let kept = speaking(transcript, index, source.root());
    (!kept.is_empty()).then(|| text_of(&kept))
}

/// Whether a message has members that nobody reads and that may say something.
pub(crate) fn speaks_elsewhere(transcript: &Transcript<'_>, index: MessageIndex) -> bool {
    transcript.members_of(index).iter().any(seamline_model::Member::speaks_for_message)
}

type Members<'d, 'a> = Vec<(Value<'d, 'a>, Value<'d, 'a>)>;

/// The members of a message that nobody reads and that say something in words.
fn speaking<'d, 'a>(transcript: &Transcript<'_>, index: MessageIndex, message: Value<'d, 'a>) -> Members<'d, 'a> {
    let speaking = transcript.members_of(index).iter().filter(|member| member.speaks_for_message());
    let speaking = speaking.filter(|member| !member.holds_media());
    let speaking: HashSet<Span> = speaking.map(|member| member.key_span).collect();
    message.members().filter(|(name, _)| speaking.contains(&name.span())).collect()
}

fn text_of(kept: &[(Value<'_, '_>, Value<'_, '_>)]) -> String {
    if let [(name, member)] = kept
        && WORDS.contains(&&*name.name())
        && let Some(text) = member.str()
    {
        return text.into_owned();
    }
    let mut text = HEADING.to_owned();
    for (name, member) in kept {
        let said = member.str().unwrap_or(member.raw().into());
        text.push_str(&["\n", &name.name(), ": ", &said].concat());
    }
    text
}

/// The line above a message of nobody known, with the role it has.
pub(crate) fn taken_in(message: Value<'_, '_>, heading: &str) -> String {
    let role = message.object().and_then(|members| members.get("role")).filter(|role| !role.is(Kind::Null));
    match role {
        Some(role) => format!("{heading}\nrole: {}", role.str().unwrap_or(role.raw().into())),
        None => heading.to_owned(),
    }
}

/// A message of nobody known as one of the user: under its heading, what it holds. `parts`
/// writes a list of blocks that starts with a text.
pub(crate) fn as_user<'a>(
    message: Value<'_, 'a>,
    key: &'static str,
    heading: &str,
    parts: impl FnOnce(String, Value<'_, 'a>) -> Json<'a>,
) -> Option<Json<'a>> {
    let heading = taken_in(message, heading);
    let content = message.object()?.get(key);
    Some(match content.map(|content| (content, content.kind())) {
        Some((text, Kind::String)) => Json::Joined(format!("{heading}\n"), text.raw_str()),
        Some((list, Kind::Array)) => parts(heading, list),
        Some((other, kind)) if kind != Kind::Null => Json::Text(format!("{heading}\n{}", other.raw())),
        _ => Json::Text(heading),
    })
}

/// What is no message at all, as the text of one.
pub(crate) fn no_message(value: Value<'_, '_>, heading: &str) -> String {
    format!("{heading}\n{}", value.raw())
}

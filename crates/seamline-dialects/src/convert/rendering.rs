//! Renders a conversation as a body, for every dialect.

use seamline_model::conversation::{LiftedBlock, LiftedMessage, Says, Settings};

use super::{Draft, Rendered, Target};
use crate::json::{Json, Style, list, member, object};

/// The members of an object that is written.
pub(crate) type Members<'a> = Vec<(&'static str, Json<'a>)>;

/// The list of messages, the last member of a body.
pub(crate) struct Entries<W> {
    /// The name of the list.
    pub(crate) key: &'static str,
    /// Entries before the messages.
    pub(crate) first: Vec<Json<'static>>,
    /// Writes a message as entries of the list.
    pub(crate) write: W,
}

/// Writes a body and collects the losses. Members of a group are given by their path, such as
/// `inferenceConfig.topP`. Each message is freed when it is written.
pub(crate) fn write_body<I: IntoIterator<Item = Json<'static>>>(
    mut draft: Draft,
    body: Members<'static>,
    entries: Entries<impl Fn(&LiftedMessage) -> I>,
    target: &Target<'_>,
) -> Rendered {
    let Entries { key, first, write } = entries;
    let messages = std::mem::take(&mut draft.messages).into_iter();
    let entries = first.into_iter().chain(messages.flat_map(|message| write(&message)));
    let mut text = String::new();
    Style::of(target.layout).write_with_list(&mut text, &grouped(body), (key, entries));
    let lost = draft.all_lost();
    Rendered { body: text, lost, ids: draft.ids, tools: draft.tools }
}

/// Puts the members of one group together, at the place of the first.
fn grouped(members: Members<'_>) -> Members<'_> {
    let mut out: Members<'_> = Vec::with_capacity(members.len());
    for (path, json) in members {
        let Some((group, key)) = path.split_once('.') else {
            out.push((path, json));
            continue;
        };
        let place = out.iter().position(|(name, _)| *name == group);
        match place.map(|place| &mut out[place].1) {
            Some(Json::Object(inner)) => inner.push((key, json)),
            _ => out.push((group, Json::Object(vec![(key, json)]))),
        }
    }
    out
}

/// A number as it was written, under a key, if there is one.
pub(crate) fn number<'a>(key: &'static str, value: Option<&String>) -> Option<(&'static str, Json<'a>)> {
    value.map(|number| (key, Json::Written(number.clone())))
}

/// Numbers that most dialects have, under their keys.
pub(crate) fn numbers<'a>(settings: &Settings, [max, temperature, top_p]: [&'static str; 3]) -> Members<'a> {
    let members = [
        number(max, settings.max_tokens.as_ref()),
        number(temperature, settings.temperature.as_ref()),
        number(top_p, settings.top_p.as_ref()),
    ];
    members.into_iter().flatten().collect()
}

/// Texts as a list.
pub(crate) fn strings<'a>(texts: &[String]) -> Json<'a> {
    list(texts.iter().cloned().map(Json::Text).collect())
}

/// A part that has a type and a text.
pub(crate) fn typed_text<'a>(kind: &'static str, text: &str) -> Json<'a> {
    object([member("type", kind), member("text", text)])
}

/// The text of a content that is one text and nothing else.
pub(crate) fn only_text<'b>(blocks: impl IntoIterator<Item = &'b LiftedBlock>) -> Option<&'b str> {
    let mut blocks = blocks.into_iter();
    match (blocks.next(), blocks.next()) {
        (Some(LiftedBlock { says: Says::Text(text), .. }), None) => Some(text),
        _ => None,
    }
}

/// Whether a block is a result.
pub(crate) fn is_result(block: &LiftedBlock) -> bool {
    matches!(block.says, Says::Result(_))
}

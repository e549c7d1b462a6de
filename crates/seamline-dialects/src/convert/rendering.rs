//! What the dialects share when a conversation is rendered.

use seamline_model::conversation::{Block, Says, Settings};

use super::{Draft, Rendered, Target};
use crate::json::{Json, Style, list, member, object};

/// The members of an object that is written.
pub(crate) type Members<'a> = Vec<(&'static str, Json<'a>)>;

/// A body and what became of the rest.
pub(crate) fn rendered(draft: Draft, body: Members<'_>, target: &Target<'_>) -> Rendered {
    let mut text = String::new();
    Style::of(target.layout).write(&mut text, &Json::Object(body), 0);
    Rendered { body: text, lost: draft.lost, ids: draft.ids, tools: draft.tools }
}

/// A number as it was written, under a key; nothing when there is none.
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
pub(crate) fn only_text(blocks: &[Block]) -> Option<&str> {
    match blocks {
        [Block { says: Says::Text(text), .. }] => Some(text),
        _ => None,
    }
}

/// Whether a block is a result.
pub(crate) fn is_result(block: &Block) -> bool {
    matches!(block.says, Says::Result(_))
}

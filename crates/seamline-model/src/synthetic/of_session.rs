//! Recognises the texts with which a session answers a call that did not run, or whose outcome is unknown. A text is
//! recognised only as a whole: a real result may quote the start of one.

/// A part of a text.
enum Part {
    /// Exactly these words.
    Is(&'static str),
    /// One of these wordings.
    OneOf(&'static [&'static str]),
    /// A tool's name, on one line.
    Name,
    /// The id of the call, in brackets. Only earlier versions wrote it.
    Id,
    /// The time of an event.
    Time,
    /// An idempotency key, which is one word.
    Word,
    /// A number of bytes.
    Count,
}

use crate::label;
use Part::{Count, Id, Is, Name, OneOf, Time, Word};

/// The longest name that is searched for, in bytes. Earlier versions wrote names without a limit.
const NAME_MAX: usize = 512;

/// The texts of every version. Earlier versions wrote "call" for "tool call".
const TEXTS: &[&[Part]] = &[
    &[
        OneOf(&["[synthetic] [outcome unknown] The tool call \"", "[synthetic] [outcome unknown] The call \""]),
        Name,
        Is("\""),
        Id,
        Is(" was started at "),
        Time,
        Is(", but the "),
        RUN,
        Is(
            " stopped before its result was recorded. It may have happened fully, partly, or not at all. Do not call it \
            again blindly: first check the state with a read-only tool, or ask the user. Idempotency key: ",
        ),
        Word,
        Is("."),
    ],
    &[
        NOT_EXECUTED,
        Name,
        Is("\""),
        Id,
        Is(" did not run: the "),
        RUN,
        Is(" stopped before it was started. You may issue it again."),
    ],
    &[NOT_EXECUTED, Name, Is("\""), Id, Is(" did not run: the run was stopped before it was started.")],
    &[
        OneOf(&["[synthetic] [no result] The tool call \"", "[synthetic] [no result] The call \""]),
        Name,
        Is("\""),
        Id,
        Is(" has no result: the "),
        RUN,
        Is(" stopped before one was recorded. It only reads, so you may issue it again."),
    ],
];

/// Earlier versions wrote "process".
const RUN: Part = OneOf(&["run", "process"]);

const NOT_EXECUTED: Part =
    OneOf(&["[synthetic] [not executed] The tool call \"", "[synthetic] [not executed] The call \""]);

/// The reason of a call that did not run because it names no tool.
pub const NAMELESS_CALL: &str = "it names no tool";
/// The reason of a call that did not run because a part of it is missing or its arguments cannot be read.
pub const BROKEN_CALL: &str = "the call is incomplete, or its arguments are not a JSON object";

/// The reasons why a session did not run a call, of every version.
const REASONS: &[&str] = &[
    NAMELESS_CALL,
    BROKEN_CALL,
    "the arguments are not valid JSON",
    concat!("it did not arrive whole, or its input is", " no JSON object"),
    concat!("its input is", " no JSON that every reader takes for the same"),
];

/// The advice after a reason.
const ADVICE: &[&str] = &[". You may call the tool again with complete arguments.", ". You may issue it again, whole."];

/// The first line of a result that was too large, before the number of bytes that follow it.
const TRUNCATED: &[Part] = &[
    OneOf(&["[synthetic] [result truncated] The tool call \"", "[synthetic] [result truncated] The call \""]),
    Name,
    Is("\""),
    Id,
    Is(" ran, but its result of "),
    Count,
    Is(" bytes was too large to keep. Do not call it again for the rest without a narrower request. The first "),
    Count,
    Is(" bytes of the result follow."),
];

/// The result of a call that must not run, for this reason. The model reads it.
pub fn not_run(tool: &str, why: &str) -> String {
    let tool = label(tool);
    format!(
        "[synthetic] [not executed] The tool call \"{tool}\" did not run: {why}. You may call the tool again with complete \
         arguments."
    )
}

/// Whether a session wrote a text in place of some result.
pub fn is_of_session(text: &str) -> bool {
    is_about(text, &About { id: None, is_tool: &|_| true })
}

/// Whether a session wrote a text in place of the result with this id, if `is_tool` knows the name of the tool in it. A text
/// about another call is one that a tool has printed, and its name may be the output.
pub fn is_of_session_about(text: &str, id: Option<&str>, is_tool: &dyn Fn(&str) -> bool) -> bool {
    is_about(text, &About { id: Some(id.unwrap_or_default()), is_tool })
}

/// The facts that a text may state about a call.
struct About<'a> {
    /// The id of the call, if it matters.
    id: Option<&'a str>,
    /// Whether a name is the one of its tool.
    is_tool: &'a dyn Fn(&str) -> bool,
}

impl About<'_> {
    /// Whether a variable part says this about the call.
    fn takes(&self, part: &Part, said: &str) -> bool {
        match part {
            Name => (self.is_tool)(said),
            Id => self.id.is_none_or(|id| said == id || said == label(id)),
            // A call without a name has an empty one; nothing else is ever empty.
            _ => !said.is_empty(),
        }
    }
}

fn is_about(text: &str, about: &About<'_>) -> bool {
    text.starts_with(super::MARK) && (TEXTS.iter().any(|parts| fits(text, parts, about)) || is_not_run(text, about))
}

/// Whether a session wrote a text that holds the start of a result.
pub fn is_truncated_result(text: &str) -> bool {
    let Some((head, start)) = text.split_once('\n') else { return false };
    let kept = head.strip_suffix(" bytes of the result follow.").and_then(|head| head.rsplit(' ').next());
    fits(head, TRUNCATED, &About { id: None, is_tool: &|_| true })
        && kept.and_then(|kept| kept.parse().ok()) == Some(start.len())
}

fn is_not_run(text: &str, about: &About<'_>) -> bool {
    let advised = ADVICE.iter().find_map(|advice| text.strip_suffix(advice));
    let reasoned = advised.and_then(|text| REASONS.iter().find_map(|reason| text.strip_suffix(reason)));
    reasoned.is_some_and(|text| fits(text, &[NOT_EXECUTED, Name, Is("\""), Id, Is(" did not run: ")], about))
}

/// Whether a text consists of these parts and nothing else. Fixed words follow every variable part.
fn fits(text: &str, parts: &[Part], about: &About<'_>) -> bool {
    match parts {
        [] => text.is_empty(),
        [Is(words), rest @ ..] => text.strip_prefix(words).is_some_and(|text| fits(text, rest, about)),
        [OneOf(words), rest @ ..] => {
            words.iter().any(|words| text.strip_prefix(words).is_some_and(|text| fits(text, rest, about)))
        }
        [Id, rest @ ..] => {
            let mut ids = after_id(text).filter(|(id, _)| about.takes(&Id, id));
            fits(text, rest, about) || ids.any(|(_, text)| fits(text, rest, about))
        }
        [variable, Is(words), rest @ ..] => {
            let longest = text.find(|char| !variable.holds(char)).unwrap_or(text.len()).min(NAME_MAX);
            let mut ends = text.match_indices(words).map(|(at, _)| at).take_while(|at| *at <= longest);
            ends.any(|at| about.takes(variable, &text[..at]) && fits(&text[at + words.len()..], rest, about))
        }
        _ => false,
    }
}

/// The ids in brackets that a text may begin with, each with the text after it; an id may hold brackets itself.
fn after_id(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let id = text.strip_prefix(" (").unwrap_or_default();
    let longest = id.find(char::is_control).unwrap_or(id.len()).min(NAME_MAX);
    let ends = id.match_indices(')').map(|(at, _)| at).take_while(move |at| *at <= longest);
    ends.map(move |at| (&id[..at], &id[at + 1..]))
}

impl Part {
    /// Whether a variable part may have this character.
    fn holds(&self, char: char) -> bool {
        match self {
            Is(_) | OneOf(_) | Id => false,
            Name => !char.is_control(),
            Time => char.is_ascii_digit() || "TZ-:.+".contains(char),
            Word => char.is_ascii_alphanumeric() || "-:._".contains(char),
            Count => char.is_ascii_digit(),
        }
    }
}

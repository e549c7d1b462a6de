//! Finds content filters and refusals: what was filtered, why, and what to do.
//!
//! A response is read by its shape: only the members where a provider reports how and why it ended, never the words of
//! the model or of a tool. Only an error is read as an error text. So prose about safety and a response that quotes a
//! filter are not filtered.

use seamline_model::{Assembled, Piece, Stop};
use serde_json::{Map, Value};

use crate::classify::{Failure, classify};
use crate::filters::{Beside, FAMILIES, Is, Sign};
use crate::kinds::{Class, Kind, content};
use crate::response::{chunks, error_in, is_response};

/// The part of an exchange that was filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilteredPart {
    /// The request, which includes earlier tool results.
    Request,
    /// The response; its unfinished text must be dropped.
    Response,
    /// The request or the response; the provider does not say which.
    Either,
    /// No filter: the model itself refused.
    Refusal,
}

impl FilteredPart {
    /// Returns its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
            Self::Either => "either",
            Self::Refusal => "refusal",
        }
    }

    fn kind(self) -> &'static Kind {
        match self {
            Self::Request => &content::CONTENT_FILTERED,
            Self::Response => &content::RESPONSE_FILTERED,
            Self::Either => &content::EITHER_FILTERED,
            Self::Refusal => &content::REFUSED,
        }
    }

    fn of(kind: &Kind) -> Self {
        let all = [Self::Request, Self::Response, Self::Refusal];
        all.into_iter().find(|part| part.kind() == kind).unwrap_or(Self::Either)
    }
}

/// A request or a response that a content filter or the model refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filtered {
    /// The part that was filtered.
    pub part: FilteredPart,
    /// The provider's category of the content, if it names one.
    pub category: Option<String>,
    /// The sentence of the provider or the model about it.
    pub said: Option<String>,
    /// The source of the sign, such as `GEM-14`.
    pub source: &'static str,
    /// Whether a retry is useless: true unless only the sampled response was filtered.
    pub is_retry_useless: bool,
    /// The meaning and the advice.
    pub kind: &'static Kind,
}

impl Filtered {
    fn new(part: FilteredPart, source: &'static str) -> Self {
        Self { part, category: None, said: None, source, is_retry_useless: true, kind: part.kind() }
    }
}

/// Finds out whether a response or an error was filtered or refused.
///
/// With a successful status the text is a response, and only the members about its ending are read. With another status
/// or none it is an error, unless it has the shape of a response.
///
/// ```
/// use seamline_guard::{Failure, FilteredPart, filter};
///
/// let body = r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}"#;
/// let found = filter(&Failure { status: Some(200), text: body, ..Failure::default() }).unwrap();
/// assert_eq!((found.part, found.category.as_deref()), (FilteredPart::Request, Some("PROHIBITED_CONTENT")));
/// assert!(found.is_retry_useless);
///
/// let body = r#"{"choices":[{"finish_reason":"stop","message":{"content":"\"blockReason\":\"SAFETY\" means..."}}]}"#;
/// assert_eq!(filter(&Failure { status: Some(200), text: body, ..Failure::default() }), None);
/// ```
pub fn filter(response: &Failure<'_>) -> Option<Filtered> {
    let went_well = response.status.is_some_and(|status| status < 400);
    let Ok(body) = serde_json::from_str::<Value>(response.text) else {
        return if went_well { None } else { by_error(response) };
    };
    if let Some(found) = chunks(&body).find_map(by_signs) {
        return Some(found);
    }
    let errors = chunks(&body).filter_map(error_in).find_map(|error| {
        let text = error.to_string();
        // Only the error is read: around it may be a part of a response.
        by_error(&Failure { text: &text, status: None, ..*response })
    });
    let is_response = went_well || chunks(&body).any(is_response);
    errors.or_else(|| if is_response { None } else { by_error(response) })
}

/// Finds out whether a message assembled from a stream was filtered or refused.
///
/// ```
/// use seamline_guard::{FilteredPart, filter_message};
/// use seamline_model::{Assembled, Ending, Stop};
///
/// let message = Assembled {
///     ending: Ending::Filtered,
///     stop: Some((Stop::Refusal, "refusal".to_owned())),
///     members: vec![("stop_details".to_owned(), r#"{"type":"refusal","category":"cyber"}"#.to_owned())],
///     blocks: Vec::new(),
///     nameless: Vec::new(),
///     usage: Vec::new(),
///     failure: None,
///     flaws: Vec::new(),
/// };
/// let found = filter_message(&message).unwrap();
/// assert_eq!((found.part, found.category.as_deref()), (FilteredPart::Refusal, Some("cyber")));
/// ```
pub fn filter_message(message: &Assembled) -> Option<Filtered> {
    let members = members(message);
    let by_failure = || {
        let text = message.failure.as_deref()?;
        filter(&Failure { text, ..Failure::default() })
    };
    let signs = by_signs(&members);
    // A blocked request has no response to stop, but streams use one stop reason for both.
    if signs.as_ref().is_some_and(|found| found.part == FilteredPart::Request) {
        return signs;
    }
    by_stop(message, &members).or(signs).or_else(by_failure).or_else(|| by_block(message))
}

/// Rebuilds the response object around a message.
fn members(message: &Assembled) -> Value {
    let read = |(name, json): &(String, String)| Some((name.clone(), serde_json::from_str(json).ok()?));
    Value::Object(message.members.iter().filter_map(read).collect::<Map<_, _>>())
}

fn by_stop(message: &Assembled, members: &Value) -> Option<Filtered> {
    let (stop, word) = message.stop.as_ref()?;
    let known = signs().find(|sign| is_stop(sign) && fits_word(&sign.is, word));
    let part = match (stop, known) {
        // The dialect's own meaning of a stop reason comes first.
        (Stop::Filter | Stop::Refusal, Some(sign)) => {
            let mut found = read(sign, members, &Trail { value: &Value::from(word.as_str()), steps: Vec::new() });
            found.said = found.said.or_else(|| refusal(message));
            return Some(found);
        }
        (Stop::Filter, None) => FilteredPart::Either,
        (Stop::Refusal, None) => FilteredPart::Refusal,
        _ => return None,
    };
    let category = (*stop == Stop::Filter).then(|| word.clone()).filter(|word| !word.is_empty());
    Some(Filtered { category, said: refusal(message), ..Filtered::new(part, "stop") })
}

fn by_block(message: &Assembled) -> Option<Filtered> {
    let said = refusal(message)?;
    Some(Filtered { said: Some(said), ..Filtered::new(FilteredPart::Refusal, "OAC-16") })
}

/// Returns the model's text of refusal.
fn refusal(message: &Assembled) -> Option<String> {
    let mut refusals = message.blocks.iter().filter(|block| block.piece == Piece::Refusal);
    refusals.find_map(|block| block.text().filter(|text| !text.is_empty())).map(str::to_owned)
}

fn by_error(failure: &Failure<'_>) -> Option<Filtered> {
    let verdict = classify(failure);
    let known = verdict.known.filter(|_| verdict.class == Class::Filter)?;
    let category = failed_check(failure.text);
    let found = Filtered::new(FilteredPart::of(known.kind), known.source);
    Some(Filtered { category, said: Some(verdict.said).filter(|said| !said.is_empty()), ..found })
}

/// Reads the check that xAI names in its sentence.
fn failed_check(text: &str) -> Option<String> {
    const NAME: &str = "SAFETY_CHECK_TYPE_";
    let check = &text[text.find(NAME)?..];
    let is_name = |char: char| char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_';
    let length = check.find(|char| !is_name(char)).unwrap_or(check.len());
    Some(check[..length].to_owned())
}

fn signs() -> impl Iterator<Item = &'static Sign> {
    FAMILIES.iter().flat_map(|signs| signs.iter())
}

/// Whether a sign is the stop reason of a response.
fn is_stop(sign: &Sign) -> bool {
    let name = sign.at.rsplit('/').next();
    matches!(
        name,
        Some("stop_reason" | "finish_reason" | "native_finish_reason" | "finishReason" | "stopReason" | "reason")
    )
}

fn by_signs(body: &Value) -> Option<Filtered> {
    signs().find_map(|sign| {
        let path: Vec<&str> = sign.at.split('/').skip(1).collect();
        find(body, &path, &mut Vec::new(), &sign.is).map(|found| read(sign, body, &found))
    })
}

/// A value in a response and the path to it.
struct Trail<'v> {
    value: &'v Value,
    /// Each object or list on the path, with the name of the next member.
    steps: Vec<(&'v Value, String)>,
}

/// Finds the first value at a path that fits a sign. The depth is bounded by our own paths.
fn find<'v>(value: &'v Value, path: &[&str], steps: &mut Vec<(&'v Value, String)>, is: &Is) -> Option<Trail<'v>> {
    let Some((name, rest)) = path.split_first() else {
        return fits(is, value).then(|| Trail { value, steps: steps.clone() });
    };
    let mut follow = |name: &str, next: &'v Value| {
        steps.push((value, name.to_owned()));
        let found = find(next, rest, steps, is);
        steps.pop();
        found
    };
    match (*name, value) {
        ("*", Value::Array(list)) => list.iter().find_map(|next| follow("", next)),
        ("*", Value::Object(members)) => members.iter().find_map(|(name, next)| follow(name, next)),
        (name, Value::Object(members)) => members.get(name).and_then(|next| follow(name, next)),
        _ => None,
    }
}

fn fits(is: &Is, value: &Value) -> bool {
    match is {
        Is::True => value == &Value::Bool(true),
        Is::Number(numbers) => value.as_i64().is_some_and(|number| numbers.contains(&number)),
        Is::Stop(_) | Is::Word(_) | Is::AnyWordBut(_) => value.as_str().is_some_and(|word| fits_word(is, word)),
    }
}

fn fits_word(is: &Is, word: &str) -> bool {
    match is {
        Is::Stop(stop) => Stop::of_word(word) == *stop,
        Is::Word(words) => words.contains(&word),
        Is::AnyWordBut(words) => !word.is_empty() && !words.contains(&word),
        Is::True | Is::Number(_) => false,
    }
}

fn read(sign: &Sign, body: &Value, found: &Trail<'_>) -> Filtered {
    let parent = found.steps.last().map(|(parent, _)| *parent);
    let text = |beside: Beside| match beside {
        Beside::Nowhere => None,
        Beside::Itself => found.value.as_str().map(str::to_owned),
        Beside::Name => found.steps.iter().rev().nth(1).map(|(_, name)| name.clone()),
        Beside::Member(name) => parent?.get(name)?.as_str().map(str::to_owned),
        Beside::At(place) => body.pointer(place)?.as_str().map(str::to_owned),
    };
    Filtered {
        category: text(sign.category).filter(|category| !category.is_empty()),
        said: text(sign.said).filter(|said| !said.is_empty()),
        is_retry_useless: !sign.may_pass,
        ..Filtered::new(sign.part, sign.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_reasons_of_filters_match_those_of_streams() {
        for sign in signs().filter(|sign| is_stop(sign)) {
            let Is::Word(words) = sign.is else { continue };
            for word in words {
                let stop = if sign.part == FilteredPart::Refusal { Stop::Refusal } else { Stop::Filter };
                assert_eq!(Stop::of_word(word), stop, "{word} at {}", sign.at);
            }
        }
    }
}

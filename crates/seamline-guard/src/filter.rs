//! Whether a content filter or the model itself refused: what, why, and what to do.
//!
//! An answer is read by its shape: only where a provider says how it ended or why, and never
//! in what the model wrote or a tool printed. Only what came instead of an answer is read as
//! an error text. So prose about safety, and an answer that quotes somebody's filter, is prose
//! and an answer.

use seamline_model::{Assembled, Piece, Stop};
use serde_json::{Map, Value};

use crate::answer::{chunks, error_in, is_answer};
use crate::classify::{Failure, classify};
use crate::filters::{Beside, FAMILIES, Is, Sign};
use crate::kinds::{Class, Kind, content};

/// What was filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilteredPart {
    /// What was asked, an earlier result among it.
    Request,
    /// What the model said; the unfinished answer is worth nothing.
    Answer,
    /// One of the two, and the provider does not say which.
    Either,
    /// Nothing: the model refused by itself.
    Refusal,
}

impl FilteredPart {
    /// Its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Answer => "answer",
            Self::Either => "either",
            Self::Refusal => "refusal",
        }
    }

    fn kind(self) -> &'static Kind {
        match self {
            Self::Request => &content::CONTENT_FILTERED,
            Self::Answer => &content::ANSWER_FILTERED,
            Self::Either => &content::EITHER_FILTERED,
            Self::Refusal => &content::REFUSED,
        }
    }

    fn of(kind: &Kind) -> Self {
        let all = [Self::Request, Self::Answer, Self::Refusal];
        all.into_iter().find(|part| part.kind() == kind).unwrap_or(Self::Either)
    }
}

/// A request, an answer or both that a content filter or the model refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filtered {
    /// What was filtered.
    pub part: FilteredPart,
    /// The provider's word for the sort of content, where it gives one.
    pub category: Option<String>,
    /// What the provider or the model said about it.
    pub said: Option<String>,
    /// Where the sign is known from, such as `GEM-14`.
    pub source: &'static str,
    /// Whether sending the same again is useless: true unless only what was sampled was filtered.
    pub again_is_useless: bool,
    /// What it means and what to do.
    pub kind: &'static Kind,
}

impl Filtered {
    fn new(part: FilteredPart, source: &'static str) -> Self {
        Self { part, category: None, said: None, source, again_is_useless: true, kind: part.kind() }
    }
}

/// Says whether what came back, answer or error, was filtered or refused.
///
/// With a status that went well the text is an answer, and is looked at only where its
/// provider says how it ended. With another status, or none, it is an error unless it has the
/// shape of an answer.
///
/// ```
/// use seamline_guard::{Failure, FilteredPart, filter};
///
/// let body = r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}"#;
/// let found = filter(&Failure { status: Some(200), text: body, ..Failure::default() }).unwrap();
/// assert_eq!((found.part, found.category.as_deref()), (FilteredPart::Request, Some("PROHIBITED_CONTENT")));
/// assert!(found.again_is_useless);
///
/// let body = r#"{"choices":[{"finish_reason":"stop","message":{"content":"\"blockReason\":\"SAFETY\" means..."}}]}"#;
/// assert_eq!(filter(&Failure { status: Some(200), text: body, ..Failure::default() }), None);
/// ```
pub fn filter(answer: &Failure<'_>) -> Option<Filtered> {
    let went_well = answer.status.is_some_and(|status| status < 400);
    let Ok(body) = serde_json::from_str::<Value>(answer.text) else {
        return if went_well { None } else { by_error(answer) };
    };
    if let Some(found) = chunks(&body).find_map(by_signs) {
        return Some(found);
    }
    let errors = chunks(&body).filter_map(error_in).find_map(|error| {
        let text = error.to_string();
        // The error alone: what stands around it may be half an answer.
        by_error(&Failure { text: &text, status: None, ..*answer })
    });
    let is_answer = went_well || chunks(&body).any(is_answer);
    errors.or_else(|| if is_answer { None } else { by_error(answer) })
}

/// Says whether a message that was put together from a stream was filtered or refused.
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
    // A request that was blocked stops no answer, though streams have one word for both.
    if signs.as_ref().is_some_and(|found| found.part == FilteredPart::Request) {
        return signs;
    }
    by_stop(message, &members).or(signs).or_else(by_failure).or_else(|| by_block(message))
}

/// The members of the response around a message, as the object they stood in.
fn members(message: &Assembled) -> Value {
    let read = |(name, json): &(String, String)| Some((name.clone(), serde_json::from_str(json).ok()?));
    Value::Object(message.members.iter().filter_map(read).collect::<Map<_, _>>())
}

fn by_stop(message: &Assembled, members: &Value) -> Option<Filtered> {
    let (stop, word) = message.stop.as_ref()?;
    let known = signs().find(|sign| is_stop(sign) && fits_word(&sign.is, word));
    let part = match (stop, known) {
        // Where the dialect says what its word means, nobody else's table does.
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

/// The text with which the model refuses.
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

/// The check that xAI names in its sentence.
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

/// Whether a sign is the word with which an answer ends.
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

/// Something in an answer, and how one comes to it.
struct Trail<'v> {
    value: &'v Value,
    /// Each object or list on the way, and the name under which the next one stands in it.
    steps: Vec<(&'v Value, String)>,
}

/// The first value at a place that is as the sign says. As deep as our own paths are long.
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
        again_is_useless: !sign.may_pass,
        ..Filtered::new(sign.part, sign.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_providers_are_those_that_streams_know() {
        for sign in signs().filter(|sign| is_stop(sign)) {
            let Is::Word(words) = sign.is else { continue };
            for word in words {
                let stop = if sign.part == FilteredPart::Refusal { Stop::Refusal } else { Stop::Filter };
                assert_eq!(Stop::of_word(word), stop, "{word} at {}", sign.at);
            }
        }
    }
}

//! Classifies errors of providers.

use std::cmp::Reverse;
use std::time::Duration;

use crate::errors::Family;
use crate::excerpt;
use crate::kinds::{Class, Kind, service};
use crate::known::{Known, Weight};
use crate::member::{self, NamedMember};
use crate::patterns::{self, Candidate};
use crate::place::NamedPlace;
use crate::reading::{self, Reading};
use crate::response;
use crate::views::Views;
use crate::wait;

/// A failed response.
///
/// Only the text is required; more fields make the verdict more certain.
#[derive(Debug, Clone, Copy, Default)]
pub struct Failure<'f> {
    /// The name of the provider, such as `anthropic` or `openrouter`.
    pub provider: Option<&'f str>,
    /// The dialect of the request, such as `openai_chat`.
    pub dialect: Option<&'f str>,
    /// The status of the response; for an error inside a stream, the status that the stream began with.
    pub status: Option<u16>,
    /// The names and values of the response's headers.
    pub headers: &'f [(&'f str, &'f str)],
    /// The body of the response, the error inside a stream, or a program's rendering of it.
    pub text: &'f str,
    /// When the response arrived, as the time since 1970. It is used for a wait until a date where the response has no
    /// `date` header.
    pub received_at: Option<Duration>,
}

impl<'f> Failure<'f> {
    /// Returns the value of a header; names are not case-sensitive.
    pub(crate) fn header(&self, name: &str) -> Option<&'f str> {
        let mut headers = self.headers.iter();
        headers.find(|(its_name, _)| its_name.eq_ignore_ascii_case(name)).map(|&(_, value)| value)
    }
}

/// The verdict on an error: its meaning and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// The class of the error, which says how the caller reacts to it.
    pub class: Class,
    /// How certain the verdict is.
    pub certainty: Certainty,
    /// The name of its kind; `unknown-error` if neither text nor status are known.
    pub name: &'static str,
    /// The known error that matched, with its kind and its source.
    pub known: Option<&'static Known>,
    /// The codes of the rules that find the cause in a body, the likeliest first.
    pub rules: &'static [&'static str],
    /// The meaning of the error, in a sentence.
    pub meaning: &'static str,
    /// The advice to the caller, in a sentence.
    pub advice: &'static str,
    /// The status of the response, or the one that its text names.
    pub status: Option<u16>,
    /// How long the provider asks to wait, if waiting helps.
    pub retry_after: Option<Duration>,
    /// Whether the provider wants a retry (`x-should-retry`), if it says so.
    pub should_retry: Option<bool>,
    /// Whether the provider or the connection took too long.
    pub timed_out: bool,
    /// The place in the request that the text names.
    pub place: NamedPlace,
    /// The members of the request that the text names as unknown, missing or wrong.
    pub members: Vec<NamedMember>,
    /// The provider's own sentence, without the wrapping.
    pub said: String,
}

/// How certain a verdict is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// Neither text nor status are known. The class is the cautious one.
    Guess,
    /// Only the status is known.
    Status,
    /// The text is a known error.
    Known,
}

impl Certainty {
    /// Returns its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Guess => "guess",
            Self::Status => "status",
            Self::Known => "known",
        }
    }
}

/// Classifies an error.
///
/// It unwraps errors: a gateway's error that holds the provider's error as a string, the output of an SDK, or a list
/// around it, up to [`LAYERS_MAX`](crate::LAYERS_MAX) layers. If the text is unknown, the status decides. If the status
/// has no clear meaning either, the verdict is `Fatal` and a guess: blind retries keep an agent stuck.
///
/// ```
/// use seamline_guard::{Class, Failure, classify};
///
/// let text = r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":
///   "{\"type\":\"error\",\"error\":{\"message\":\"messages.4.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_01.\"}}"}}}"#;
/// let verdict = classify(&Failure { provider: Some("openrouter"), text, ..Failure::default() });
/// assert_eq!(verdict.class, Class::Corruption);
/// assert_eq!(verdict.known.map(|known| known.source), Some("ANT-6"));
/// assert_eq!(verdict.rules[0], "PAIR002");
/// assert_eq!((verdict.place.message_index, verdict.place.block_index), (Some(4), Some(1)));
///
/// let text = "messages.3.content.0.foo: Extra inputs are not permitted";
/// let verdict = classify(&Failure { text, ..Failure::default() });
/// assert_eq!(verdict.members[0].name, "foo");
/// assert_eq!(verdict.members[0].pointer.as_deref(), Some("/messages/3/content/0/foo"));
/// ```
pub fn classify(failure: &Failure<'_>) -> Verdict {
    let views = Views::of(&response::strip_model_words(failure.text, failure.status));
    let status = reading::status(failure, &views);
    let by_status = Reading::of(status, failure);
    let (known, said) = if let Some((known, said)) = recognise(failure, &views, status, &by_status) {
        (Some(known), said)
    } else {
        let said = excerpt::innermost(views.outermost());
        let is_open = by_status.certainty == Certainty::Guess;
        (member::known(&said).filter(|_| is_open), said)
    };
    let Reading { kind, certainty } = known.map_or(by_status, Reading::known);
    let &Kind { name, class, meaning, advice, .. } = kind;
    let should_retry = reading::should_retry(failure);
    let members = member::named(kind, &said, &views);
    let may_pass = class == Class::Transient || class == Class::Fatal && should_retry == Some(true);
    Verdict {
        class,
        certainty,
        name,
        known,
        rules: known.map_or(&[], |known| known.kind.rules),
        meaning,
        advice,
        status,
        retry_after: may_pass.then(|| wait::of(failure, &views)).flatten(),
        should_retry,
        // A known text may say less than the status.
        timed_out: class == Class::Transient && [kind, by_status.kind].contains(&&service::TIMED_OUT),
        place: NamedPlace::of(&said).or_at(members.first().and_then(|member| member.pointer.as_deref())),
        members,
        said,
    }
}

/// Finds the known error that fits best, and its sentence.
fn recognise(
    failure: &Failure<'_>,
    views: &Views,
    status: Option<u16>,
    by_status: &Reading,
) -> Option<(&'static Known, String)> {
    let fitting: Vec<_> =
        views.iter().flat_map(|view| patterns::fitting(view).map(move |candidate| (view, candidate))).collect();
    let is_over = is_over(&fitting, failure, views);
    let is_refused = reading::is_refused(status, views);
    // The first of equal candidates is used: in the outermost view the sentence still has its quotes.
    let (view, best) = fitting
        .into_iter()
        .filter(|(_, candidate)| is_over || !candidate.known.is_final)
        .filter(|(_, candidate)| is_heard(candidate, by_status, failure.status, is_refused))
        .min_by_key(|(_, candidate)| {
            (Reverse(candidate.known.weight), distance(candidate.family, failure), candidate.index)
        })?;
    let said = match patterns::find(best, view) {
        Some(range) if best.known.weight == Weight::Sentence => {
            // Without escapes the end of a sentence with quotes is not visible.
            let is_it = |said: &str| patterns::find(best, said).is_some();
            excerpt::holding(views.outermost(), is_it).unwrap_or_else(|| excerpt::around(view, range.start))
        }
        // A code is beside the sentence, not in it.
        _ => excerpt::innermost(view),
    };
    Some((best.known, said))
}

/// Whether an exhausted limit stays exhausted: a code says so, or the provider does not say when to retry.
fn is_over(fitting: &[(&str, Candidate)], failure: &Failure<'_>, views: &Views) -> bool {
    let finals = || fitting.iter().filter(|(_, candidate)| candidate.known.is_final);
    let is_coded = |of: &Candidate| {
        fitting.iter().any(|(_, other)| other.known.weight == Weight::Code && other.known.kind == of.known.kind)
    };
    finals().any(|(_, candidate)| is_coded(candidate)) || !wait::is_asked(failure, views)
}

/// Whether a candidate counts. Broad words do not override a status with another meaning, nor an error that names the
/// request as wrong. After a 400 or 422 (X-1) only a candidate that is known with that status can be transient: the error
/// may quote a member called `timeout`.
fn is_heard(candidate: &Candidate, by_status: &Reading, status: Option<u16>, is_refused: bool) -> bool {
    let known = candidate.known;
    let is_broad = known.weight <= Weight::Broad;
    let is_refused = matches!(status, Some(400 | 422)) && known.usual_status != status || is_refused && is_broad;
    if is_refused && known.kind.class == Class::Transient {
        return false;
    }
    let agrees = by_status.certainty == Certainty::Guess || by_status.kind.class == known.kind.class;
    !is_broad || agrees
}

/// Ranks a family: the provider's own first, of these the one of the dialect; then the dialect's, then all others.
fn distance(family: &Family, failure: &Failure<'_>) -> u8 {
    let is_own = failure.provider.is_some_and(|provider| family.includes(provider));
    let is_of_dialect = failure.dialect.is_some_and(|dialect| family.dialects.contains(&dialect));
    match (is_own, is_of_dialect) {
        (true, true) => 0,
        (true, false) => 1,
        (false, true) => 2,
        (false, false) => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejected_request_is_not_transient_because_of_a_word_in_its_error() {
        for text in [
            "messages.5.content.1.tool_use.input.timeout: Input should be a valid number",
            "Unknown parameter: timeout",
            "messages.0.role: unexpected value \"overloaded_error\"",
            "invalid value 'rate_limit_exceeded'",
            "'server_error' is not valid",
        ] {
            for status in [400, 422] {
                let verdict = classify(&Failure { status: Some(status), text, ..Failure::default() });
                assert_ne!(verdict.class, Class::Transient, "{status} {text}");
            }
            assert_eq!(classify(&Failure { status: Some(503), text, ..Failure::default() }).class, Class::Transient);
        }
    }

    #[test]
    fn an_error_type_for_wrong_requests_counts_without_a_status() {
        for text in [
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Request timed out"}}"#,
            r#"{"error":{"code":400,"message":"Invalid value: timeout"}}"#,
            r#"{"error":{"message":"Invalid value: timeout","status":"INVALID_ARGUMENT"}}"#,
            r#"{"error":{"message":"{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"timeout\"}}"}}"#,
            "An error occurred (ValidationException) when calling the Converse operation: timeout",
        ] {
            for status in [None, Some(200)] {
                let verdict = classify(&Failure { status, text, ..Failure::default() });
                assert_eq!((verdict.class, verdict.known), (Class::Fatal, None), "{text}");
            }
        }
        for text in [
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Unrecognized request argument supplied: timeout"}}"#,
            "litellm.BadRequestError: OpenAIException - Unrecognized request argument supplied: timeout",
            "Error code: 400 - {'error': {'message': 'Unknown parameter: timeout'}}",
        ] {
            for status in [None, Some(200)] {
                let verdict = classify(&Failure { status, text, ..Failure::default() });
                assert_eq!((verdict.class, verdict.name), (Class::Corruption, "unknown-field"), "{text}");
                assert_eq!(verdict.members[0].pointer.as_deref(), Some("/timeout"), "{text}");
            }
        }
        let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"invalid_request_error"}}"#;
        assert_eq!(classify(&Failure { text: overloaded, ..Failure::default() }).class, Class::Transient);
        let timeout = r#"{"error":{"type":"timeout_error","message":"Request timed out"}}"#;
        assert_eq!(classify(&Failure { text: timeout, ..Failure::default() }).class, Class::Transient);
    }

    #[test]
    fn an_error_beside_the_members_of_a_response_is_read() {
        let limited =
            r#"{"choices":[],"message":"Rate limit reached for gpt-4, please try again in 20s","object":"error"}"#;
        for status in [None, Some(200), Some(429)] {
            let verdict = classify(&Failure { status, text: limited, ..Failure::default() });
            assert_eq!((verdict.class, verdict.retry_after), (Class::Transient, Some(Duration::from_secs(20))));
            assert_eq!(verdict.said, "Rate limit reached for gpt-4, please try again in 20s");
        }
        for text in [
            r#"{"output":null,"finish_reason":"","message":"The following tool_call_ids did not have response messages: call_7"}"#,
            r#"{"output":{},"finish_reason":"error","message":"The following tool_call_ids did not have response messages: call_7"}"#,
            r#"{"content":"The following tool_call_ids did not have response messages: call_7","choices":[]}"#,
        ] {
            let verdict = classify(&Failure { status: Some(400), text, ..Failure::default() });
            assert_eq!(verdict.class, Class::Corruption, "{text}");
        }
        let text = r#"{"id":"x","message":"too many tokens: total number of tokens cannot exceed 4081","finish_reason":"ERROR"}"#;
        let long = classify(&Failure { dialect: Some("openai_chat"), text, ..Failure::default() });
        assert_eq!(long.class, Class::Overflow);
    }

    #[test]
    fn a_fatal_error_that_may_be_retried_has_a_wait() {
        let text = r#"{"error":{"type":"not_found_error","message":"gone"}}"#;
        let wait = |word| {
            let headers = [("x-should-retry", word), ("retry-after", "30")];
            classify(&Failure { status: Some(404), headers: &headers, text, ..Failure::default() }).retry_after
        };
        assert_eq!((wait("true"), wait("false"), wait("")), (Some(Duration::from_secs(30)), None, None));
    }
}

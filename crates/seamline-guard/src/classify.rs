//! From what came back to what to do.

use std::cmp::Reverse;
use std::time::Duration;

use crate::answer;
use crate::errors::Family;
use crate::excerpt;
use crate::kinds::Class;
use crate::known::{Known, Weight};
use crate::patterns::{self, Candidate};
use crate::place::Place;
use crate::reading::{self, Reading};
use crate::views::Views;
use crate::wait;

/// What came back instead of an answer.
///
/// Everything but the text is optional; the more is known, the surer the verdict.
#[derive(Debug, Clone, Copy, Default)]
pub struct Failure<'f> {
    /// Who was asked, by name, such as `anthropic` or `openrouter`.
    pub provider: Option<&'f str>,
    /// The dialect of the request, such as `openai_chat`.
    pub dialect: Option<&'f str>,
    /// The status of the response; for an error inside a stream the one the stream began with.
    pub status: Option<u16>,
    /// Names and values of the response's headers.
    pub headers: &'f [(&'f str, &'f str)],
    /// The body of the response, the error inside a stream, or what a program made of it.
    pub text: &'f str,
    /// When it came, as the time since 1970, for a wait that ends at a date; needed only where
    /// the response does not say when it was sent.
    pub received_at: Option<Duration>,
}

impl<'f> Failure<'f> {
    /// The value of a header, whatever the case of its name.
    pub(crate) fn header(&self, name: &str) -> Option<&'f str> {
        let mut headers = self.headers.iter();
        headers.find(|(its_name, _)| its_name.eq_ignore_ascii_case(name)).map(|&(_, value)| value)
    }
}

/// What an error means and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// What the error asks of whoever got it.
    pub class: Class,
    /// How sure that is.
    pub certainty: Certainty,
    /// Our name for what it means; `unknown-error` where neither text nor status say.
    pub name: &'static str,
    /// The known error that was recognised, with our name for it and where it is known from.
    pub known: Option<&'static Known>,
    /// Codes of the rules that find the cause in a body, the likeliest first.
    pub rules: &'static [&'static str],
    /// What it means, in a sentence.
    pub meaning: &'static str,
    /// What to do, in a sentence.
    pub advice: &'static str,
    /// The status, also when only the text names it.
    pub status: Option<u16>,
    /// How long the provider asks to wait; only where waiting helps.
    pub retry_after: Option<Duration>,
    /// What the provider says about sending the same again, where it says it (`x-should-retry`).
    pub should_retry: Option<bool>,
    /// The place in the request that the text names.
    pub place: Place,
    /// What the provider said, out of everything it was wrapped in.
    pub said: String,
}

/// How sure a verdict is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    /// Neither text nor status say enough. The class is the careful one.
    Guess,
    /// The text is not known, the status is.
    Status,
    /// The text is known.
    Known,
}

impl Certainty {
    /// Its name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Guess => "guess",
            Self::Status => "status",
            Self::Known => "known",
        }
    }
}

/// Says what an error means.
///
/// Wrapped errors are looked into: a gateway's error that holds the provider's as a string,
/// the output of an SDK, a list around it, to a depth of [`LAYERS_MAX`](crate::LAYERS_MAX).
/// When nothing known is found, the status decides; when that does not say enough either,
/// the verdict is `Fatal` and only a guess, because trying again blindly is what keeps an
/// agent stuck.
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
/// ```
pub fn classify(failure: &Failure<'_>) -> Verdict {
    let views = Views::of(&answer::unspoken(failure.text, failure.status));
    let status = reading::status(failure, &views);
    let by_status = Reading::of(status, failure);
    let (known, said) = match recognise(failure, &views, status, &by_status) {
        Some((known, said)) => (Some(known), said),
        None => (None, excerpt::innermost(views.outermost())),
    };
    let Reading { name, class, certainty, meaning, advice } = known.map_or(by_status, Reading::known);
    let should_retry = reading::should_retry(failure);
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
        place: Place::of(&said),
        said,
    }
}

/// The known error that fits best, and the sentence it stands in.
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
    // Of equals the first counts: the outermost view, where the sentence still has its quotes.
    let (view, best) = fitting
        .into_iter()
        .filter(|(_, candidate)| is_over || !candidate.known.is_final)
        .filter(|(_, candidate)| is_heard(candidate, by_status, failure.status, is_refused))
        .min_by_key(|(_, candidate)| {
            (Reverse(candidate.known.weight), distance(candidate.family, failure), candidate.index)
        })?;
    let said = match patterns::find(best, view) {
        Some(range) if best.known.weight == Weight::Sentence => {
            // With its escapes gone, a sentence with quotes in it does not show where it ends.
            let is_it = |said: &str| patterns::find(best, said).is_some();
            excerpt::holding(views.outermost(), is_it).unwrap_or_else(|| excerpt::around(view, range.start))
        }
        // A code stands beside what was said, not in it.
        _ => excerpt::innermost(view),
    };
    Some((best.known, said))
}

/// Whether what is said to be over is over for good: a code says so, or nobody says when to come
/// back.
fn is_over(fitting: &[(&str, Candidate)], failure: &Failure<'_>, views: &Views) -> bool {
    let finals = || fitting.iter().filter(|(_, candidate)| candidate.known.is_final);
    let is_coded = |of: &Candidate| {
        fitting.iter().any(|(_, other)| other.known.weight == Weight::Code && other.known.kind == of.known.kind)
    };
    finals().any(|(_, candidate)| is_coded(candidate)) || !wait::is_asked(failure, views)
}

/// Broad words do not overrule a status that says otherwise, nor an error that says itself that the
/// request is wrong, as one in a stream does that has no status; nor does anything that is not known
/// to come with its status let a request be sent again that was refused as wrong (X-1): its error
/// may speak of a member that is called `timeout`.
fn is_heard(candidate: &Candidate, by_status: &Reading, status: Option<u16>, is_refused: bool) -> bool {
    let known = candidate.known;
    let is_broad = known.weight <= Weight::Broad;
    let is_refused = matches!(status, Some(400 | 422)) && known.usual_status != status || is_refused && is_broad;
    if is_refused && known.kind.class == Class::Transient {
        return false;
    }
    let agrees = by_status.certainty == Certainty::Guess || by_status.class == known.kind.class;
    !is_broad || agrees
}

/// How far a family is from whoever answered.
fn distance(family: &Family, failure: &Failure<'_>) -> u8 {
    if failure.provider.is_some_and(|provider| family.includes(provider)) {
        0
    } else if failure.dialect.is_some_and(|dialect| family.dialects.contains(&dialect)) {
        1
    } else {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_was_refused_is_not_sent_again_for_a_word_in_its_error() {
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
    fn an_error_that_says_that_the_request_is_wrong_is_believed_without_a_status() {
        for text in [
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Request timed out"}}"#,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Unrecognized request argument supplied: timeout"}}"#,
            r#"{"error":{"code":400,"message":"Invalid value: timeout"}}"#,
            r#"{"error":{"message":"Invalid value: timeout","status":"INVALID_ARGUMENT"}}"#,
            r#"{"error":{"message":"{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"timeout\"}}"}}"#,
            "An error occurred (ValidationException) when calling the Converse operation: timeout",
            "litellm.BadRequestError: OpenAIException - Unrecognized request argument supplied: timeout",
            "Error code: 400 - {'error': {'message': 'Unknown parameter: timeout'}}",
        ] {
            for status in [None, Some(200)] {
                let verdict = classify(&Failure { status, text, ..Failure::default() });
                assert_eq!((verdict.class, verdict.known), (Class::Fatal, None), "{text}");
            }
        }
        let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"invalid_request_error"}}"#;
        assert_eq!(classify(&Failure { text: overloaded, ..Failure::default() }).class, Class::Transient);
        let timeout = r#"{"error":{"type":"timeout_error","message":"Request timed out"}}"#;
        assert_eq!(classify(&Failure { text: timeout, ..Failure::default() }).class, Class::Transient);
    }

    #[test]
    fn what_a_provider_says_beside_the_members_of_an_answer_is_heard() {
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
    fn a_wait_is_told_where_the_provider_lets_a_fatal_error_be_sent_again() {
        let text = r#"{"error":{"type":"not_found_error","message":"gone"}}"#;
        let wait = |word| {
            let headers = [("x-should-retry", word), ("retry-after", "30")];
            classify(&Failure { status: Some(404), headers: &headers, text, ..Failure::default() }).retry_after
        };
        assert_eq!((wait("true"), wait("false"), wait("")), (Some(Duration::from_secs(30)), None, None));
    }
}

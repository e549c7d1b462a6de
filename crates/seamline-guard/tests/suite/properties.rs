//! Every text has a verdict, and wrapping does not change it.

use proptest::prelude::*;
use seamline_guard::{Class, Failure, IDS_MAX, classify};

use super::fixtures::cases;
use super::wrappings;

/// The most layers of wrapping that are tried; each doubles the backslashes.
const DEPTH_MAX: usize = 4;

/// The pieces of hostile texts.
const PIECES: &[&str] = &[
    "\\",
    "\"",
    "'",
    "`",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    " ",
    "\n",
    "\\u",
    "\\ud83d",
    "\\x",
    "é",
    "\u{2019}",
    "\u{fffd}",
    "\"message\":\"",
    "'message': '",
    "\\\"message\\\":\\\"",
    "messages.",
    "messages[",
    "input[",
    "].id",
    "0",
    "99999999999999999999",
    "4",
    "toolu_",
    "call_",
    "call_id",
    "tool call id was ",
    "try again in ",
    "1.5s",
    "retryDelay\":\"",
    "Error code: ",
    "<",
    "`tool_use` ids were found without `tool_result` blocks immediately after: ",
    "Provider returned error",
];

fn piece() -> impl Strategy<Value = String> {
    let known = proptest::sample::select(PIECES).prop_map(str::to_owned);
    prop_oneof![3 => known, 1 => any::<char>().prop_map(String::from)]
}

proptest! {
    #[test]
    fn any_text_gets_a_verdict(text in any::<String>(), status in any::<Option<u16>>()) {
        let verdict = classify(&Failure { status, text: &text, ..Failure::default() });
        prop_assert!(verdict.place.ids.len() <= IDS_MAX);
    }

    #[test]
    fn headers_say_when_and_whether_and_never_what(
        pieces in proptest::collection::vec(piece(), 0..60),
        header in any::<String>(),
        date in any::<String>(),
    ) {
        let text = pieces.concat();
        let bare = classify(&Failure { status: Some(429), text: &text, ..Failure::default() });
        prop_assert!(bare.known.is_none_or(|known| known.kind.class == bare.class), "{:?}", bare);
        for name in ["retry-after", "retry-after-ms", "x-ratelimit-reset-tokens", "date"] {
            let headers = [(name, header.as_str()), ("date", date.as_str())];
            let verdict = classify(&Failure { status: Some(429), headers: &headers, text: &text, ..Failure::default() });
            prop_assert_eq!((verdict.class, verdict.known, &verdict.said), (bare.class, bare.known, &bare.said));
            prop_assert_eq!((verdict.rules, &verdict.place), (bare.rules, &bare.place));
            prop_assert!(verdict.retry_after.is_none() || verdict.class == Class::Transient, "{:?}", verdict);
        }
    }

    #[test]
    fn an_error_is_found_among_hostile_texts(
        case in any::<prop::sample::Index>(),
        before in proptest::collection::vec(piece(), 0..30),
        after in proptest::collection::vec(piece(), 0..30),
    ) {
        let cases = cases();
        let case = case.get(&cases);
        // A program's notation: a code counts only by itself.
        let text = format!("{}\n{{\"message\":\"{}\"}}\n{}", before.concat(), case.text, after.concat());
        let verdict = classify(&Failure { provider: case.provider.as_deref(), text: &text, ..Failure::default() });
        prop_assert!(verdict.known.is_some(), "{}", text);
    }

    #[test]
    fn a_wrapper_changes_nothing_of_what_an_error_says(
        case in any::<prop::sample::Index>(),
        wraps in proptest::collection::vec(prop::sample::select(&["OpenRouter", "LiteLLM"][..]), 1..=2),
    ) {
        let cases = cases();
        let case = case.get(&cases);
        let wrap = |text: String, name: &&str| {
            let wrapping = wrappings::ALL.iter().find(|(known, _)| known == name);
            wrapping.map(|(_, wrap)| wrap(&text)).unwrap_or_default()
        };
        let wrapped = wraps.iter().fold(case.text.clone(), wrap);
        let (provider, status) = (case.provider.as_deref(), case.status);
        let of = |text: &str| classify(&Failure { provider, status, text, ..Failure::default() });
        let (bare, verdict) = (of(&case.text), of(&wrapped));
        prop_assert_eq!((verdict.class, verdict.known), (bare.class, bare.known), "{}", wrapped);
        prop_assert_eq!(verdict.place, bare.place, "{}", wrapped);
    }

    #[test]
    fn wrapping_keeps_the_class(
        case in any::<prop::sample::Index>(),
        wraps in proptest::collection::vec(any::<prop::sample::Index>(), 1..=DEPTH_MAX),
    ) {
        let cases = cases();
        let case = case.get(&cases);
        let wrapped = wraps.iter().fold(case.text.clone(), |text, wrap| (wrap.get(&wrappings::ALL).1)(&text));
        let provider = case.provider.as_deref();
        let verdict = classify(&Failure { provider, status: case.status, text: &wrapped, ..Failure::default() });
        prop_assert_eq!(verdict.class.as_str(), case.class.as_str(), "{}", wrapped);
    }
}

//! The laws on generated and on broken conversations.

use proptest::prelude::*;
use seamline::{Options, check, repair};
use seamline_testkit::generate::{self, Breaker};
use seamline_testkit::transcript::Transcript;
use seamline_testkit::{Dialect, render};

use super::laws;

/// How many conversations each property looks at, unless `PROPTEST_CASES` asks for more.
const CASES: u32 = 1500;

fn dialect() -> impl Strategy<Value = Dialect> {
    prop_oneof![Just(Dialect::AnthropicMessages), Just(Dialect::OpenAiChat)]
}

/// The first `count` messages of a conversation.
fn head(transcript: &Transcript, count: usize) -> Transcript {
    let mut head = transcript.clone();
    head.messages.truncate(count);
    head
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES.max(ProptestConfig::default().cases), failure_persistence: None, max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

    #[test]
    fn a_good_conversation_leaves_as_it_came(
        transcript in generate::good(), dialect in dialect(), style in generate::style()
    ) {
        let body = render::render(dialect, &transcript, style);
        let repaired = repair(body.as_bytes(), &laws::options(dialect)).unwrap();
        prop_assert_eq!(&repaired.found, &[], "{}", body);
        prop_assert!(!repaired.changed());
        prop_assert_eq!(&*repaired.body, body.as_bytes());
    }

    #[test]
    fn a_broken_conversation_is_put_right_without_loss(
        broken in generate::broken(), dialect in dialect(), style in generate::style()
    ) {
        let body = render::render(dialect, &broken.transcript, style);
        let outcome = laws::hold(dialect, &body, &broken.transcript.payloads());
        prop_assert!(outcome.is_ok(), "{:?}\n{}", broken.damages, outcome.unwrap_err());
    }

    #[test]
    fn a_growing_conversation_keeps_the_repairs_it_had(
        broken in generate::broken(), dialect in dialect(), style in generate::style(), cut in any::<prop::sample::Index>()
    ) {
        // What a block in the wrong role pairs with is known only once it stands in the right one.
        let wrong_role = [Breaker::CallInWrongRole, Breaker::ResultInWrongRole];
        prop_assume!(!broken.damages.iter().any(|damage| wrong_role.contains(&damage.breaker)));
        let whole = &broken.transcript;
        let cut = cut.index(whole.messages.len()).max(1);
        let (head, whole) = (render::render(dialect, &head(whole, cut), style), render::render(dialect, whole, style));
        let outcome = laws::prefix_stable(dialect, &head, &whole);
        prop_assert!(outcome.is_ok(), "{:?} cut at {cut}\n{}", broken.damages, outcome.unwrap_err());
    }

    #[test]
    fn a_message_that_no_edit_names_keeps_its_bytes(
        broken in generate::broken(), dialect in dialect(), style in generate::style()
    ) {
        let body = render::render(dialect, &broken.transcript, style);
        let outcome = laws::minimal(dialect, &body);
        prop_assert!(outcome.is_ok(), "{:?}\n{}", broken.damages, outcome.unwrap_err());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        let _ = check(&bytes, &Options::default());
        let _ = repair(&bytes, &Options::default());
    }

    #[test]
    fn no_json_makes_it_panic(value in json(), dialect in dialect()) {
        let body = serde_json::json!({ "model": "m", "messages": value }).to_string();
        let options = laws::options(dialect);
        let repaired = repair(body.as_bytes(), &options).unwrap_or_else(|_| repair(b"[]", &options).unwrap());
        let again = repair(&repaired.body, &options).unwrap();
        prop_assert!(!again.changed(), "{body}\n{}\n{}", String::from_utf8_lossy(&repaired.body), String::from_utf8_lossy(&again.body));
    }
}

/// Lists of values that look a little like messages.
fn json() -> impl Strategy<Value = serde_json::Value> {
    let word = prop::sample::select(vec![
        "user",
        "assistant",
        "tool",
        "system",
        "developer",
        "function",
        "text",
        "tool_use",
        "tool_result",
        "thinking",
        "server_tool_use",
        "web_search_tool_result",
        "image",
        "image_url",
        "A",
        "B",
        "",
        " ",
        "srvtoolu_1",
        "{}",
        "[]",
        "function_call",
        "call.1",
        "[synthetic] x",
    ]);
    let key = prop::sample::select(vec![
        "role",
        "content",
        "type",
        "id",
        "tool_use_id",
        "tool_call_id",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "input",
        "text",
        "tool_use",
        "call_id",
        "refusal",
        "signature",
        "thinking",
        "custom",
        "is_error",
    ]);
    let leaf = prop_oneof![
        8 => word.prop_map(serde_json::Value::from),
        1 => Just(serde_json::Value::Null),
        1 => any::<bool>().prop_map(serde_json::Value::from),
        1 => any::<i64>().prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            2 => prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
            5 => prop::collection::vec((key.clone(), inner), 0..6).prop_map(|members| {
                members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<serde_json::Map<_, _>>().into()
            }),
        ]
    })
}

//! The laws on generated and on broken conversations.

use proptest::prelude::*;
use proptest::sample::Index;
use seamline::policy::PRESETS;
use seamline::{Error, Options, Policy, check, providers, repair};
use seamline_testkit::generate::{self, Breaker, Mangled};
use seamline_testkit::transcript::Transcript;
use seamline_testkit::{Dialect, render};

use super::laws::{self, Mendable};

/// The number of conversations of each property, unless `PROPTEST_CASES` asks for more.
const CASES: u32 = 1500;

fn config() -> ProptestConfig {
    let asked = ProptestConfig::default();
    ProptestConfig { cases: CASES.max(asked.cases), failure_persistence: None, max_global_rejects: 1 << 20, ..asked }
}

fn dialect() -> impl Strategy<Value = Dialect> {
    prop::sample::select(Dialect::ALL.to_vec())
}

/// The first `count` messages of a conversation.
fn head(transcript: &Transcript, count: usize) -> Transcript {
    let mut head = transcript.clone();
    head.messages.truncate(count);
    head
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_good_conversation_leaves_as_it_came(
        transcript in generate::good(), dialect in dialect(), style in generate::style()
    ) {
        let body = render::render(dialect, &generate::fit(dialect, transcript), style);
        let repaired = repair(body.as_bytes(), &laws::options(dialect)).unwrap();
        prop_assert_eq!(&repaired.found, &[], "{}", body);
        prop_assert!(!repaired.is_changed());
        prop_assert_eq!(&*repaired.body, body.as_bytes());
    }

    #[test]
    fn a_broken_conversation_is_put_right_without_loss(
        broken in generate::broken(), dialect in dialect(), style in generate::style()
    ) {
        let broken = broken.fit(dialect);
        let body = render::render(dialect, &broken.transcript, style);
        let outcome = laws::hold(dialect, &body, &broken.transcript.payloads(), Mendable::Wholly);
        prop_assert!(outcome.is_ok(), "{:?}\n{}", broken.damages, outcome.err().unwrap_or_default());
    }

    #[test]
    fn a_growing_conversation_keeps_the_repairs_it_had(
        broken in generate::broken(), dialect in dialect(), style in generate::style(), cut in any::<prop::sample::Index>()
    ) {
        // The pair of a block in the wrong role is known only after the block is in the right one.
        let wrong_role = [Breaker::CallInWrongRole, Breaker::ResultInWrongRole];
        prop_assume!(!broken.damages.iter().any(|damage| wrong_role.contains(&damage.breaker)));
        let broken = broken.fit(dialect);
        let whole = &broken.transcript;
        prop_assume!(!whole.messages.is_empty());
        let cut = cut.index(whole.messages.len()).max(1);
        let head = head(whole, cut);
        let (head, whole) = (render::render(dialect, &head, style), render::render(dialect, whole, style));
        // Where messages are items, an empty message is not a message, and nothing can repair a body without messages.
        prop_assume!(has_messages(dialect, &head));
        let read = |body| laws::hold(dialect, body, &[], Mendable::Wholly);
        let outcome = read(&head).and_then(|head| laws::prefix_stable(&head, &read(&whole)?));
        prop_assert!(outcome.is_ok(), "{:?} cut at {cut}\n{}", broken.damages, outcome.unwrap_err());
    }

    #[test]
    fn a_body_that_is_written_badly_is_put_right_without_loss(
        mangled in generate::mangled(), dialect in dialect(), style in generate::style()
    ) {
        let body = mangled.render(dialect, style);
        let outcome = laws::hold(dialect, &body.text, &body.payloads, Mendable::Safely);
        prop_assert!(outcome.is_ok(), "{:?} {:?}\n{}", mangled.broken.damages, mangled.wire, outcome.err().unwrap_or_default());
    }

    #[test]
    fn every_preset_of_every_provider_keeps_what_was_said_or_reports_it(
        mangled in mangled(), style in generate::style(),
        preset in prop::sample::select(PRESETS), provider in prop::sample::select(providers::ALL)
    ) {
        let dialect = Dialect::ALL.into_iter().find(|dialect| dialect.name() == provider.dialect).unwrap();
        let policy = Policy::preset(preset.name).unwrap();
        let options = Options { provider: Some(provider.name.to_owned()), policy, ..laws::options(dialect) };
        let body = mangled.render(dialect, style);
        let outcome = laws::hold_everywhere(&body.text, &body.payloads, &options);
        prop_assert!(
            outcome.is_ok(), "{} {} {:?} {:?}\n{}",
            preset.name, provider.name, mangled.broken.damages, mangled.wire, outcome.unwrap_err()
        );
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop_oneof![prop::collection::vec(any::<u8>(), 0..256), mutated()]) {
        let options = Options::default();
        let checked = check(&bytes, &options);
        let repaired = repair(&bytes, &options);
        prop_assert_eq!(checked.as_ref().err(), repaired.as_ref().err());
        if let Ok(repaired) = repaired {
            let outcome = laws::hold_at_least(&repaired, &options);
            prop_assert!(outcome.is_ok(), "{}\n{}", String::from_utf8_lossy(&bytes), outcome.unwrap_err());
        }
    }

    #[test]
    fn no_json_makes_it_panic(value in prop_oneof![1 => json(), 9 => messages()], dialect in dialect()) {
        let body = serde_json::json!({ "model": "gpt-5", "store": false, dialect.list_key(): value }).to_string();
        let options = laws::options(dialect);
        match repair(body.as_bytes(), &options) {
            // A value that is not a list of messages is not a conversation.
            Err(Error::Body(seamline_dialects::Error::Envelope { .. })) => prop_assert!(!value.is_array(), "{body}"),
            Err(Error::Body(seamline_dialects::Error::NoMessage { .. })) => {
                let has_role = |entry: &serde_json::Value| entry.get("role").is_some();
                prop_assert!(!value.as_array().is_some_and(|entries| entries.iter().any(has_role)), "{body}");
            }
            Err(error) => prop_assert!(false, "{error}\n{body}"),
            Ok(repaired) => {
                let outcome = laws::hold_at_least(&repaired, &options);
                prop_assert!(outcome.is_ok(), "{body}\n{}", outcome.unwrap_err());
            }
        }
    }
}

/// Whether a body has an element in its list of messages.
fn has_messages(dialect: Dialect, body: &str) -> bool {
    let body = serde_json::from_str(body).unwrap_or(serde_json::Value::Null);
    body[dialect.list_key()].as_array().is_some_and(|messages| !messages.is_empty())
}

/// Conversations that were broken, or broken and written badly.
fn mangled() -> impl Strategy<Value = Mangled> {
    let broken = generate::broken().prop_map(|broken| Mangled { broken, wire: Vec::new() });
    prop_oneof![broken, generate::mangled()]
}

/// One change to the bytes of a body.
#[derive(Clone, Debug)]
enum Mutation {
    Flip(Index, u8),
    Insert(Index, u8),
    Delete(Index, usize),
    Repeat(Index, usize),
    /// The rest of another body, from some place on.
    Splice(Index, Index),
    Truncate(Index),
}

/// Bodies with a few bytes changed, so that much of each can still be read.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let place = any::<Index>;
    let byte = || prop_oneof![any::<u8>(), prop::sample::select(b"{}[]\",:\\ 0-e\n".to_vec())];
    let mutation = prop_oneof![
        4 => (place(), byte()).prop_map(|(at, mask)| Mutation::Flip(at, mask)),
        4 => (place(), byte()).prop_map(|(at, byte)| Mutation::Insert(at, byte)),
        4 => (place(), 1..64_usize).prop_map(|(at, count)| Mutation::Delete(at, count)),
        4 => (place(), 1..256_usize).prop_map(|(at, count)| Mutation::Repeat(at, count)),
        1 => (place(), place()).prop_map(|(at, from)| Mutation::Splice(at, from)),
        1 => place().prop_map(Mutation::Truncate),
    ];
    let body = || {
        (mangled(), dialect(), generate::style())
            .prop_map(|(mangled, dialect, style)| mangled.render(dialect, style).text.into_bytes())
    };
    (body(), body(), prop::collection::vec(mutation, 1..6)).prop_map(|(mut bytes, other, mutations)| {
        for mutation in &mutations {
            mutate(&mut bytes, &other, mutation);
        }
        bytes
    })
}

fn mutate(bytes: &mut Vec<u8>, other: &[u8], mutation: &Mutation) {
    let length = bytes.len();
    let at = |index: &Index| index.index(length + 1);
    let upto = |start: usize, count: usize| start..(start + count).min(length);
    match mutation {
        Mutation::Flip(index, mask) => bytes.iter_mut().skip(at(index)).take(1).for_each(|byte| *byte ^= mask),
        Mutation::Insert(index, byte) => bytes.insert(at(index), *byte),
        Mutation::Delete(index, count) => drop(bytes.drain(upto(at(index), *count))),
        Mutation::Repeat(index, count) => {
            let repeated = bytes[upto(at(index), *count)].to_vec();
            bytes.splice(at(index)..at(index), repeated);
        }
        Mutation::Splice(index, from) => {
            bytes.truncate(at(index));
            bytes.extend(&other[from.index(other.len() + 1)..]);
        }
        Mutation::Truncate(index) => bytes.truncate(at(index)),
    }
}

/// Lists of values that look a little like messages.
fn messages() -> impl Strategy<Value = serde_json::Value> {
    let roles =
        prop::sample::select(vec!["user", "assistant", "model", "tool", "system", "developer", "function", "", "x"]);
    let message = (roles, json(), json()).prop_map(|(role, content, members)| {
        let mut message = members.as_object().cloned().unwrap_or_default();
        message.insert("role".to_owned(), role.into());
        message.insert("parts".to_owned(), content.clone());
        message.insert("content".to_owned(), content);
        serde_json::Value::from(message)
    });
    prop::collection::vec(prop_oneof![4 => message, 4 => item(), 1 => json()], 0..6).prop_map(serde_json::Value::from)
}

/// Values that look a little like items, with few ids.
fn item() -> impl Strategy<Value = serde_json::Value> {
    let kinds = prop::sample::select(vec![
        "message",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "local_shell_call_output",
        "shell_call",
        "shell_call_output",
        "apply_patch_call",
        "reasoning",
        "item_reference",
        "compaction_trigger",
        "hologram",
    ]);
    let id = || prop::sample::select(vec!["", "A", "B", "rs_1", "msg_1", "fc_1", "a.b"]);
    let ids = (prop::option::of(id()), prop::option::of(id()));
    (kinds, ids, prop::option::of(json()), json()).prop_map(|(kind, (own, pair), output, members)| {
        let mut item = members.as_object().cloned().unwrap_or_default();
        item.insert("type".to_owned(), kind.into());
        item.extend(own.map(|id| ("id".to_owned(), id.into())));
        item.extend(pair.map(|id| ("call_id".to_owned(), id.into())));
        item.extend(output.map(|output| ("output".to_owned(), output)));
        serde_json::Value::from(item)
    })
}

/// Keys that mean something in messages.
const KEYS: &[&str] = &[
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
    "toolUse",
    "toolResult",
    "toolUseId",
    "status",
    "json",
    "reasoningContent",
    "functionCall",
    "function_response",
    "functionResponse",
    "args",
    "response",
    "thought",
    "thoughtSignature",
    "output",
    "encrypted_content",
    "summary",
];

/// Values of words and keys that mean something in messages.
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
        "function_call_output",
        "custom_tool_call",
        "reasoning",
        "item_reference",
        "input_text",
        "output_text",
        "call.1",
        "[synthetic] x",
    ]);
    let key = prop::sample::select(KEYS.to_vec());
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

//! A check and a request of a kept reading equal those that are made from scratch, for any history of the messages.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use seamline_store::{EntrySource, Origin, Raw};
use seamline_testkit::Dialect;
use seamline_testkit::generate::{self, Mangled};

use super::*;
use crate::{Policy, providers};

/// Entries that are not messages, hardly messages, or written by a repair.
const ODD: &[&str] = &[
    "1",
    "null",
    "[]",
    "{}",
    r#"{"message":{"role":"user","content":"hi"}}"#,
    r#"{"type":"user","payload":{}}"#,
    r#"{"id":"msg_1"}"#,
    r#"{"role":"user","content":"half \ud83d of one","role":"user"}"#,
    r#"{"role":"wizard","content":[7,{"type":"text"}],"x":"\udc00","y":{"z":[]}}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"x","input":{}}]}"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"[synthetic] lost in the post"}]}"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"real"}]}"#,
];

/// A change of the messages between two checks.
#[derive(Debug, Clone)]
enum Step {
    /// Appends these messages.
    Append(Vec<Index>),
    /// Appends a run of messages from the pool.
    Run(Index, usize),
    /// Removes the last messages.
    Cut(Index),
    /// Replaces messages at a place.
    Splice(Index, usize, Vec<Index>),
    /// Restores the messages after an earlier step.
    Back(Index),
    /// Copies the same messages to other memory.
    Copy,
    Nothing,
}

fn step() -> impl Strategy<Value = Step> {
    let some = || prop::collection::vec(any::<Index>(), 0..6);
    prop_oneof![
        4 => some().prop_map(Step::Append),
        6 => (any::<Index>(), 1..12_usize).prop_map(|(from, count)| Step::Run(from, count)),
        2 => any::<Index>().prop_map(Step::Cut),
        2 => (any::<Index>(), 0..4_usize, some()).prop_map(|(at, gone, come)| Step::Splice(at, gone, come)),
        1 => any::<Index>().prop_map(Step::Back),
        1 => Just(Step::Copy),
        1 => Just(Step::Nothing),
    ]
}

/// The envelopes of requests.
const ENVELOPES: &[&str] = &[
    "{}",
    r#"{"model":"claude-sonnet-4-5","max_tokens":64}"#,
    r#"{"model":"claude-opus-4-1","max_tokens":64,"thinking":{"type":"enabled","budget_tokens":1024}}"#,
    r#"{"model":"gpt-5","store":false,"tools":[]}"#,
    r#"{ "model" : "gpt-5", "previous_response_id" : "resp_1", "x" : "\udc00" }"#,
    r#"{"model":"gemini-3-pro","tools":[{"name":"x"},{"name":"x"}],"tool_choice":{"type":"tool","name":"y"}}"#,
    r#"{"model":"mistral-large","system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}],"model":"deepseek-reasoner"}"#,
    r#"{"model":"kimi-k2","toolConfig":{"tools":[]}}"#,
];

/// The dialects and policies of the checks.
fn wire() -> impl Strategy<Value = Wire> {
    let policy = prop_oneof![
        Just(Policy::default()),
        Just(Policy::preset("minimal").unwrap()),
        Just(Policy::from_toml("[synthetic_text]\nmissing = 'lost in the post'").unwrap()),
        select(vec!["strict", "opal", "clawos", "llxprt", "kilroy", "libr-agent"])
            .prop_map(|name| Policy::preset(name).unwrap()),
        Just(Policy::from_toml("duplicate_call_id = 'error'").unwrap()),
        Just(Policy::from_toml("duplicate_call_id = 'rename_later'").unwrap()),
        Just(Policy::from_toml("id_mode = 'canonical'\nmerge_same_role = true").unwrap()),
    ];
    (select(providers::ALL), policy).prop_map(|(provider, policy)| {
        Wire::new(Options { provider: Some(provider.name.to_owned()), policy, ..Options::default() }).unwrap()
    })
}

/// Messages of a conversation that is valid, broken, or broken and badly written.
fn messages() -> impl Strategy<Value = Vec<Raw>> {
    let good = generate::good().prop_map(|good| generate::Broken::new(good, Vec::new()));
    let plain = prop_oneof![good, generate::broken()].prop_map(|broken| Mangled { broken, wire: Vec::new() });
    let mangled = prop_oneof![plain, generate::mangled()];
    (mangled, select(Dialect::ALL.to_vec()), generate::style()).prop_map(|(mangled, dialect, style)| {
        let body = mangled.render(dialect, style).text;
        let options = Options { dialect: Some(dialect.name().to_owned()), ..Options::default() };
        let spans = crate::outline::message_spans(body.as_bytes(), &options).unwrap_or_default();
        spans.into_iter().filter_map(|span| Raw::parse(&body[span]).ok()).collect()
    })
}

fn entries(messages: &[Raw]) -> Vec<Entry> {
    let entry = |message: &Raw| Entry {
        seq: 1,
        part: 0,
        message: message.clone(),
        origin: Origin::Said,
        source: EntrySource::Message,
        dialect: None,
        synthetic_results: Vec::new(),
    };
    messages.iter().map(entry).collect()
}

fn from_scratch(wire: &Wire, messages: &[Raw], options: &Options) -> Result<Checked, SessionError> {
    Ok(crate::check(&wire.body("{}", messages.iter())?, options)?)
}

fn request_from_scratch(wire: &Wire, messages: &[Raw], envelope: &str) -> Result<Request, SessionError> {
    Ok(Request::from_body(&wire.body(envelope, messages.iter())?, &wire.options)?)
}

/// The messages after a step.
fn after(step: &Step, views: &[Vec<Raw>], pool: &[Raw]) -> Vec<Raw> {
    let mut view = views.last().cloned().unwrap_or_default();
    let chosen = |from: &[Index]| from.iter().map(|index| pool[index.index(pool.len())].clone()).collect::<Vec<_>>();
    match step {
        Step::Append(come) => view.extend(chosen(come)),
        Step::Run(from, count) => view.extend(pool.iter().skip(from.index(pool.len())).take(*count).cloned()),
        Step::Cut(at) => view.truncate(at.index(view.len() + 1)),
        Step::Splice(at, gone, come) => {
            let at = at.index(view.len() + 1);
            let end = (at + gone).min(view.len());
            view.splice(at..end, chosen(come));
        }
        Step::Back(to) => view.clone_from(&views[to.index(views.len())]),
        Step::Copy => view = view.iter().map(|message| Raw::parse(message.as_str()).unwrap()).collect(),
        Step::Nothing => {}
    }
    view
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_check_and_a_request_equal_those_from_scratch(
        pools in prop::collection::vec(messages(), 1..4),
        wires in prop::collection::vec(wire(), 1..4),
        steps in prop::collection::vec((step(), any::<Index>(), any::<bool>(), select(ENVELOPES)), 1..24),
    ) {
        // Complete conversations come in order most of the time, so that calls find their results.
        let odd = ODD.iter().map(|text| Raw::parse(*text).unwrap());
        let pool: Vec<Raw> = pools.iter().flatten().cloned().chain(odd).collect();
        let mut views = vec![pools[0].clone()];
        let reading = Reading::default();
        for (step, wire, switches, envelope) in &steps {
            let view = after(step, &views, &pool);
            let wire = if *switches { &wires[wire.index(wires.len())] } else { &wires[0] };
            let mut pending = wire.options.clone();
            pending.policy.repair.trailing_call = crate::policy::TrailingCall::AllowPending;
            for options in [&wire.options, &pending, &pending] {
                let checked = reading.check(wire, &entries(&view), options);
                prop_assert_eq!(checked, from_scratch(wire, &view, options), "{:?}", &view);
            }
            let request = reading.request(wire, &entries(&view), envelope);
            let scratch = request_from_scratch(wire, &view, envelope);
            prop_assert_eq!(request.as_ref(), scratch.as_ref().ok(), "{:?}", &view);
            views.push(view);
        }
    }
}

fn anthropic() -> Wire {
    Wire::new(Options { provider: Some("anthropic".to_owned()), ..Options::default() }).unwrap()
}

fn raws(texts: &[&str]) -> Vec<Raw> {
    texts.iter().map(|text| Raw::parse(*text).unwrap()).collect()
}

const ASK: &str = r#"{"role":"user","content":"please"}"#;
const ANSWER: &str = r#"{"role":"assistant","content":"here"}"#;

/// Whether the reading continues to these messages without reading all of them.
fn follows(reading: &Reading, messages: &[Raw]) -> bool {
    reading.kept().take().unwrap().update(&entries(messages)).is_some()
}

#[test]
fn only_new_messages_are_read() {
    let (wire, reading) = (anthropic(), Reading::default());
    let view = raws(&[ASK, ANSWER, ASK, ANSWER, ASK]);
    let check = |count: usize| reading.check(&wire, &entries(&view[..count]), &wire.options).unwrap();
    check(2);
    assert!(follows(&reading, &view[..3]), "more came");
    check(3);
    assert!(follows(&reading, &view[..2]), "the last message was removed");
    check(5);
    assert!(!follows(&reading, &view[4..]), "more was removed than stays");
    check(5);
    assert!(reading.kept().as_ref().unwrap().looks.0[0].report().is_some());
}

const RESULT: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"done"}]}"#;
const CALL: &str = r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]}"#;
const EMPTY: &str = r#"{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"x"}]}"#;

/// The number of messages that must stay so that the next check does not check all of them.
fn needed(reading: &Reading) -> usize {
    reading.kept().as_ref().unwrap().looks.0[0].settled.needs()
}

#[test]
fn only_messages_behind_the_last_seam_are_checked() {
    let (wire, reading) = (anthropic(), Reading::default());
    let check = |texts: &[&str]| {
        let checked = reading.check(&wire, &entries(&raws(texts)), &wire.options).unwrap();
        (checked.findings.len(), needed(&reading))
    };
    assert_eq!(check(&[ASK, CALL, RESULT, ANSWER, ASK]), (0, 4), "a seam is before the last assistant message");
    assert_eq!(check(&[ASK, CALL, RESULT, ANSWER, ASK, CALL]), (1, 6), "an open call is not settled");
    assert_eq!(check(&[ASK, CALL, RESULT, ANSWER, ASK, CALL, ASK, ANSWER]), (1, 6), "nor is one without a result");
    assert_eq!(check(&[ASK, CALL, RESULT, ANSWER, EMPTY, CALL, RESULT, ANSWER]), (1, 8), "its finding is kept");
    assert_eq!(check(&[ASK, CALL, RESULT, ANSWER, EMPTY, CALL, RESULT, ANSWER, ASK]), (1, 8), "and found again");
    assert_eq!(check(&[ASK, CALL, RESULT, ANSWER, ASK, RESULT]), (1, 4), "a late result asks for all messages");
    assert_eq!(check(&[ASK, CALL]), (1, 2), "everything was removed");
}

#[test]
fn a_request_settles_messages_whatever_its_envelope_is() {
    let (wire, reading) = (anthropic(), Reading::default());
    let messages = entries(&raws(&[ASK, CALL, RESULT, ANSWER, ASK]));
    for envelope in [r#"{"max_tokens":64}"#, r#"{"max_tokens":4096}"#, "{}", r#"{"max_tokens":64}"#] {
        let request = reading.request(&wire, &messages, envelope).unwrap();
        assert!(request.sendable && request.found.is_empty());
        assert_eq!((needed(&reading), reading.kept().as_ref().unwrap().looks.0.len()), (4, 1), "{envelope}");
    }
    assert_eq!(reading.request(&wire, &messages, r#"{"messages":[]}"#), None);
    assert_eq!(reading.request(&wire, &messages, r#"{"max_tokens":}"#), None);
}

#[test]
fn repeated_changes_do_not_accumulate_memory() {
    let (wire, reading) = (anthropic(), Reading::default());
    let mut afresh = 0;
    for number in 0..100 {
        let call = format!(
            r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_1","name":"tool_{number}","input":{{}}}}]}}"#
        );
        for view in [raws(&[ASK, &call]), raws(&[ASK])] {
            reading.check(&wire, &entries(&view), &wire.options).unwrap();
        }
        let gone = reading.kept().as_ref().unwrap().gone;
        afresh += usize::from(gone == 0);
        assert!(gone <= 100, "{gone}");
    }
    assert!(afresh > 50, "{afresh}");
}

#[test]
fn unreadable_messages_leave_no_reading() {
    let (wire, reading) = (anthropic(), Reading::default());
    reading.check(&wire, &entries(&raws(&[ASK])), &wire.options).unwrap();
    reading.check(&wire, &entries(&raws(&["1"])), &wire.options).unwrap_err();
    assert!(reading.kept().is_none());
    assert_eq!(format!("{reading:?}"), "Reading { messages: None, .. }");
}

#[test]
fn a_reading_far_larger_than_its_bytes_is_not_kept() {
    let (wire, reading) = (anthropic(), Reading::default());
    let members: Vec<String> = (0..20_000).map(|at| format!(r#""{at}":0"#)).collect();
    let crowded = format!(r#"{{"role":"user","content":"please",{}}}"#, members.join(","));
    reading.check(&wire, &entries(&raws(&[&crowded])), &wire.options).unwrap();
    assert!(reading.kept().is_none());
    let short = vec![r#"{"role":"user","content":""}"#; 20_000];
    reading.check(&wire, &entries(&raws(&short)), &wire.options).unwrap();
    assert!(reading.kept().is_some(), "short messages do not prevent it");
}

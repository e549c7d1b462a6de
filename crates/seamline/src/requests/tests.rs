//! The outcome for a request equals that of a repair from scratch, for any sequence of requests.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use seamline_testkit::Dialect;
use seamline_testkit::generate::{self, Mangled};

use super::*;
use crate::{Policy, providers};

/// Entries that are not messages, hardly messages, or odd.
const ODD: &[&str] = &[
    "1",
    "12",
    "null",
    "\"a\"",
    "{}",
    r#"{"message":{"role":"user","content":"hi"}}"#,
    r#"{"role":"user","content":"half \ud83d of one","role":"user"}"#,
    r#"{"role":"wizard","content":[7,{"type":"text"}],"x":"\udc00","y":{"z":[]}}"#,
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"x","input":{}}]}"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"[synthetic] lost in the post"}]}"#,
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"real"}]}"#,
];

/// The members before the list of messages.
const HEADS: &[&str] = &[
    "",
    r#""model":"claude-sonnet-4-5","max_tokens":64,"#,
    r#""model":"claude-opus-4-1","max_tokens":64,"thinking":{"type":"enabled","budget_tokens":1024},"stream":true,"#,
    r#""model":"gpt-5","store":false,"tools":[],"#,
    r#" "model" : "gpt-5", "previous_response_id" : "resp_1", "x" : "\udc00", "#,
    r#""model":"gemini-3-pro","tools":[{"name":"x"},{"name":"x"}],"tool_choice":{"type":"tool","name":"y"},"#,
    r#""system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}],"model":"mistral-large","model":"kimi-k2","#,
    r#""messages":[],"#,
    r#""input":[{"role":"user","content":"other"}],"#,
    r#""x":}"#,
];

/// The members after the list of messages.
const TAILS: &[&str] = &[
    "",
    "",
    r#","stream":true"#,
    r#","model":"deepseek-reasoner","y":"\ud83d""#,
    r#" , "tools":[{"name":"read"}], "thinking":{"type":"disabled"}"#,
    r#","messages":[{"role":"user","content":"last"}]"#,
    r#","contents":7"#,
    ",",
];

/// A request: its messages and the text around them.
#[derive(Debug, Clone)]
struct Body {
    head: &'static str,
    tail: &'static str,
    /// The text between messages, and whether the body is the list itself.
    between: &'static str,
    is_bare: bool,
    messages: Vec<String>,
}

impl Body {
    fn write(&self, list: &str) -> Bytes {
        let messages = self.messages.join(self.between);
        let text = if self.is_bare {
            format!("[{messages}]")
        } else {
            format!("{{{}\"{list}\":[{messages}]{}}}", self.head, self.tail)
        };
        Bytes::from(text)
    }
}

/// A change from one request to the next.
#[derive(Debug, Clone)]
enum Step {
    /// Appends a run of messages from the pool.
    Run(Index, usize),
    /// Appends messages from the pool.
    Append(Vec<Index>),
    /// Removes the last messages.
    Cut(Index),
    /// Replaces messages at a place.
    Splice(Index, usize, Vec<Index>),
    /// Sends an earlier request again.
    Back(Index),
    /// Puts messages before the last one, which moves.
    Before(Index, usize),
    /// Marks some of the last messages for the cache, and no others.
    Mark(usize, usize),
    /// Changes the members around the messages.
    Around(&'static str, &'static str),
    /// Changes the layout.
    Layout(&'static str, bool),
}

fn step() -> impl Strategy<Value = Step> {
    let some = || prop::collection::vec(any::<Index>(), 0..4);
    prop_oneof![
        6 => (any::<Index>(), 1..12_usize).prop_map(|(from, count)| Step::Run(from, count)),
        2 => some().prop_map(Step::Append),
        1 => any::<Index>().prop_map(Step::Cut),
        2 => (any::<Index>(), 0..4_usize, some()).prop_map(|(at, gone, come)| Step::Splice(at, gone, come)),
        1 => any::<Index>().prop_map(Step::Back),
        2 => (any::<Index>(), 1..4_usize).prop_map(|(from, count)| Step::Before(from, count)),
        4 => (1..4_usize, 0..3_usize).prop_map(|(last, skip)| Step::Mark(last, skip)),
        3 => (select(HEADS), select(TAILS)).prop_map(|(head, tail)| Step::Around(head, tail)),
        1 => (select(&[",", " ,\n ", ",,"][..]), prop::bool::weighted(0.3))
            .prop_map(|(between, bare)| Step::Layout(between, bare)),
    ]
}

const MARK: &str = r#""cache_control":{"type":"ephemeral"},"#;

/// The request after a step, given all earlier ones.
fn after(step: &Step, sent: &[Body], pool: &[String]) -> Body {
    let mut body = sent.last().unwrap().clone();
    let messages = &mut body.messages;
    let run = |from: &Index, count: usize| {
        let from = from.index(pool.len());
        pool[from..pool.len().min(from + count)].to_vec()
    };
    let chosen = |some: &[Index]| some.iter().map(|at| pool[at.index(pool.len())].clone()).collect::<Vec<_>>();
    match step {
        Step::Run(from, count) => messages.extend(run(from, *count)),
        Step::Append(some) => messages.extend(chosen(some)),
        Step::Cut(at) => messages.truncate(at.index(messages.len() + 1)),
        Step::Splice(at, gone, come) => {
            let at = at.index(messages.len() + 1);
            let end = messages.len().min(at + gone);
            messages.splice(at..end, chosen(come));
        }
        Step::Back(to) => body = sent[to.index(sent.len())].clone(),
        Step::Before(from, count) => {
            let at = messages.len().saturating_sub(1);
            messages.splice(at..at, run(from, *count));
        }
        Step::Mark(last, skip) => {
            for message in &mut *messages {
                *message = message.replace(MARK, "");
            }
            for message in messages.iter_mut().rev().skip(*skip).take(*last) {
                // The last block, if there are any.
                let at = message.rfind("{\"type\":\"t").or_else(|| message.find('{'));
                if let Some(at) = at.filter(|&at| message.len() > at + 2) {
                    message.insert_str(at + 1, MARK);
                }
            }
        }
        Step::Around(head, tail) => (body.head, body.tail) = (head, tail),
        Step::Layout(between, is_bare) => (body.between, body.is_bare) = (between, *is_bare),
    }
    body
}

fn policy() -> impl Strategy<Value = Policy> {
    let rejecting = || {
        let mut policy = Policy::default();
        policy.repair.rejected_paths = vec![vec!["messages".to_owned(), "0".to_owned(), "name".to_owned()]];
        policy
    };
    prop_oneof![
        4 => Just(Policy::default()),
        1 => select(vec!["minimal", "strict", "opal", "clawos", "llxprt", "kilroy", "libr-agent"])
            .prop_map(|name| Policy::preset(name).unwrap()),
        1 => Just(Policy::from_toml("[synthetic_text]\nmissing = 'lost in the post'").unwrap()),
        1 => Just(Policy::from_toml("duplicate_call_id = 'rename_later'").unwrap()),
        1 => Just(Policy::from_toml("id_mode = 'canonical'\nmerge_same_role = true").unwrap()),
        1 => Just(rejecting()),
    ]
}

/// Options that name the dialect, the provider, both or neither.
fn options(dialect: Dialect) -> impl Strategy<Value = Options> {
    let provider = prop::option::of(select(providers::ALL).prop_map(|provider| provider.name.to_owned()));
    (prop::bool::weighted(0.7), provider, policy(), prop::bool::weighted(0.2)).prop_map(
        move |(is_named, provider, policy, kept)| Options {
            dialect: is_named.then(|| dialect.name().to_owned()),
            provider,
            policy,
            kept,
            ..Options::default()
        },
    )
}

/// The messages of a conversation that is valid, broken, or broken and badly written.
fn messages(dialect: Dialect) -> impl Strategy<Value = Vec<String>> {
    let good = generate::good().prop_map(|good| generate::Broken::new(good, Vec::new()));
    let plain = prop_oneof![good, generate::broken()].prop_map(|broken| Mangled { broken, wire: Vec::new() });
    let mangled = prop_oneof![3 => plain, 1 => generate::mangled()];
    (mangled, generate::style()).prop_map(move |(mangled, style)| {
        let body = mangled.render(dialect, style).text;
        let options = Options { dialect: Some(dialect.name().to_owned()), ..Options::default() };
        let spans = crate::outline::message_spans(body.as_bytes(), &options).unwrap_or_default();
        spans.into_iter().filter_map(|span| body.get(span).map(str::to_owned)).collect()
    })
}

fn list(dialect: Dialect) -> &'static str {
    match dialect.name() {
        "gemini_generate" => "contents",
        "openai_responses" | "gemini_interactions" => "input",
        _ => "messages",
    }
}

type Case = (Dialect, Vec<Vec<String>>, Vec<Options>, Vec<(Step, Index, bool)>);

fn case() -> impl Strategy<Value = Case> {
    select(Dialect::ALL.to_vec()).prop_flat_map(|dialect| {
        let steps = prop::collection::vec((step(), any::<Index>(), prop::bool::weighted(0.2)), 1..16);
        let pools = prop::collection::vec(messages(dialect), 1..4);
        (Just(dialect), pools, prop::collection::vec(options(dialect), 1..4), steps)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_outcome_equals_a_repair_from_scratch((dialect, pools, options, steps) in case()) {
        let odd = ODD.iter().map(|&text| text.to_owned());
        let pool: Vec<String> = pools.iter().flatten().cloned().chain(odd).collect();
        let start = Body { head: HEADS[1], tail: "", between: ",", is_bare: false, messages: pools[0].clone() };
        let mut sent = vec![start];
        let mut requests = Requests::new();
        for (step, chosen, switches) in &steps {
            let options = if *switches { &options[chosen.index(options.len())] } else { &options[0] };
            let body = after(step, &sent, &pool);
            let bytes = body.write(list(dialect));
            let repaired = requests.repair(&bytes, options);
            prop_assert_eq!(repaired, crate::repair(&bytes, options), "{:?}", bytes);
            sent.push(body);
        }
    }
}

fn anthropic() -> Options {
    Options { dialect: Some("anthropic_messages".to_owned()), ..Options::default() }
}

fn body(head: &str, messages: &[&str], tail: &str) -> Bytes {
    Bytes::from(format!("{{{head}\"messages\":[{}]{tail}}}", messages.join(",")))
}

const HEAD: &str = r#""model":"claude-sonnet-4-5","max_tokens":64,"#;
const ASK: &str = r#"{"role":"user","content":"please"}"#;
const ANSWER: &str = r#"{"role":"assistant","content":"here"}"#;
const MARKED: &str =
    r#"{"role":"user","content":[{"type":"text","text":"please","cache_control":{"type":"ephemeral"}}]}"#;

/// The number of messages that were not read again.
fn unread(requests: &mut Requests, body: &Bytes) -> usize {
    let repaired = requests.repair(body, &anthropic()).unwrap();
    assert!(!repaired.is_changed() && std::ptr::eq(body.as_ptr(), repaired.body.as_ptr()));
    requests.unread().messages
}

#[test]
fn only_new_messages_are_read() {
    let mut requests = Requests::new();
    let mut unread = |head: &str, messages: &[&str], tail: &str| unread(&mut requests, &body(head, messages, tail));
    assert_eq!(unread(HEAD, &[ASK, ANSWER, ASK], ""), 0);
    assert_eq!(unread(HEAD, &[ASK, ANSWER, ASK, ANSWER, ASK], ""), 3, "more came");
    assert_eq!(unread(HEAD, &[ASK, ANSWER, ASK, ANSWER, ASK], ""), 5, "nothing changed");
    assert_eq!(unread(HEAD, &[ASK, ANSWER, ASK], ""), 3, "the last messages are gone");
    assert_eq!(unread(HEAD, &[ASK, ANSWER, ASK, ANSWER, MARKED], ""), 3, "a mark came");
    assert_eq!(unread(HEAD, &[ASK, ANSWER, ASK, ANSWER, ASK, ANSWER, MARKED], ""), 4, "a mark moved");
}

#[test]
fn messages_behind_another_head_are_not_read_again() {
    let mut requests = Requests::new();
    let mut unread = |head: &str, messages: &[&str], tail: &str| unread(&mut requests, &body(head, messages, tail));
    assert_eq!(unread(HEAD, &[ASK, ANSWER, ASK, ANSWER, ASK], ""), 0);
    let other = r#""model":"claude-opus-4-1","max_tokens":4096,"#;
    assert_eq!(unread(other, &[ASK, ANSWER, ASK, ANSWER, ASK], ""), 5, "another head");
    assert_eq!(unread("", &[ASK, ANSWER, ASK], r#","model":"claude-opus-4-1","stream":true"#), 3, "behind the list");
    assert_eq!(unread(HEAD, &[MARKED, ANSWER, ASK], ""), 0, "the first message changed");
}

#[test]
fn a_request_that_cannot_be_read_is_an_error_and_leaves_nothing() {
    let mut requests = Requests::new();
    assert_eq!(unread(&mut requests, &body(HEAD, &[ASK, ANSWER, ASK], "")), 0);
    assert!(requests.held_bytes() > 0);
    let broken = Bytes::from_static(br#"{"messages":[{"role":"user","content":"please"},"#);
    assert!(requests.repair(&broken, &anthropic()).is_err());
    assert_eq!((requests.held_bytes(), requests.unread()), (0, Unread::default()));
    let invalid = [&b"{\"messages\":[{\"role\":\"user\",\"content\":\"please\"},\"\xff\"]}"[..]].concat();
    unread(&mut requests, &body("", &[ASK, ANSWER, ASK], ""));
    assert!(requests.repair(&Bytes::from(invalid), &anthropic()).is_err());
}

#[test]
fn repeated_changes_do_not_accumulate_memory() {
    let mut requests = Requests::new();
    let mut afresh = 0;
    for number in 0..100 {
        let call = format!(
            r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_1","name":"tool_{number}","input":{{}}}}]}}"#
        );
        for body in [body(HEAD, &[ASK, &call], ""), body(HEAD, &[ASK], "")] {
            requests.repair(&body, &anthropic()).unwrap();
            afresh += usize::from(requests.unread().messages == 0);
        }
    }
    assert!((10..=150).contains(&afresh), "{afresh}");
}

#[test]
fn requests_can_be_sent_to_other_threads() {
    fn is_send<T: Send>(_: &T) {}
    is_send(&Requests::new());
}

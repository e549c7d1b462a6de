//! Whatever becomes of a list of messages, and however it is looked at: a check says what it would say of a body that
//! nobody looked at before.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use seamline_store::{EntrySource, Origin, Raw};
use seamline_testkit::Dialect;
use seamline_testkit::generate::{self, Mangled};

use super::*;
use crate::{Policy, providers};

/// Entries that are no messages, or hardly, or written by a repair.
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

/// What becomes of the messages between two checks.
#[derive(Debug, Clone)]
enum Step {
    /// These come behind the others.
    Append(Vec<Index>),
    /// The last ones go.
    Cut(Index),
    /// So many from a place on go, and these come there.
    Splice(Index, usize, Vec<Index>),
    /// They are what they were after an earlier step.
    Back(Index),
    /// They are the same, in other places of the memory.
    Copy,
    Nothing,
}

fn step() -> impl Strategy<Value = Step> {
    let some = || prop::collection::vec(any::<Index>(), 0..6);
    prop_oneof![
        6 => some().prop_map(Step::Append),
        2 => any::<Index>().prop_map(Step::Cut),
        2 => (any::<Index>(), 0..4_usize, some()).prop_map(|(at, gone, come)| Step::Splice(at, gone, come)),
        1 => any::<Index>().prop_map(Step::Back),
        1 => Just(Step::Copy),
        1 => Just(Step::Nothing),
    ]
}

/// How messages are looked at.
fn wire() -> impl Strategy<Value = Wire> {
    let policy = prop_oneof![
        Just(Policy::default()),
        Just(Policy::preset("minimal").unwrap()),
        Just(Policy::from_toml("[synthetic_text]\nmissing = 'lost in the post'").unwrap()),
    ];
    (select(providers::ALL), policy).prop_map(|(provider, policy)| {
        Wire::new(Options { provider: Some(provider.name.to_owned()), policy, ..Options::default() }).unwrap()
    })
}

/// Messages of a conversation that is good, broken, or broken and written badly.
fn messages() -> impl Strategy<Value = Vec<Raw>> {
    let good = generate::good().prop_map(|good| generate::Broken::new(good, Vec::new()));
    let plain = prop_oneof![good, generate::broken()].prop_map(|broken| Mangled { broken, wire: Vec::new() });
    let mangled = prop_oneof![plain, generate::mangled()];
    (mangled, select(Dialect::ALL.to_vec()), generate::style()).prop_map(|(mangled, dialect, style)| {
        let body = mangled.render(dialect, style).text;
        let options = Options { dialect: Some(dialect.name().to_owned()), ..Options::default() };
        let spans = crate::message_spans(body.as_bytes(), &options).unwrap_or_default();
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
    };
    messages.iter().map(entry).collect()
}

fn from_scratch(wire: &Wire, messages: &[Raw], options: &Options) -> Result<Checked, SessionError> {
    Ok(crate::check(&wire.body("{}", messages.iter())?, options)?)
}

/// The messages after a step, given all that came before.
fn after(step: &Step, views: &[Vec<Raw>], pool: &[Raw]) -> Vec<Raw> {
    let mut view = views.last().cloned().unwrap_or_default();
    let chosen = |from: &[Index]| from.iter().map(|index| pool[index.index(pool.len())].clone()).collect::<Vec<_>>();
    match step {
        Step::Append(come) => view.extend(chosen(come)),
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
    fn a_check_says_what_one_from_scratch_says(
        pools in prop::collection::vec(messages(), 1..4),
        wires in prop::collection::vec(wire(), 1..4),
        steps in prop::collection::vec((step(), any::<Index>(), any::<bool>()), 1..24),
    ) {
        // Whole conversations come in order most of the time, so that calls find their results.
        let odd = ODD.iter().map(|text| Raw::parse(*text).unwrap());
        let pool: Vec<Raw> = pools.iter().flatten().cloned().chain(odd).collect();
        let mut views = vec![pools[0].clone()];
        let reading = Reading::default();
        for (step, wire, switches) in &steps {
            let view = after(step, &views, &pool);
            let wire = if *switches { &wires[wire.index(wires.len())] } else { &wires[0] };
            let mut pending = wire.options.clone();
            pending.policy.trailing_call = crate::policy::TrailingCall::AllowPending;
            for options in [&wire.options, &pending, &pending] {
                let checked = reading.check(wire, &entries(&view), options);
                prop_assert_eq!(checked, from_scratch(wire, &view, options), "{:?}", &view);
            }
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

/// Whether what is kept goes on to these messages without reading all of them.
fn follows(reading: &Reading, messages: &[Raw]) -> bool {
    reading.kept().take().unwrap().brought_to(&entries(messages)).is_some()
}

#[test]
fn only_what_is_new_is_read() {
    let (wire, reading) = (anthropic(), Reading::default());
    let view = raws(&[ASK, ANSWER, ASK, ANSWER, ASK]);
    let check = |count: usize| reading.check(&wire, &entries(&view[..count]), &wire.options).unwrap();
    check(2);
    assert!(follows(&reading, &view[..3]), "more came");
    check(3);
    assert!(follows(&reading, &view[..2]), "the last one went");
    check(5);
    assert!(!follows(&reading, &view[4..]), "more went than stays");
    check(5);
    assert!(reading.kept().as_ref().unwrap().report.is_some());
}

#[test]
fn what_comes_and_goes_again_does_not_heap_up() {
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
fn what_cannot_be_read_leaves_nothing_behind() {
    let (wire, reading) = (anthropic(), Reading::default());
    reading.check(&wire, &entries(&raws(&[ASK])), &wire.options).unwrap();
    reading.check(&wire, &entries(&raws(&["1"])), &wire.options).unwrap_err();
    assert!(reading.kept().is_none());
    assert_eq!(format!("{reading:?}"), "Reading { messages: None, .. }");
}

#[test]
fn what_takes_much_more_than_its_bytes_is_not_kept() {
    let (wire, reading) = (anthropic(), Reading::default());
    let members: Vec<String> = (0..20_000).map(|at| format!(r#""{at}":0"#)).collect();
    let crowded = format!(r#"{{"role":"user","content":"please",{}}}"#, members.join(","));
    reading.check(&wire, &entries(&raws(&[&crowded])), &wire.options).unwrap();
    assert!(reading.kept().is_none());
    let short = vec![r#"{"role":"user","content":""}"#; 20_000];
    reading.check(&wire, &entries(&raws(&short)), &wire.options).unwrap();
    assert!(reading.kept().is_some(), "short messages are no reason");
}

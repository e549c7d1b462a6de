//! Law L12: what Seamline does not know is kept, and is at most a note.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use seamline::policy::PRESETS;
use seamline::{Options, Policy, Severity, check, providers, repair};
use seamline_testkit::generate;
use seamline_testkit::strict::{self, ViolationKind};
use seamline_testkit::unknown::{self, Unknown};
use seamline_testkit::{Dialect, render};
use serde_json::{Value, json};

use super::{corpus, laws};

/// The number of generated conversations of each dialect; `PROPTEST_CASES` sets another one.
const CONVERSATIONS: usize = 60;
/// The number of generated conversations of each provider in each dialect.
const CONVERSATIONS_OF_PROVIDER: usize = 3;
/// The number of messages of an unknown role that such a conversation gets, one at a time.
const MESSAGES_MAX: usize = 60;
/// The number of places of one body that get an unknown part.
const PLACES_MAX: usize = 120;

seamline_testkit::test_each_dialect!(keeps_unknown_parts);

fn keeps_unknown_parts(dialect: Dialect) {
    let options = laws::options(dialect);
    let mut runner =
        TestRunner::new_with_rng(ProptestConfig::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
    let mut harmed = Harmed::default();
    let conversations = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    for round in 0..conversations.unwrap_or(CONVERSATIONS) {
        let Ok(transcript) = generate::good().new_tree(&mut runner).map(|tree| tree.current()) else { continue };
        let body = render::body(dialect, &generate::fit(dialect, transcript));
        harmed.look_at(&body, &options, PLACES_MAX);
        // Every preset in turn, because all of them on each body take too long. Some have wishes about healthy bodies.
        let preset = &PRESETS[round % PRESETS.len()];
        let policy = Policy::preset(preset.name).unwrap_or_default();
        assert_eq!(policy.preset, preset.name);
        let options = Options { policy, ..options.clone() };
        let settled = repair(body.to_string().as_bytes(), &options).map(|repaired| repaired.body.to_vec());
        let settled: Value = serde_json::from_slice(&settled.unwrap_or_default()).unwrap_or_default();
        assert!(settled.is_object(), "{}: {body}", preset.name);
        harmed.look_at(&settled, &options, PLACES_MAX);
        for pair in unknown::pairs(&body, PLACES_MAX) {
            harmed.pairs += 1;
            let violations = strict::check(dialect, &pair.body);
            // A role that the provider does not have is the point of the body.
            let found = violations.iter().find(|violation| violation.kind != ViolationKind::UnknownRole);
            assert_eq!(found, None, "{} in {}", pair.added, pair.body);
        }
    }
    assert!(harmed.pairs > 100, "only {} bodies had unknown pairs", harmed.pairs);
    harmed.assert_none();
}

mod every_provider {
    seamline_testkit::test_each_dialect!(super::keeps_messages_of_unknown_roles);
}

/// Takes every provider, whether its demands in the dialect are known or not.
#[expect(clippy::unwrap_used, reason = "a body that cannot be repaired fails its test")]
fn keeps_messages_of_unknown_roles(dialect: Dialect) {
    let mut runner =
        TestRunner::new_with_rng(ProptestConfig::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]));
    let mut generated = || generate::good().new_tree(&mut runner).ok().map(|tree| tree.current());
    let transcripts: Vec<_> =
        std::iter::repeat_with(&mut generated).flatten().take(CONVERSATIONS_OF_PROVIDER).collect();
    let mut harmed = Harmed::default();
    for provider in providers::ALL {
        let options = Options { provider: Some(provider.name.to_owned()), ..laws::options(dialect) };
        for transcript in &transcripts {
            let body = render::body(dialect, &generate::fit(dialect, transcript.clone()));
            let settled = repair(body.to_string().as_bytes(), &options).unwrap().body.to_vec();
            let settled: Value = serde_json::from_slice(&settled).unwrap();
            let before = harmed.bodies;
            harmed.look_at_each(unknown::messages(&settled, MESSAGES_MAX), &settled, &options);
            assert!(harmed.bodies > before, "{}: {settled}", provider.name);
        }
    }
    harmed.assert_none();
}

/// `DeepSeek` demands the results right after their calls, among which an item of an unknown type may be.
#[test]
fn items_of_an_unknown_type_separate_no_pairs() {
    let options = Options { provider: Some("deepseek".to_owned()), ..laws::options(Dialect::OpenAiResponses) };
    let mut runner =
        TestRunner::new_with_rng(ProptestConfig::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
    let mut harmed = Harmed::default();
    for _ in 0..CONVERSATIONS {
        let Ok(transcript) = generate::good().new_tree(&mut runner).map(|tree| tree.current()) else { continue };
        let body = render::body(Dialect::OpenAiResponses, &generate::fit(Dialect::OpenAiResponses, transcript));
        let settled = repair(body.to_string().as_bytes(), &options).unwrap().body.to_vec();
        harmed.look_at(&serde_json::from_slice(&settled).unwrap(), &options, PLACES_MAX);
    }
    harmed.assert_none();
}

/// Calls of several messages that are answered together, as providers have accepted them.
#[test]
fn unknown_parts_of_calls_that_are_answered_together_are_left_as_they_are() {
    let mut harmed = Harmed::default();
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "read", "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
    let spoken = json!({"role": "assistant", "content": [{"type": "text", "text": "and"}]});
    for between in [vec![], vec![spoken]] {
        let mut messages = vec![
            json!({"role": "user", "content": [{"type": "text", "text": "go"}]}),
            json!({"role": "assistant", "content": [call("toolu_1")]}),
        ];
        messages.extend(between);
        messages.push(json!({"role": "assistant", "content": [call("toolu_2")]}));
        messages.push(json!({"role": "user", "content": [result("toolu_1"), result("toolu_2")]}));
        let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 64, "messages": messages});
        harmed.look_at(&body, &laws::options(Dialect::AnthropicMessages), usize::MAX);
    }
    let call = |id: &str| json!({"role": "model", "parts": [{"functionCall": {"id": id, "name": "read", "args": {}}}]});
    let result = |id: &str| json!({"functionResponse": {"id": id, "name": "read", "response": {"output": "ok"}}});
    let body = json!({"contents": [
        {"role": "user", "parts": [{"text": "go"}]}, call("a"), call("b"),
        {"role": "user", "parts": [result("a"), result("b")]}]});
    harmed.look_at(&body, &laws::options(Dialect::GeminiGenerate), usize::MAX);
    assert!(harmed.bodies > 60, "only {} bodies", harmed.bodies);
    harmed.assert_nothing();
}

/// Takes every recorded body that a provider accepted, where `SEAMLINE_CORPUS` points at them.
#[test]
fn recorded_bodies_with_unknown_parts_are_left_as_they_are() {
    let Some(corpus) = std::env::var_os("SEAMLINE_CORPUS") else {
        println!("skipped: SEAMLINE_CORPUS is not set");
        return;
    };
    let mut harmed = Harmed::default();
    for dialect in seamline::providers::dialect_names() {
        let path = Path::new(&corpus).join("provider-requests").join(format!("{}.jsonl", dialect.replace('_', "-")));
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        for record in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            if record["status"] != 200 {
                continue;
            }
            let provider = Some(corpus::provider(&record, dialect).to_owned());
            let options = Options { dialect: Some(dialect.to_owned()), provider, ..Options::default() };
            harmed.look_at(&record["body"], &options, 40);
        }
    }
    harmed.assert_none();
}

/// Changes to bodies that should have stayed as they are, with one example of each kind.
#[derive(Default)]
struct Harmed {
    bodies: usize,
    pairs: usize,
    kinds: BTreeMap<String, (usize, String)>,
}

impl Harmed {
    fn look_at(&mut self, body: &Value, options: &Options, most: usize) {
        let variants = unknown::variants(body, most).into_iter().chain(unknown::pairs(body, most));
        self.look_at_each(variants, body, options);
    }

    /// Looks at variants of a body. The findings of the body itself do not count.
    fn look_at_each(&mut self, variants: impl IntoIterator<Item = Unknown>, body: &Value, options: &Options) {
        let known = wrong_with(body, options).unwrap_or_default();
        for variant in variants {
            self.bodies += 1;
            if let Err(kind) = harmless(&variant, &known, options) {
                let provider = options.provider.as_deref().unwrap_or_default();
                let example = format!("{provider}: {} at {:?} of\n{}", variant.added, variant.place, variant.body);
                self.kinds.entry(kind).or_insert((0, example)).0 += 1;
            }
        }
    }

    fn assert_none(&self) {
        assert!(self.bodies > 1000, "only {} bodies were looked at", self.bodies);
        self.assert_nothing();
    }

    fn assert_nothing(&self) {
        let kinds = self.kinds.iter();
        let shown: Vec<String> =
            kinds.map(|(kind, (count, example))| format!("{count} times {kind}: {example}")).collect();
        assert!(self.kinds.is_empty(), "{} bodies\n{}", self.bodies, shown.join("\n"));
    }
}

/// The codes of the findings of a body that are more than a note, with how often each occurs.
fn wrong_with(body: &Value, options: &Options) -> Result<BTreeMap<&'static str, u64>, String> {
    let checked = check(body.to_string().as_bytes(), options).map_err(|error| format!("refused: {error}"))?;
    let mut counts = BTreeMap::new();
    for finding in checked.findings.iter().filter(|finding| finding.severity != Severity::Info) {
        *counts.entry(finding.code).or_default() += 1;
    }
    Ok(counts)
}

/// Checks that a body has only notes, and what was wrong before, and that its bytes stay the same.
fn harmless(variant: &Unknown, known: &BTreeMap<&str, u64>, options: &Options) -> Result<(), String> {
    let wrong = wrong_with(&variant.body, options)?;
    if let Some(code) = wrong.iter().find(|(code, count)| *count > known.get(*code).unwrap_or(&0)) {
        return Err(format!("{} gives {code:?}", variant.added));
    }
    let body = variant.body.to_string();
    let repaired = repair(body.as_bytes(), options).map_err(|error| error.to_string())?;
    if repaired.is_changed() {
        let codes: Vec<&str> = repaired.found.iter().map(|finding| finding.code).collect();
        return Err(format!("{} is edited because of {codes:?}", variant.added));
    }
    Ok(())
}

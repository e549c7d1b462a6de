//! Validators of other projects, if `SEAMLINE_ORACLES` names a Python that has them.
//!
//! `cargo xtask test` creates it and sets the variable. The validators judge generated conversations that were broken
//! and then repaired.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(clippy::print_stdout, reason = "a test prints how much it checked")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use seamline::policy::SafetyMax;
use seamline::{Finding, Options, Policy, repair};
use seamline_testkit::generate;
use seamline_testkit::text::{Escapes, Layout, Style};
use seamline_testkit::{Dialect, render};

/// One body per line.
const COMPACT: Style = Style { layout: Layout::Compact, escapes: Escapes::Needed };

/// The number of damaged conversations for each validator.
const DAMAGED: usize = 600;

#[test]
fn langgraph_accepts_bodies_repaired_for_openai() {
    judged("langgraph", Dialect::OpenAiChat, "openai");
}

#[test]
fn mistral_accepts_bodies_repaired_for_it() {
    judged("mistral", Dialect::OpenAiChat, "mistral");
}

#[test]
fn botocore_accepts_bodies_repaired_for_bedrock() {
    judged("converse", Dialect::BedrockConverse, "bedrock");
}

/// Repairs damaged conversations for a provider and has them judged, with safe fixes only and with unsafe fixes.
fn judged(judge: &str, dialect: Dialect, provider: &str) {
    let Some(python) = std::env::var_os("SEAMLINE_ORACLES") else {
        println!("skipped: SEAMLINE_ORACLES is not set");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracles/judge.py");
    for (leave, safety) in [("unasked", Policy::default().repair.safety), ("with leave", SafetyMax::Unsafe)] {
        let mut policy = Policy::default();
        policy.repair.safety = safety;
        let (bodies, left) = repaired(dialect, provider, &policy);
        let verdicts = ask(Command::new(&python).arg(&script).arg(judge), &bodies.join("\n"));
        assert_eq!(verdicts.len(), bodies.len(), "{judge} did not answer to each");
        for (body, verdict) in bodies.iter().zip(&verdicts) {
            assert_eq!(verdict, "null", "{judge} rejects a body that was repaired {leave}\n{body}");
        }
        let skipped = DAMAGED - bodies.len();
        println!(
            "{judge}: {} damaged conversations repaired {leave} and accepted, {skipped} skipped for {left:?}",
            bodies.len()
        );
    }
}

/// Damaged conversations, repaired, one per line. It skips those with findings that only an unsafe fix repairs if the
/// policy does not allow it, and returns the number of skipped ones by rule.
fn repaired(dialect: Dialect, provider: &str, policy: &Policy) -> (Vec<String>, BTreeMap<&'static str, usize>) {
    let mut runner = TestRunner::deterministic();
    let options = Options { provider: Some(provider.to_owned()), policy: policy.clone(), ..Options::default() };
    let broken = generate::broken();
    let mut bodies = Vec::new();
    let mut left = BTreeMap::new();
    for _ in 0..DAMAGED {
        let broken = broken.new_tree(&mut runner).unwrap().current();
        let body = render::render(dialect, &broken.transcript, COMPACT);
        let repaired = repair(body.as_bytes(), &options).unwrap();
        let waits = |finding: &Finding| finding.fix.as_ref().is_some_and(|fix| !policy.allows(fix.safety));
        assert!(repaired.remaining.iter().all(waits), "{:?}\n{body}", repaired.remaining);
        let codes: BTreeSet<&str> = repaired.remaining.iter().map(|finding| finding.code).collect();
        for code in codes {
            *left.entry(code).or_default() += 1;
        }
        if repaired.remaining.is_empty() {
            bodies.push(String::from_utf8(repaired.body.into_bytes().into_owned()).unwrap());
        }
    }
    (bodies, left)
}

/// The output of a command for a text, line by line.
fn ask(command: &mut Command, text: &str) -> Vec<String> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // A thread writes while this one reads, so that neither waits for the other's pipe.
        scope.spawn(move || stdin.write_all(text.as_bytes()));
        child.wait_with_output().unwrap()
    });
    assert!(output.status.success(), "{command:?} failed");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

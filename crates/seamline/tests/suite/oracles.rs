//! Judges that are not ours, where `SEAMLINE_ORACLES` names a Python that has them.
//!
//! `cargo xtask test` makes one and sets the variable; what is judged are generated
//! conversations that were broken and then repaired.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(clippy::print_stdout, reason = "a test says how much it looked at")]

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

/// One body a line.
const COMPACT: Style = Style { layout: Layout::Compact, escapes: Escapes::Needed };

/// How many damaged conversations each judge sees.
const DAMAGED: usize = 600;

#[test]
fn langgraph_takes_what_is_repaired_for_openai() {
    judged("langgraph", Dialect::OpenAiChat, "openai");
}

#[test]
fn mistral_takes_what_is_repaired_for_it() {
    judged("mistral", Dialect::OpenAiChat, "mistral");
}

#[test]
fn botocore_takes_what_is_repaired_for_bedrock() {
    judged("converse", Dialect::BedrockConverse, "bedrock");
}

/// Repairs damaged conversations for a provider and has them judged: with what a repair does
/// unasked, and with what it does only with leave.
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
            assert_eq!(verdict, "null", "{judge} refuses what was repaired {leave}\n{body}");
        }
        let skipped = DAMAGED - bodies.len();
        println!(
            "{judge}: {} damaged conversations repaired {leave} and accepted, {skipped} skipped for {left:?}",
            bodies.len()
        );
    }
}

/// Damaged conversations, repaired, one line each. Those are skipped in which something is
/// left that only an unsafe fix mends, which the policy does not allow; the rules that found it
/// are given with how many they skip.
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

/// What a command answers to a text, line by line.
fn ask(command: &mut Command, text: &str) -> Vec<String> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // Written beside the reading, so that neither waits for the other's pipe.
        scope.spawn(move || stdin.write_all(text.as_bytes()));
        child.wait_with_output().unwrap()
    });
    assert!(output.status.success(), "{command:?} failed");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

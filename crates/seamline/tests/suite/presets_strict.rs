//! No preset calls a body clean that the strict check of the testkit rejects, before or after a repair.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use seamline::policy::{PRESETS, TrailingCall};
use seamline::{Finding, Options, Policy, Severity, check, repair};
use seamline_testkit::generate::{self, Broken};
use seamline_testkit::strict::{self, ViolationKind};
use seamline_testkit::transcript::{Block, Call, CallResult, Input, Message, Role};
use seamline_testkit::{Dialect, render};
use serde_json::{Value, json};

use super::laws;

/// The number of bodies for each preset and dialect; `cargo xtask soak` takes all of them.
const BODIES: usize = 40;
const BODIES_SOAK: usize = 5000;

/// Adds a turn with two calls of which only the first has a result.
fn answer_partly(broken: &mut Broken) {
    let call = |id: &str| {
        let input = Input::Object(json!({}));
        Block::Call(Call { id: Some(id.to_owned()), name: "read".to_owned(), input })
    };
    let messages = &mut broken.transcript.messages;
    messages.push(Message::text(Role::User, "and now?"));
    messages.push(Message::new(Role::Assistant, vec![call("toolu_partly_a"), call("toolu_partly_b")]));
    messages.push(Message::result(CallResult::new("toolu_partly_a", "done")));
}

/// Whether `seamline check` or `fix` would exit with 0 for these findings.
fn is_clean(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.severity == Severity::Info)
}

/// What the strict check rejects, except calls at the end that the policy lets be answered later.
fn rejections(dialect: Dialect, body: &[u8], policy: &Policy) -> Vec<String> {
    let body: Value = serde_json::from_slice(body).unwrap();
    let violations = strict::check(dialect, &body);
    let pending = policy.for_provider(dialect.provider()).repair.trailing_call == TrailingCall::AllowPending;
    let is_pending =
        |kind: ViolationKind| pending && kind == ViolationKind::UnansweredCall && ends_with_open_calls(dialect, &body);
    violations.iter().filter(|found| !is_pending(found.kind)).map(|found| format!("{found:?}")).collect()
}

/// Whether the last message only makes calls, so that none of them has a result.
fn ends_with_open_calls(dialect: Dialect, body: &Value) -> bool {
    let last = body[dialect.list_key()].as_array().and_then(|messages| messages.last());
    last.is_some_and(|last| last["role"] == dialect.assistant_role() || last["type"] == "function_call")
}

fn judge(dialect: Dialect, preset: &str, body: &str) -> Result<(), String> {
    let policy = Policy::preset(preset).unwrap();
    let options = Options { policy, ..laws::options(dialect) };
    let checked = check(body.as_bytes(), &options).map_err(|error| error.to_string())?;
    let refused = rejections(dialect, body.as_bytes(), &options.policy);
    if is_clean(&checked.findings) && !refused.is_empty() {
        return Err(format!("check calls it clean: {refused:?}"));
    }
    let repaired = repair(body.as_bytes(), &options).map_err(|error| error.to_string())?;
    let refused = rejections(dialect, &repaired.body, &options.policy);
    if is_clean(&repaired.remaining) && !refused.is_empty() {
        return Err(format!("fix calls it clean: {refused:?}\n{}", String::from_utf8_lossy(&repaired.body)));
    }
    Ok(())
}

#[test]
fn no_preset_calls_clean_what_a_provider_rejects() {
    let bodies = if std::env::var_os("SEAMLINE_SOAK").is_some() { BODIES_SOAK } else { BODIES };
    let mut failed = Vec::new();
    for dialect in Dialect::ALL {
        for preset in PRESETS {
            let mut runner = TestRunner::deterministic();
            for number in 0..bodies {
                let mut broken = generate::broken().new_tree(&mut runner).unwrap().current().fit(dialect);
                let style = generate::style().new_tree(&mut runner).unwrap().current();
                if number % 2 == 0 {
                    answer_partly(&mut broken);
                }
                let body = render::render(dialect, &broken.transcript, style);
                if let Err(error) = judge(dialect, preset.name, &body) {
                    let damages = &broken.damages;
                    failed.push(format!("{} {} {damages:?}: {error}\n{body}", dialect.name(), preset.name));
                }
            }
        }
    }
    let shown: Vec<_> = failed.iter().take(10).map(String::as_str).collect();
    assert!(failed.is_empty(), "{} bodies:\n{}", failed.len(), shown.join("\n\n"));
}

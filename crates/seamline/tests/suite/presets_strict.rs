//! No preset calls a body clean that the strict check of the testkit rejects, before or after a repair.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use seamline::policy::{PRESETS, TrailingCall};
use seamline::{Finding, Options, Policy, Severity, check, repair};
use seamline_testkit::generate::{self, Broken};
use seamline_testkit::strict::{self, Violation, ViolationKind};
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

/// Puts a message with the role of a tool into a body: the result of some call, or of none. Returns nothing for a body that
/// is not JSON.
fn add_tool_role(dialect: Dialect, body: &str, number: usize) -> Option<String> {
    let mut body: Value = serde_json::from_str(body).ok()?;
    let text = "out of a tool";
    let content = if dialect.has_text_content() { json!(text) } else { json!([{"text": text}]) };
    let role = if number.is_multiple_of(3) { "function" } else { "tool" };
    let message = match number % 5 {
        0 | 1 => json!({"role": role, "content": content}),
        2 => json!({"role": role, "tool_call_id": "toolu_partly_b", "content": content}),
        3 => json!({"role": role, "tool_call_id": "toolu_partly_a", "content": content, "name": "read"}),
        _ => json!({"role": role, "tool_call_id": "toolu_elsewhere", "content": [{"type": "text", "text": "out"}]}),
    };
    let messages = body[dialect.list_key()].as_array_mut()?;
    messages.insert(number * 7 % (messages.len() + 1), message);
    Some(body.to_string())
}

/// The dialects that have no role of a tool.
const WITHOUT_TOOL_ROLE: [Dialect; 3] =
    [Dialect::AnthropicMessages, Dialect::OpenAiResponses, Dialect::BedrockConverse];

/// Whether `seamline check` or `fix` would exit with 0 for these findings.
fn is_clean(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.severity == Severity::Info)
}

/// Runs the strict check and gives its violations, except calls at the end that the policy lets be answered later:
/// these are not in the body that is asked about unanswered calls.
fn rejections(dialect: Dialect, body: &[u8], policy: &Policy) -> Result<Vec<String>, String> {
    let body: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let is_pending = policy.for_provider(dialect.provider()).repair.trailing_call == TrailingCall::AllowPending;
    let is_about_calls = |violation: &&Violation| violation.kind == ViolationKind::UnansweredCall;
    let all = strict::check(dialect, &body);
    let unanswered = if is_pending { strict::check(dialect, &without_last_calls(dialect, body)) } else { all.clone() };
    let others = all.iter().filter(|violation| !is_about_calls(violation));
    Ok(unanswered.iter().filter(is_about_calls).chain(others).map(|violation| format!("{violation:?}")).collect())
}

/// The body without the calls of its last turn, if none of them has a result.
fn without_last_calls(dialect: Dialect, mut body: Value) -> Value {
    let calls = |entry: &Value| entry["role"] == dialect.assistant_role() || entry["type"] == "function_call";
    if let Some(entries) = body[dialect.list_key()].as_array_mut() {
        let is_item = entries.last().is_some_and(|last| last["type"] == "function_call");
        let kept = entries.len() - entries.iter().rev().take_while(|entry| calls(entry)).count();
        // A turn is one message, or several items.
        entries.truncate(if is_item { kept } else { kept.max(entries.len().saturating_sub(1)) });
    }
    body
}

fn judge(dialect: Dialect, preset: &str, body: &str) -> Result<(), String> {
    let policy = Policy::preset(preset).ok_or("no such preset")?;
    let options = Options { policy, ..laws::options(dialect) };
    let checked = check(body.as_bytes(), &options).map_err(|error| error.to_string())?;
    let refused = rejections(dialect, body.as_bytes(), &options.policy)?;
    if is_clean(&checked.findings) && !refused.is_empty() {
        return Err(format!("check calls it clean: {refused:?}"));
    }
    let repaired = repair(body.as_bytes(), &options).map_err(|error| error.to_string())?;
    let refused = rejections(dialect, &repaired.body, &options.policy)?;
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
                let mut body = render::render(dialect, &broken.transcript, style);
                if number % 4 < 2 && WITHOUT_TOOL_ROLE.contains(&dialect) {
                    body = add_tool_role(dialect, &body, number).unwrap_or(body);
                }
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

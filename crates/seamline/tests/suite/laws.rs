//! The laws, as functions that say which one a body breaks.

use std::collections::BTreeSet;

use seamline::{Options, check, repair};
use seamline_dialects::Document;
use seamline_model::{CallState, Pairing, Scope};
use seamline_testkit::{Dialect, lossless, strict};
use serde_json::Value;
use serde_json::value::RawValue;

/// The options for a dialect and the provider that the strict check speaks for.
pub(crate) fn options(dialect: Dialect) -> Options {
    let provider = match dialect {
        Dialect::AnthropicMessages => "anthropic",
        Dialect::OpenAiChat => "openai",
    };
    Options { dialect: Some(dialect.name().to_owned()), provider: Some(provider.to_owned()), ..Options::default() }
}

/// Checks L1 to L6 and L8 on one body. `Err` names the law and shows what came out.
pub(crate) fn hold(dialect: Dialect, body: &str, payloads: &[String]) -> Result<(), String> {
    let options = options(dialect);
    let fail = |law: &str, shown: &str| Err(format!("{law}\n--- in\n{body}\n--- out\n{shown}"));
    let before: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
    let accepted = check(body.as_bytes(), &options).map_err(|error| error.to_string())?.accepted();
    let violations = strict::check(dialect, &before);
    if accepted != violations.is_empty() {
        return fail("check and the strict check disagree", &format!("accepted {accepted}, strict {violations:?}"));
    }
    let repaired = repair(body.as_bytes(), &options).map_err(|error| error.to_string())?;
    let out = std::str::from_utf8(&repaired.body).map_err(|error| error.to_string())?;
    if accepted && repaired.found.is_empty() && repaired.changed() {
        return fail("L1: clean in, other bytes out", out);
    }
    let after: Value = serde_json::from_str(out).map_err(|error| format!("{error}\n{out}"))?;
    let violations = strict::check(dialect, &after);
    if !violations.is_empty() {
        return fail(&format!("L3: not settled: {violations:?}"), out);
    }
    let missing = lossless::missing_payloads(&after, payloads);
    if !missing.is_empty() {
        return fail(&format!("L6: lost {missing:?}"), out);
    }
    let again = repair(out.as_bytes(), &options).map_err(|error| error.to_string())?;
    if again.changed() {
        return fail("L2: the second repair changes something", &String::from_utf8_lossy(&again.body));
    }
    Ok(())
}

/// Checks L7: what a longer body makes of its head is what the head alone becomes, as far
/// as no call and result stand on different sides of the cut.
pub(crate) fn prefix_stable(dialect: Dialect, head: &str, whole: &str) -> Result<(), String> {
    let options = options(dialect);
    let first = repair(head.as_bytes(), &options).map_err(|error| error.to_string())?;
    let second = repair(whole.as_bytes(), &options).map_err(|error| error.to_string())?;
    let cut = messages(head.as_bytes())?.len();
    let settled = first_torn_message(dialect, head, whole)?;
    let (one, other) = (messages(&first.body)?, messages(&second.body)?);
    for (at, message) in one.iter().enumerate() {
        let torn = |origins: &[Option<usize>]| {
            settled < cut && origins.get(at).is_none_or(|origin| origin.is_none_or(|origin| origin >= settled))
        };
        if torn(&first.origins) || torn(&second.origins) {
            break;
        }
        if other.get(at).map(|raw| raw.get()) != Some(message.get()) {
            return Err(format!(
                "L7: output message {at} changes when the body grows\n--- head\n{head}\n--- becomes\n{}\n--- whole\n{whole}\n--- becomes\n{}",
                String::from_utf8_lossy(&first.body),
                String::from_utf8_lossy(&second.body)
            ));
        }
    }
    Ok(())
}

fn messages(body: &[u8]) -> Result<Vec<&RawValue>, String> {
    #[derive(serde::Deserialize)]
    struct Body<'b> {
        #[serde(borrow)]
        messages: Vec<&'b RawValue>,
    }
    serde_json::from_slice::<Body<'_>>(body).map(|body| body.messages).map_err(|error| error.to_string())
}

/// The first message of the head that may change, because a call and its result stand on
/// different sides of the cut: the first that pairs differently alone than in the whole.
/// The end of the head when no pair is torn; then nothing may change.
fn first_torn_message(dialect: Dialect, head: &str, whole: &str) -> Result<usize, String> {
    let (alone, together) = (pairs(dialect, head)?, pairs(dialect, whole)?);
    let cut = messages(head.as_bytes())?.len();
    let torn = |pair: &&(usize, usize)| (pair.0 < cut) != (pair.1 < cut);
    if !together.iter().any(|pair| torn(&pair)) {
        return Ok(cut);
    }
    let differing = alone.symmetric_difference(&together).map(|(call, result)| *call.min(result));
    Ok(differing.min().unwrap_or(cut).min(cut))
}

/// The messages of every call and of the result that answers it.
fn pairs(dialect: Dialect, body: &str) -> Result<BTreeSet<(usize, usize)>, String> {
    let document = Document::read(body).map_err(|error| error.kind.to_string())?;
    let dialect = seamline_dialects::by_name(dialect.name()).ok_or("no such dialect")?;
    let transcript = dialect.decode(&document).map_err(|error| error.to_string())?;
    let joint = dialect.constraints().joint_answers;
    let pairing = Pairing::of(&transcript, Scope { joint, ..Scope::ALL });
    let pair = |state: &CallState| Some((state.message.get(), transcript.block(state.answer?.result).message.get()));
    Ok(pairing.calls.iter().filter_map(pair).collect())
}

/// Checks L5: a message that stems from another one and that no action names or reaches
/// has its bytes.
pub(crate) fn minimal(dialect: Dialect, body: &str) -> Result<(), String> {
    let repaired = repair(body.as_bytes(), &options(dialect)).map_err(|error| error.to_string())?;
    let (before, after) = (messages(body.as_bytes())?, messages(&repaired.body)?);
    let named: BTreeSet<&str> =
        repaired.actions.iter().filter_map(|action| action.pointer.as_deref()?.split('/').nth(2)).collect();
    let reached: BTreeSet<&str> = repaired.actions.iter().filter_map(|action| action.after_hash.as_deref()).collect();
    for (at, origin) in repaired.origins.iter().enumerate() {
        let Some(origin) = *origin else { continue };
        if reached.contains(blake3::hash(after[at].get().as_bytes()).to_hex().as_str()) {
            continue;
        }
        if !named.contains(origin.to_string().as_str()) && before[origin].get() != after[at].get() {
            return Err(format!(
                "L5: message {origin} changed and no action names it\n--- in\n{body}\n--- out\n{}\n{:?}",
                String::from_utf8_lossy(&repaired.body),
                repaired.actions
            ));
        }
    }
    Ok(())
}

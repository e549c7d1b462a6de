//! The laws, as functions that say which one a body breaks.

use seamline::{Options, check, repair};
use seamline_dialects::Document;
use seamline_model::{Pairing, ResultState, Scope};
use seamline_testkit::{Dialect, lossless, strict};
use serde_json::Value;
use serde_json::value::RawValue;

/// The options for a dialect and the provider that the strict check speaks for.
pub(crate) fn options(dialect: Dialect) -> Options {
    let provider = match dialect {
        Dialect::AnthropicMessages => "anthropic",
        Dialect::OpenAiChat => "openai",
    };
    Options {
        dialect: Some(dialect.name().to_owned()),
        provider: Some(provider.to_owned()),
        ..Options::default()
    }
}

/// Checks L1 to L6 and L8 on one body. `Err` names the law and shows what came out.
pub(crate) fn hold(dialect: Dialect, body: &str, payloads: &[String]) -> Result<(), String> {
    let options = options(dialect);
    let fail = |law: &str, shown: &str| Err(format!("{law}\n--- in\n{body}\n--- out\n{shown}"));
    let before: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
    let accepted = check(body.as_bytes(), &options)
        .map_err(|error| error.to_string())?
        .accepted();
    let violations = strict::check(dialect, &before);
    if accepted != violations.is_empty() {
        return fail(
            "check and the strict check disagree",
            &format!("accepted {accepted}, strict {violations:?}"),
        );
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
        return fail(
            "L2: the second repair changes something",
            &String::from_utf8_lossy(&again.body),
        );
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
    let settled = first_torn_message(dialect, whole, cut)?;
    let (one, other) = (messages(&first.body)?, messages(&second.body)?);
    for (at, message) in one.iter().enumerate() {
        let torn = |origins: &[Option<usize>]| {
            settled < cut
                && origins
                    .get(at)
                    .is_none_or(|origin| origin.is_none_or(|origin| origin >= settled))
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
    serde_json::from_slice::<Body<'_>>(body)
        .map(|body| body.messages)
        .map_err(|error| error.to_string())
}

/// The first message before `cut` that may change because a call before the cut is
/// answered after it, or a result before it belongs to a call after it; `cut` if there is
/// none. A result that stood in for the answer until then may change as well.
fn first_torn_message(dialect: Dialect, whole: &str, cut: usize) -> Result<usize, String> {
    let document = Document::read(whole).map_err(|error| error.kind.to_string())?;
    let dialect = seamline_dialects::by_name(dialect.name()).ok_or("no such dialect")?;
    let transcript = dialect
        .decode(&document)
        .map_err(|error| error.to_string())?;
    let pairing = Pairing::of(&transcript, Scope::ALL);
    let torn = pairing.calls.iter().filter_map(|state| {
        let result = transcript.block(state.answer?.result).message.get();
        let call = state.message.get();
        let same_id = |other: &ResultState| {
            transcript.result(other.result).map(|result| &result.id)
                == transcript.call(state.call).map(|call| &call.id)
        };
        let stand_in = pairing
            .results
            .iter()
            .find(|other| same_id(other))
            .map(|other| transcript.block(other.result).message.get());
        let first = call.min(result).min(stand_in.unwrap_or(call));
        ((call < cut) != (result < cut)).then_some(first)
    });
    Ok(torn.min().unwrap_or(cut))
}

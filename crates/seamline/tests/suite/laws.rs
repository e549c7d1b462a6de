//! The laws, as functions that name the law that a body breaks.

use std::collections::BTreeSet;
use std::ops::Range;

use seamline::repair::Repaired;
use seamline::{Error, Options, Safety, Severity, check, repair};
use seamline_dialects::Document;
use seamline_model::BlockIndex;
use seamline_testkit::{Dialect, lossless, strict};
use serde_json::Value;

use super::reading::{Answered, Reading, says, texts};

/// The options for a dialect and the provider that the strict check judges for.
pub(crate) fn options(dialect: Dialect) -> Options {
    let (name, provider) = (dialect.name().to_owned(), dialect.provider().to_owned());
    Options { dialect: Some(name), provider: Some(provider), ..Options::default() }
}

/// A provider that the strict check knows.
#[derive(Clone, Copy)]
pub(crate) enum Judge {
    /// The provider that defines a dialect.
    Of(Dialect),
    /// DeepSeek's Responses API, which demands another order.
    DeepSeekResponses,
}

impl Judge {
    pub(crate) fn dialect(self) -> Dialect {
        match self {
            Self::Of(dialect) => dialect,
            Self::DeepSeekResponses => Dialect::OpenAiResponses,
        }
    }

    fn options(self) -> Options {
        let options = options(self.dialect());
        match self {
            Self::Of(_) => options,
            Self::DeepSeekResponses => Options { provider: Some("deepseek".to_owned()), ..options },
        }
    }

    fn check(self, body: &Value) -> Vec<strict::Violation> {
        match self {
            Self::Of(dialect) => strict::check(dialect, body),
            Self::DeepSeekResponses => strict::check_deepseek_responses(body),
        }
    }
}

/// How much of a body can be repaired without loss.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mendable {
    /// All of it.
    Wholly,
    /// All but the findings without a safe fix.
    Safely,
}

/// A body and the output of its repair.
pub(crate) struct Outcome<'b> {
    before: Reading<'b>,
    repaired: Repaired<'b>,
    /// The positions of the messages in the output.
    spans: Vec<Range<usize>>,
    /// Whether the provider requires alternating roles.
    must_take_turns: bool,
}

/// Checks L1 to L6 and L8 on one body, for the provider that defines the dialect.
pub(crate) fn hold<'b>(
    dialect: Dialect,
    body: &'b str,
    payloads: &[String],
    mendable: Mendable,
) -> Result<Outcome<'b>, String> {
    hold_for(Judge::Of(dialect), body, payloads, mendable)
}

/// Checks L1 to L6 and L8 on one body. `Err` names the law and shows the output.
pub(crate) fn hold_for<'b>(
    judge: Judge,
    body: &'b str,
    payloads: &[String],
    mendable: Mendable,
) -> Result<Outcome<'b>, String> {
    let (dialect, options) = (judge.dialect(), judge.options());
    let repaired = mend(body, &options)?;
    let fail = |law: String| format!("{law}\n--- in\n{body}\n--- out\n{}", String::from_utf8_lossy(&repaired.body));
    let out = std::str::from_utf8(&repaired.body).map_err(|error| error.to_string())?;
    let before = Reading::of(dialect, body)?;
    let after = Reading::of(dialect, out).map_err(fail)?;
    let accepted = agrees(judge, body, &options, mendable).map_err(fail)?;
    if accepted && repaired.found.is_empty() && repaired.is_changed() {
        return Err(fail("L1: clean in, other bytes out".to_owned()));
    }
    let again = repair(out.as_bytes(), &options).map_err(|error| error.to_string())?;
    if again.is_changed() {
        return Err(fail(format!("L2: the second repair gives {}", String::from_utf8_lossy(&again.body))));
    }
    let said: Value = serde_json::from_str(out).map_err(|error| fail(error.to_string()))?;
    settled(judge, &said, &repaired, mendable).map_err(fail)?;
    let twin = repair(body.as_bytes(), &options).map_err(|error| error.to_string())?;
    if twin.body != repaired.body || twin.actions != repaired.actions {
        return Err(fail(format!("L4: another time it gives {}", String::from_utf8_lossy(&twin.body))));
    }
    minimal(&before, &after, &repaired).map_err(fail)?;
    let missing = lossless::missing_payloads(&said, payloads);
    if !missing.is_empty() || !repaired.is_lossless() {
        return Err(fail(format!("L6: lost {missing:?}, dropped {:?}", repaired.dropped)));
    }
    honest(&before, &after).map_err(fail)?;
    associated(&before, &after).map_err(fail)?;
    let spans = after.transcript.messages.iter().map(|message| message.span.range()).collect();
    let must_take_turns = dialect.must_take_turns();
    Ok(Outcome { before, repaired, spans, must_take_turns })
}

/// The repair; a panic shows the body.
fn mend<'b>(body: &'b str, options: &Options) -> Result<Repaired<'b>, String> {
    let repaired = std::panic::catch_unwind(|| repair(body.as_bytes(), options));
    let repaired = repaired.map_err(|_| format!("L11: it panicked\n{body}"))?;
    repaired.map_err(|error| format!("{error}\n{body}"))
}

/// Checks that hold under every policy and for every provider: the output is readable and final, and all content is in
/// it or among the dropped content. Presets that drop nothing keep all content.
pub(crate) fn hold_everywhere(body: &str, payloads: &[String], options: &Options) -> Result<(), String> {
    let repaired = mend(body, options)?;
    let fail = |law: String| format!("{law}\n--- in\n{body}\n--- out\n{}", String::from_utf8_lossy(&repaired.body));
    hold_at_least(&repaired, options).map_err(fail)?;
    let out: Value = match serde_json::from_slice(&repaired.body) {
        Ok(out) => out,
        // Half a surrogate pair stays where no change is allowed.
        Err(_) if !options.policy.allows(seamline::Safety::Safe) => return Ok(()),
        Err(error) => return Err(fail(error.to_string())),
    };
    let mut missing = lossless::missing_payloads(&out, payloads);
    let keeps = KEEPING.contains(&options.policy.preset.as_str());
    let told = |dropped: &&seamline::repair::Dropped| !keeps || REFUSED.contains(&dropped.code);
    let holds = |source: &str, payload: &str| {
        source.contains(payload) || says(source, payload) || says(&format!("{{{source}}}"), payload)
    };
    missing.retain(|payload| !repaired.dropped.iter().filter(told).any(|dropped| holds(&dropped.source, payload)));
    if !missing.is_empty() {
        return Err(fail(format!("L6: lost {missing:?}, dropped {:?}", repaired.dropped)));
    }
    Ok(())
}

/// Presets that drop no content.
const KEEPING: [&str; 3] = ["lossless", "strict", "llxprt"];

/// Rules about members that a provider rejects with any value; unsafe fixes remove them.
const REFUSED: [&str; 2] = ["REASON004", "WIRE013"];

/// Checks that hold for every input: the output is JSON, the repair settled, and a second repair changes nothing.
pub(crate) fn hold_at_least(repaired: &Repaired<'_>, options: &Options) -> Result<(), String> {
    let out = std::str::from_utf8(&repaired.body).map_err(|error| error.to_string())?;
    Document::read(out).map_err(|error| format!("not JSON: {} in {out}", error.kind))?;
    let findings = || repaired.found.iter().chain(&repaired.remaining);
    if let Some(bug) = findings().find(|finding| finding.code.starts_with("BUG")) {
        return Err(format!("{bug:?} in {out}"));
    }
    let blocked = !options.policy.allows(seamline::Safety::Safe);
    if blocked && repaired.is_changed() {
        return Err(format!("changed where nothing may be: {out}"));
    }
    let again = match repair(&repaired.body, options) {
        Ok(again) => again,
        // If only values that are not messages are left, there is no conversation.
        Err(Error::Body(seamline_dialects::Error::NoMessage { .. })) => return Ok(()),
        Err(error) => return Err(format!("{error} in {out}")),
    };
    if again.is_changed() {
        return Err(format!("L2: {out}\nbecomes {}", String::from_utf8_lossy(&again.body)));
    }
    Ok(())
}

/// Whether the provider accepts the body; the check and the strict check must agree. The strict check does not know
/// fields in the wrong place, so there the check may find more.
fn agrees(judge: Judge, body: &str, options: &Options, mendable: Mendable) -> Result<bool, String> {
    let accepted = check(body.as_bytes(), options).map_err(|error| error.to_string())?.is_accepted();
    // If this reader cannot read it, no provider can.
    let violations = serde_json::from_str(body).ok().map(|value| judge.check(&value));
    let taken = violations.as_ref().is_some_and(Vec::is_empty);
    if accepted != taken && (accepted || mendable == Mendable::Wholly) {
        return Err(format!("check and the strict check disagree: accepted {accepted}, strict {violations:?}"));
    }
    Ok(accepted)
}

/// L3: the strict check accepts the output, unless the remaining findings have no safe fix.
fn settled(judge: Judge, out: &Value, repaired: &Repaired<'_>, mendable: Mendable) -> Result<(), String> {
    let errors = || repaired.remaining.iter().filter(|finding| finding.severity == Severity::Error);
    if mendable == Mendable::Safely && errors().count() > 0 {
        let safe = errors().find(|finding| finding.fix.as_ref().is_some_and(|fix| fix.safety == Safety::Safe));
        return safe.map_or(Ok(()), |finding| Err(format!("L3: a safe fix was left: {finding:?}")));
    }
    let violations = judge.check(out);
    if !violations.is_empty() || errors().count() > 0 {
        return Err(format!("L3: not settled: {violations:?}, {:?}", repaired.remaining));
    }
    Ok(())
}

/// L5: a message that comes from another one and that no action names or reaches is byte-identical.
fn minimal(before: &Reading<'_>, after: &Reading<'_>, repaired: &Repaired<'_>) -> Result<(), String> {
    let named: BTreeSet<&str> =
        repaired.actions.iter().filter_map(|action| action.pointer.as_deref()?.split('/').nth(2)).collect();
    let reached: BTreeSet<&str> = repaired.actions.iter().filter_map(|action| action.after_hash.as_deref()).collect();
    for (at, origin) in repaired.origins.iter().enumerate() {
        let Some(origin) = *origin else { continue };
        let (old, new) = (before.message(origin), after.message(at));
        if old != new
            && !named.contains(origin.to_string().as_str())
            && !new.is_some_and(|new| reached.contains(blake3::hash(new.as_bytes()).to_hex().as_str()))
        {
            return Err(format!("L5: message {origin} changed and no action names it: {:?}", repaired.actions));
        }
    }
    Ok(())
}

/// L8: the content of a result was there before, or is marked as synthetic.
fn honest(before: &Reading<'_>, after: &Reading<'_>) -> Result<(), String> {
    let known: BTreeSet<&str> = before.results().map(|result| result.content).collect();
    for result in after.results().filter(|result| !result.synthetic && !known.contains(result.content)) {
        // A value that no result may hold is kept as text, and pictures leave a result that may not hold them.
        let said = texts(result.content);
        if let Some(stranger) = said.iter().find(|text| !before.says(text)) {
            return Err(format!("L8: a result says `{stranger}`, which is not in the input, and has no mark"));
        }
        if said.is_empty() && !before.results().any(|result| texts(result.content).is_empty()) {
            return Err(format!("L8: a result says nothing ({}) and has no mark", result.content));
        }
    }
    Ok(())
}

/// L8: a result that answered a call still answers it, wherever it moved.
fn associated(before: &Reading<'_>, after: &Reading<'_>) -> Result<(), String> {
    if before.is_uncertain() {
        return Ok(());
    }
    let (old, new) = (before.answers(), after.answers());
    for (at, (mark, answer)) in old.iter().enumerate() {
        // A result without content may have been filled with synthetic text.
        let Some(answer) = answer.as_ref().filter(|answer| !texts(answer).is_empty() || answer.contains("image"))
        else {
            continue;
        };
        let once = |calls: &[Answered<'_>]| calls.iter().filter(|(other, _)| other == mark).count() == 1;
        let found = if mark.is_some() && once(&old) {
            new.iter().find(|(other, _)| other == mark)
        } else if old.len() == new.len() {
            // A call without a mark is identified by its place, as long as no call was added or removed.
            new.get(at)
        } else {
            continue;
        };
        let still = found
            .and_then(|(_, answer)| *answer)
            .is_some_and(|content| content == *answer || texts(answer).iter().all(|text| says(content, text)));
        if !still {
            return Err(format!("L8: call {at} ({mark:?}) was answered by {answer} and is no more: {found:?}"));
        }
    }
    Ok(())
}

/// Checks L7: a longer body repairs its head as the head alone is repaired, as far as no call and result are on
/// different sides of the cut.
pub(crate) fn prefix_stable(head: &Outcome<'_>, whole: &Outcome<'_>) -> Result<(), String> {
    let cut = head.before.transcript.messages.len();
    let settled = first_torn_message(&head.before, &whole.before);
    for at in 0..head.spans.len() {
        let torn = |origins: &[Option<usize>]| {
            // A joined message comes from several messages.
            let last = if head.must_take_turns { last_joined(origins, at) } else { origins.get(at).copied().flatten() };
            settled < cut && last.is_none_or(|last| last >= settled)
        };
        if torn(&head.repaired.origins) || torn(&whole.repaired.origins) {
            break;
        }
        let grown = head.must_take_turns && at + 1 == head.spans.len() && extends(head.message(at), whole.message(at));
        if head.message(at) != whole.message(at) && !grown {
            return Err(format!("L7: output message {at} changes when the body grows\n{head}\n{whole}"));
        }
    }
    Ok(())
}

/// The last message of the input that is in a message of the output; `None` if that is unknown. It is the message
/// before the next one that comes from the input.
fn last_joined(origins: &[Option<usize>], at: usize) -> Option<usize> {
    origins.get(at)?.as_ref()?;
    origins[at + 1..].iter().find_map(|origin| origin.map(|next| next - 1))
}

/// Whether a message is another one with further blocks after it: where roles must alternate, new content joins the
/// last message of its role.
fn extends(before: Option<&[u8]>, after: Option<&[u8]>) -> bool {
    let kept = before.and_then(|before| before.trim_ascii_end().strip_suffix(b"}"));
    let kept = kept.and_then(|kept| kept.trim_ascii_end().strip_suffix(b"]")).map(<[u8]>::trim_ascii_end);
    kept.zip(after).is_some_and(|(kept, after)| after.starts_with(kept))
}

/// The first message of the head that may change because a call and its result are on different sides of the cut: the
/// first that pairs differently alone than in the whole body. Without such a pair it is the end of the head, and
/// nothing may change.
fn first_torn_message(head: &Reading<'_>, whole: &Reading<'_>) -> usize {
    let (alone, together) = (head.pairs(), whole.pairs());
    let cut = head.transcript.messages.len();
    let ends = |(call, result): &(BlockIndex, BlockIndex)| (whole.message_of(*call), whole.message_of(*result));
    if !together.iter().map(ends).any(|(call, result)| (call < cut) != (result < cut)) {
        return cut;
    }
    let differing = alone.symmetric_difference(&together).map(ends);
    differing.map(|(call, result)| call.min(result)).min().unwrap_or(cut).min(cut)
}

impl Outcome<'_> {
    /// The text of a message of the output.
    fn message(&self, at: usize) -> Option<&[u8]> {
        self.repaired.body.get(self.spans.get(at)?.clone())
    }
}

impl std::fmt::Display for Outcome<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let out = String::from_utf8_lossy(&self.repaired.body);
        write!(f, "--- in\n{}\n--- out\n{out}", String::from_utf8_lossy(self.before.transcript.source.body))
    }
}

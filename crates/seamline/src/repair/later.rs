//! Repairs after which a body looks like another dialect: it is read and repaired again in that one.

use seamline_model::Spliced;
use seamline_rules::{ActionKind, Left};

use super::{Body, Dropped, Prefix, Repaired, repair_transcript};
use crate::check::look;
use crate::subject::Subject;
use crate::{Error, Options, Severity};

/// The limit for changes of the dialect during one repair.
const READINGS_MAX: usize = 4;

/// Repairs a body again in the dialect that a later check detects. A result in the form of one dialect may be the only sign
/// of that dialect. If the repair makes it text, a later check detects the dialect by the model.
pub(super) fn as_read_later<'b>(mut repaired: Repaired<'b>, original: &'b [u8], options: &Options) -> Repaired<'b> {
    for _ in 0..READINGS_MAX {
        let is_concealed = || repaired.actions.iter().any(|action| conceals(action.action));
        if options.dialect.is_some() || !repaired.is_changed() || !is_concealed() {
            break;
        }
        let bytes = repaired.body.to_vec();
        let later = Subject::dialect(&bytes, options);
        if let Err(split @ Error::Body(seamline_dialects::Error::Split { .. })) = &later {
            return left_alone(repaired, original, split);
        }
        let is_other = later.is_ok_and(|dialect| dialect.name() != repaired.dialect);
        let Some(again) = is_other.then(|| again(&bytes, options)).flatten() else { break };
        repaired = joined(repaired, again, original);
    }
    repaired
}

/// Whether an action can take away a sign of a dialect.
fn conceals(action: ActionKind) -> bool {
    use ActionKind::{Demote, Reform, Regroup, Remove, TakeIn};
    matches!(action, Demote | Remove | TakeIn | Reform | Regroup)
}

/// The original body, because its signs turn out to be those of two dialects: a repair for one of them harms the other.
fn left_alone<'b>(repaired: Repaired<'b>, original: &'b [u8], split: &Error) -> Repaired<'b> {
    let sendable = repaired.found.iter().all(|finding| finding.severity != Severity::Error);
    Repaired {
        body: Body::of(original),
        note: Some(split.to_string()),
        passes: 0,
        actions: Vec::new(),
        more_actions: Vec::new(),
        dropped: Vec::new(),
        remaining: repaired.found.clone(),
        sendable,
        origins: (0..repaired.messages).map(Some).collect(),
        prefix: Prefix {
            unchanged_bytes: original.len(),
            first_changed_message: None,
            around_changed: false,
            invalidates: Vec::new(),
        },
        ..repaired
    }
}

fn again<'b>(body: &'b [u8], options: &Options) -> Option<Repaired<'b>> {
    let (subject, transcript, found) = look(body, options).ok()?;
    let policy = options.policy.repair_for(subject.provider.name);
    Some(repair_transcript(&subject, &transcript, found, &policy, Left::Nothing))
}

/// The outcome of both repairs. Places of the second one are in a body that the caller does not have, so only the message
/// that it comes from is named.
fn joined<'b>(first: Repaired<'b>, second: Repaired<'_>, original: &'b [u8]) -> Repaired<'b> {
    let Repaired { mut actions, mut dropped, mut more_actions, mut prefix, origins, .. } = first;
    let origin = |index: usize| origins.get(index).copied().flatten();
    actions.extend(second.actions.into_iter().map(|mut action| {
        action.pointer = None;
        action.message_index = action.message_index.and_then(origin);
        action
    }));
    dropped.extend(second.dropped.into_iter().map(|dropped| Dropped { pointer: None, ..dropped }));
    more_actions.extend(second.more_actions);
    let body = if second.body.is_changed() { Body::changed(Spliced::from(second.body.to_vec())) } else { first.body };
    prefix.unchanged_bytes = body.common_prefix(original);
    let changed = second.prefix.first_changed_message.and_then(origin);
    prefix.first_changed_message = prefix.first_changed_message.into_iter().chain(changed).min();
    prefix.around_changed |= second.prefix.around_changed;
    let invalidates = second.prefix.invalidates.into_iter().filter(|what| !prefix.invalidates.contains(what));
    let invalidates: Vec<_> = invalidates.collect();
    prefix.invalidates.extend(invalidates);
    Repaired {
        dialect: second.dialect,
        provider: second.provider,
        note: second.note,
        messages: first.messages,
        passes: first.passes + second.passes,
        found: first.found,
        remaining: second.remaining,
        sendable: second.sendable,
        origins: second.origins.iter().map(|index| index.and_then(origin)).collect(),
        actions,
        dropped,
        more_actions,
        prefix,
        body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_findings_left_are_those_of_a_later_check() {
        let body = br#"{"model":"claude-opus-4-6","max_tokens":9,"messages":[
            {"role":"tool","tool_call_id":"call_2","content":"main.rs"},{"role":"user","content":"Write a limerick."},
            {"role":"assistant","content":"There once was a coder from Kent"}]}"#;
        let options = Options::default();
        assert_eq!(crate::check(body, &options).unwrap().dialect, "openai_chat");
        let repaired = crate::repair(body, &options).unwrap();
        let later = crate::check(&repaired.body, &options).unwrap();
        assert_eq!((repaired.dialect, &repaired.remaining), (later.dialect, &later.findings));
        assert_eq!(repaired.remaining.iter().map(|finding| finding.code).collect::<Vec<_>>(), ["SHAPE005"]);
        let again = crate::repair(&repaired.body, &options).unwrap();
        assert!(!again.is_changed() && repaired.origins == [Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn a_body_that_can_be_read_stays_readable() {
        let body = br#"{"model":"claude-sonnet-4-5","messages":[1,{"role":"user","content":[]}]}"#;
        let repaired = crate::repair(body, &Options::default()).unwrap();
        let later = crate::check(&repaired.body, &Options::default()).unwrap();
        assert_eq!(repaired.remaining, later.findings);
    }
}

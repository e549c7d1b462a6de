//! Classifies provider errors and finds their causes in a body.

use crate::Finding;
use crate::check::Checked;

/// Classifies an error: its class, the rules and the place that it is about, and the advice.
///
/// ```
/// use seamline::classify::{Class, Failure};
///
/// let text = "Error code: 400 - {'error': {'message': \"An assistant message with 'tool_calls' must be \
///   followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have \
///   response messages: call_7\"}}";
/// let verdict = seamline::classify(&Failure { text, ..Failure::default() });
/// assert_eq!(verdict.class, Class::Corruption);
/// assert_eq!((verdict.rules[0], verdict.place.ids[0].as_str()), ("PAIR001", "call_7"));
/// ```
#[doc(inline)]
pub use seamline_guard::classify;

#[doc(inline)]
pub use seamline_guard::{Certainty, Class, Failure, Verdict};

/// An error text that is known from a provider.
#[doc(inline)]
pub use seamline_guard::Known as KnownError;

/// The place in a request that an error text names.
///
/// ```
/// use seamline::classify::Failure;
///
/// let text = "messages.43.content.2: tool_use ids must be unique";
/// let place = seamline::classify(&Failure { text, ..Default::default() }).place;
/// assert_eq!((place.message_index, place.block_index), (Some(43), Some(2)));
/// ```
#[doc(inline)]
pub use seamline_guard::NamedPlace;

/// A field of the request that an error text names, such as one that the provider does not know.
///
/// ```
/// use seamline::classify::{Failure, MemberFault};
///
/// let text = "Unknown parameter: 'input[2].foo'.";
/// let member = seamline::classify(&Failure { text, ..Default::default() }).members.remove(0);
/// assert_eq!((member.name.as_str(), member.fault), ("foo", MemberFault::Unknown));
/// assert_eq!(member.pointer.as_deref(), Some("/input/2/foo"));
/// ```
#[doc(inline)]
pub use seamline_guard::{MemberFault, NamedMember};

/// Every known error, with the family of providers that it is known from.
///
/// ```
/// let (family, known) = seamline::classify::known_errors().find(|(_, known)| known.source == "ANT-8").unwrap();
/// assert_eq!((family, known.kind.name), ("anthropic", "repeated-call-id"));
/// ```
#[doc(inline)]
pub use seamline_guard::all as known_errors;

/// The names of the providers whose errors are known. They are more than the providers whose demands are known.
#[doc(inline)]
pub use seamline_guard::providers as error_providers;

/// The findings of a body that caused an error: those of the rules that the error names and, among these, those at the
/// place that it names, if there are any.
///
/// ```
/// use seamline::classify::Failure;
/// use seamline::Options;
///
/// let body = br#"{"messages":[{"role":"tool","tool_call_id":"call_1","content":"ok"}]}"#;
/// let text = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
/// let verdict = seamline::classify(&Failure { text, ..Failure::default() });
/// let checked = seamline::check(body, &Options::default())?;
/// assert_eq!(seamline::classify::causes(&verdict, &checked)[0].code, "PAIR002");
/// # Ok::<(), seamline::Error>(())
/// ```
pub fn causes<'c>(verdict: &Verdict, checked: &'c Checked) -> Vec<&'c Finding> {
    let meant = || checked.findings.iter().filter(|finding| verdict.rules.contains(&finding.code));
    let at_place: Vec<_> = meant().filter(|finding| is_named(verdict, finding)).collect();
    if at_place.is_empty() { meant().collect() } else { at_place }
}

/// Whether an error names the place of a finding, or is the error that the finding predicts.
fn is_named(verdict: &Verdict, finding: &Finding) -> bool {
    let place = &verdict.place;
    let is_message = place.message_index.is_some() && place.message_index == finding.message_index;
    let is_call = finding.call_id.as_ref().is_some_and(|id| place.ids.contains(id));
    is_message || is_call || finding.predicts.as_ref() == Some(&verdict.said)
}

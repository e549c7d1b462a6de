//! A stronger repair of a request that its provider rejected.

use bytes::Bytes;
use seamline::Options;
use seamline::classify::Failure;
use seamline::repair::{AfterRejection, after_rejection};
use seamline::store::RejectedMembers;

use crate::inspect::Inspected;
use crate::state::Lens;

/// The response of a provider that rejected a request.
pub(crate) struct Rejection<'r> {
    /// The status of the response.
    pub(crate) status: u16,
    /// The decoded body of the response.
    pub(crate) text: &'r str,
}

/// The outcome of a stronger repair.
pub(crate) enum Attempt {
    /// The error is not about the history.
    NotAboutHistory,
    /// No other body comes out. The text is the name of the error.
    NothingLeft(&'static str),
    /// The policy does not repair after a rejection. The text is the name of the error.
    LeftByPolicy(&'static str),
    /// The repair changed the body.
    Repaired(Box<Harder>),
}

/// A stronger repair.
pub(crate) struct Harder {
    /// The members that the next requests of the conversation leave out, if the error names what the provider does not
    /// take.
    pub(crate) rejected: Option<RejectedMembers>,
    /// The repaired body and what was done.
    pub(crate) inspected: Inspected,
}

/// Repairs a body that a provider rejected, once more and harder. `used` are the options of the repair so far.
pub(crate) fn repair(lens: &Lens, used: &Options, sent: &Bytes, rejection: &Rejection<'_>) -> Attempt {
    let failure = Failure {
        provider: lens.options.provider.as_deref(),
        dialect: Some(lens.dialect),
        status: Some(rejection.status),
        text: rejection.text,
        ..Failure::default()
    };
    match after_rejection(sent, used, &failure) {
        AfterRejection::NothingLeft { error } => Attempt::NothingLeft(error),
        AfterRejection::LeftByPolicy { error } => Attempt::LeftByPolicy(error),
        AfterRejection::Repaired(harder) => {
            let rejected = harder.options.map(|options| options.policy.rejections());
            Attempt::Repaired(Box::new(Harder { rejected, inspected: Inspected::of(harder.repaired) }))
        }
        _ => Attempt::NotAboutHistory,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const BODY: &[u8] = br#"{"messages":[{"role":"user","content":"hi","mood":"good"}]}"#;

    fn attempt(body: &'static [u8], text: &str) -> Attempt {
        let options = Options {
            dialect: Some("openai_chat".to_owned()),
            provider: Some("openai".to_owned()),
            ..Options::default()
        };
        let stream = seamline::stream::StreamOptions::default();
        let lens = Lens { dialect: "openai_chat", options: Arc::new(options), stream };
        repair(&lens, &lens.options, &Bytes::from_static(body), &Rejection { status: 400, text })
    }

    #[test]
    fn a_member_that_the_provider_names_is_removed_now_and_later() {
        let text = r#"{"error":{"message":"Unknown parameter: 'messages[0].mood'.","type":"invalid_request_error"}}"#;
        let Attempt::Repaired(harder) = attempt(BODY, text) else { panic!("no repair") };
        let expected = br#"{"messages":[{"role":"user","content":"hi"}]}"#;
        assert_eq!(harder.inspected.repaired.as_deref(), Some(&expected[..]));
        let mut options = Options { dialect: Some("openai_chat".to_owned()), ..Options::default() };
        options.policy.reject(&harder.rejected.unwrap());
        let later = seamline::repair(BODY, &options).unwrap();
        assert_eq!(&*later.body, expected);
    }

    #[test]
    fn a_fix_that_alters_the_history_counts_for_one_request() {
        let body = br#"{"messages":[{"role":"narrator","content":"hi"},{"role":"user","content":"go"}]}"#;
        let text = "Unsupported value: 'messages[0].role' does not support 'narrator' with this model.";
        let Attempt::Repaired(harder) = attempt(body, text) else { panic!("no repair") };
        assert!(harder.rejected.is_none() && harder.inspected.repaired.is_some());
    }

    #[test]
    fn other_errors_and_healthy_bodies_are_left_alone() {
        let quota = r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#;
        assert!(matches!(attempt(BODY, quota), Attempt::NotAboutHistory));
        let pairs = "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
                     'tool_call_id'. The following tool_call_ids did not have response messages: call_7";
        assert!(matches!(attempt(BODY, pairs), Attempt::NothingLeft(_)));
    }
}

//! Stop reasons of one provider in the response of another: gateways forward them.
//!
//! `Stop::of_word` defines their meaning, for streams and for complete responses.

use seamline_model::Stop;

use super::{Beside, Is, Sign, sign};
use crate::filter::FilteredPart;

pub(super) const SIGNS: &[Sign] = &[
    filtered("/stop_reason"),
    filtered("/delta/stop_reason"),
    filtered("/choices/*/finish_reason"),
    filtered("/choices/*/native_finish_reason"),
    filtered("/candidates/*/finishReason"),
    filtered("/stopReason"),
    filtered("/messageStop/stopReason"),
    filtered("/finish_reason"),
    filtered("/delta/finish_reason"),
    filtered("/incomplete_details/reason"),
    filtered("/response/incomplete_details/reason"),
    refused("/stop_reason"),
    refused("/delta/stop_reason"),
    refused("/choices/*/finish_reason"),
    refused("/choices/*/native_finish_reason"),
    refused("/candidates/*/finishReason"),
    refused("/stopReason"),
    refused("/messageStop/stopReason"),
    refused("/finish_reason"),
    refused("/delta/finish_reason"),
    refused("/incomplete_details/reason"),
    refused("/response/incomplete_details/reason"),
];

const fn filtered(at: &'static str) -> Sign {
    Sign { category: Beside::Itself, ..sign("stop", at, Is::Stop(Stop::Filter), FilteredPart::Either) }
}

const fn refused(at: &'static str) -> Sign {
    sign("stop", at, Is::Stop(Stop::Refusal), FilteredPart::Refusal)
}

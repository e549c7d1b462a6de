//! Histories with fewer messages: trimmed ones, and those of untrusted clients.

use napi::Result;
use napi_derive::napi;
use seamline::sanitize::{SanitizeOptions, TrustedCalls};
use seamline::trim::TrimOptions;
use serde_json::json;

use crate::bodies::{Choices, NativeOutcome, json as text};
use crate::failure::of_library;

/// Removes the oldest messages until the history is within the limits. Limits that are absent do not count.
#[napi(catch_unwind)]
pub fn trim(
    body: &[u8],
    choices: &Choices,
    max_messages: Option<u32>,
    max_tokens: Option<u32>,
    sizes: Vec<u32>,
) -> Result<NativeOutcome> {
    let limit = TrimOptions {
        max_messages: max_messages.map(|count| count as usize),
        max_tokens: max_tokens.map(|count| count as usize),
        sizes: sizes.into_iter().map(|size| size as usize).collect(),
    };
    let trimmed = seamline::trim(body, &limit, &choices.options).map_err(|error| of_library(&error))?;
    let report = text(&json!({
        "dialect": trimmed.dialect, "messages": trimmed.messages, "tokens": trimmed.tokens,
        "removed": trimmed.removed, "fits": trimmed.fits,
    }))?;
    let body = trimmed.body.is_changed().then(|| trimmed.body.into_bytes().into_owned().into());
    Ok(NativeOutcome { body, report })
}

/// Removes what an untrusted client must not say. `known` are the ids of the calls that are trusted.
#[napi(catch_unwind)]
pub fn sanitize(
    body: &[u8],
    choices: &Choices,
    keep_instructions: bool,
    known: Option<Vec<String>>,
    trusts_answered: bool,
) -> Result<NativeOutcome> {
    let calls = match known {
        Some(ids) => TrustedCalls::Known(ids),
        None if trusts_answered => TrustedCalls::Answered,
        None => TrustedCalls::None,
    };
    let trust = SanitizeOptions { keep_instructions, calls };
    let sanitized = seamline::sanitize(body, &trust, &choices.options).map_err(|error| of_library(&error))?;
    let report = text(&json!({ "dialect": sanitized.dialect, "removed": sanitized.removed }))?;
    let body = sanitized.body.is_changed().then(|| sanitized.body.into_bytes().into_owned().into());
    Ok(NativeOutcome { body, report })
}

//! Bodies and pieces of streams: JSON as it is, text, or base64.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::RpcError;
use crate::params::{Params, wrong};
use crate::table::{Param, Type, may};

/// The parameters of a body. One of them is given.
pub(crate) const BODY: &[Param] = &[
    may("body", Type::Json, "The body as JSON. Its bytes are kept."),
    may("text", Type::Text, "The body as a text, also where it is not JSON."),
    may("base64", Type::Text, "The bytes of the body in base64."),
];

/// The parameters of a piece of a stream. One of them is given.
pub(crate) const PIECE: &[Param] =
    &[may("text", Type::Text, "The piece as a text."), may("base64", Type::Text, "The bytes of the piece in base64.")];

/// The form of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    Text,
    Base64,
}

/// Reads the body that the parameters give, and its form.
pub(crate) fn given<'p>(params: &Params<'p>) -> Result<(Cow<'p, [u8]>, Form), RpcError> {
    let given = ["body", "text", "base64"].into_iter().filter(|name| params.raw(name).is_some());
    match given.collect::<Vec<_>>()[..] {
        ["body"] => Ok((Cow::Borrowed(params.raw("body").unwrap_or_default().as_bytes()), Form::Json)),
        ["text"] => Ok((Cow::Owned(params.needed("text")?.into_bytes()), Form::Text)),
        ["base64"] => {
            let bytes =
                STANDARD.decode(params.needed("base64")?).map_err(|_| wrong("base64", "base64 with padding"))?;
            Ok((Cow::Owned(bytes), Form::Base64))
        }
        [] => Err(RpcError::invalid_params("give the bytes as `body`, `text` or `base64`")),
        _ => Err(RpcError::invalid_params("give only one of `body`, `text` and `base64`")),
    }
}

/// A body in the form in which the client gave one.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Written {
    Body(Box<RawValue>),
    Text(String),
    Base64(String),
}

impl Written {
    /// Writes a body. Bytes that are not JSON or text are written in base64.
    pub(crate) fn of(bytes: &[u8], form: Form) -> Self {
        let text = std::str::from_utf8(bytes).ok();
        match (form, text) {
            (Form::Json, Some(text)) => match RawValue::from_string(text.to_owned()) {
                Ok(json) => Self::Body(json),
                Err(_) => Self::Text(text.to_owned()),
            },
            (Form::Text, Some(text)) => Self::Text(text.to_owned()),
            (Form::Base64, _) | (_, None) => Self::Base64(STANDARD.encode(bytes)),
        }
    }
}

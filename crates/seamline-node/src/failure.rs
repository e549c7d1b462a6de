//! Errors as JavaScript gets them.

use napi::{Error, Status};
use seamline::json::OptionsError;
use seamline::session::SessionError;
use serde_json::{Value, json};

/// Makes an error whose text is a JSON object with a code, a message and a hint. JavaScript makes a `SeamlineError` of it.
pub(crate) fn failure(code: &str, message: &str, hint: Option<&str>) -> Error {
    Error::new(Status::GenericFailure, json!({ "code": code, "message": message, "hint": hint }).to_string())
}

/// Makes an error of options.
pub(crate) fn of_options(error: &OptionsError) -> Error {
    failure("option", &error.to_string(), None)
}

/// Makes an error of the library.
pub(crate) fn of_library(error: &seamline::Error) -> Error {
    let code = match error {
        seamline::Error::UnknownDialect(_) | seamline::Error::UnknownProvider(_) | seamline::Error::UnknownSide(_) => {
            "option"
        }
        _ => "body",
    };
    failure(code, &error.to_string(), error.hint().as_deref())
}

/// Makes an error of a store.
pub(crate) fn of_store(error: &seamline::store::Error) -> Error {
    failure("store", &error.message(), error.hint().as_deref())
}

/// Makes an error of a session.
pub(crate) fn of_session(error: &SessionError) -> Error {
    let code = if matches!(error, SessionError::Store(_)) { "store" } else { "session" };
    failure(code, &error.message(), error.hint().as_deref())
}

/// Reads options of any kind from their JSON text.
pub(crate) fn read<T>(json: &str, from_json: impl FnOnce(&Value) -> Result<T, OptionsError>) -> napi::Result<T> {
    let value: Value = serde_json::from_str(json)
        .map_err(|error| failure("option", &format!("cannot read the options: {error}"), None))?;
    from_json(&value).map_err(|error| of_options(&error))
}

//! Errors as the exceptions of the package.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The exceptions of `seamline.errors`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Exception {
    /// Something else could not be done.
    Seamline,
    /// The given object is not JSON.
    Input,
    /// The body is not a conversation.
    Body,
    /// An option names something that does not exist.
    Option,
    /// The session or its store failed.
    Session,
}

impl Exception {
    fn name(self) -> &'static str {
        match self {
            Self::Seamline => "SeamlineError",
            Self::Input => "InputError",
            Self::Body => "BodyError",
            Self::Option => "OptionError",
            Self::Session => "SessionError",
        }
    }

    /// The exception with a message, and what the caller can do about it.
    pub(crate) fn with(self, py: Python<'_>, message: &str, hint: Option<&str>) -> PyErr {
        let class = py.import("seamline.errors").and_then(|module| module.getattr(self.name()));
        let made = class
            .and_then(|class| class.cast_into::<PyType>().map_err(PyErr::from))
            .and_then(|class| class.call1((message, hint)));
        match made {
            Ok(value) => PyErr::from_value(value),
            // The package is not complete: the message still says what happened.
            Err(_) => PyException::new_err(message.to_owned()),
        }
    }
}

/// An error of the library.
pub(crate) fn of_library(py: Python<'_>, error: &seamline::Error) -> PyErr {
    let exception = match error {
        seamline::Error::UnknownDialect(_) | seamline::Error::UnknownProvider(_) | seamline::Error::UnknownSide(_) => {
            Exception::Option
        }
        _ => Exception::Body,
    };
    exception.with(py, &error.to_string(), error.hint().as_deref())
}

/// An error of options.
pub(crate) fn of_options(py: Python<'_>, error: &seamline::json::OptionsError) -> PyErr {
    Exception::Option.with(py, &error.to_string(), None)
}

/// An error of a session.
pub(crate) fn of_session(py: Python<'_>, error: &seamline::session::SessionError) -> PyErr {
    Exception::Session.with(py, &error.message(), error.hint().as_deref())
}

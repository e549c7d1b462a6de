//! The input of a caller: bytes, text, a request or a list of messages.

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyMemoryView, PyString, PyTuple};

use crate::error::Exception;
use crate::serializer::Written;

/// A body in the form in which the caller passed it.
pub(crate) enum Given<'py> {
    /// The bytes of a body.
    Bytes(Bound<'py, PyBytes>),
    /// A copy of bytes that can change, such as those of a `bytearray`.
    Copied(Vec<u8>),
    /// The text of a body.
    Text(Bound<'py, PyString>),
    /// A request, as a dict.
    Request(Bound<'py, PyDict>, Written),
    /// Messages, as a list.
    Messages(Bound<'py, PyList>, Written),
}

impl<'py> Given<'py> {
    /// Reads the object that the caller passed.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let py = object.py();
        if let Ok(dict) = object.cast::<PyDict>() {
            return Ok(Self::Request(dict.clone(), Written::of(object)?));
        }
        if let Ok(list) = object.cast::<PyList>() {
            return Ok(Self::Messages(list.clone(), Written::of(object)?));
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.clone()));
        }
        if let Ok(text) = object.cast::<PyString>() {
            return match text.to_str() {
                Ok(_) => Ok(Self::Text(text.clone())),
                Err(_) => Err(Exception::Input.with(py, "the given text has half surrogates", Some("give the bytes"))),
            };
        }
        if object.is_instance_of::<PyByteArray>() || object.is_instance_of::<PyMemoryView>() {
            let bytes = py.get_type::<PyBytes>().call1((object,))?;
            return Ok(Self::Copied(bytes.extract()?));
        }
        if let Ok(tuple) = object.cast::<PyTuple>() {
            let list = tuple.to_list();
            let written = Written::of(&list)?;
            return Ok(Self::Messages(list, written));
        }
        let class = object.get_type().name()?.to_string();
        let message = format!("cannot read a conversation from a `{class}`");
        Err(Exception::Input.with(py, &message, Some("give bytes, str, a request dict or a list of messages")))
    }

    /// The bytes of the body.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes.as_bytes(),
            Self::Copied(bytes) => bytes,
            Self::Text(text) => text.to_str().unwrap_or_default().as_bytes(),
            Self::Request(_, written) | Self::Messages(_, written) => &written.json,
        }
    }
}

//! A changed body in the form that the caller gave. Objects of unchanged messages are used again.

use std::collections::HashMap;
use std::ops::Range;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use serde::de::{Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::Exception;
use crate::given::Given;
use crate::serializer::Written;

/// For each message of a new body, the index of the given message that it was.
pub(crate) type Origins = [Option<usize>];

/// The new body as an object of the same type as the given one. Without origins an unchanged message is found by its text.
pub(crate) fn rebuilt<'py>(
    py: Python<'py>,
    given: &Given<'py>,
    new: &[u8],
    origins: Option<&Origins>,
) -> PyResult<Bound<'py, PyAny>> {
    match given {
        Given::Bytes(_) | Given::Copied(_) => Ok(PyBytes::new(py, new).into_any()),
        Given::Text(_) => Ok(text(py, new)?.into_pyobject(py)?.into_any()),
        Given::Request(dict, written) => request(dict, written, text(py, new)?, origins),
        Given::Messages(list, written) => {
            Ok(messages(list, written, &written.parts, (text(py, new)?, origins))?.into_any())
        }
    }
}

fn request<'py>(
    dict: &Bound<'py, PyDict>,
    written: &Written,
    new: &str,
    origins: Option<&Origins>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = dict.py();
    let result = PyDict::new(py);
    let old: Vec<_> = dict.iter().map(|(key, value)| (key.extract::<String>().ok(), value)).collect();
    for (key, raw) in members(py, new)? {
        let index = old.iter().position(|(name, _)| name.as_deref() == Some(&key));
        let kept = index.filter(|&index| is_same(written, written.parts.get(index), raw));
        // Code of a value may have added members after they were written.
        let written_as = index.and_then(|index| Some((&old[index].1, written.elements.get(index)?)));
        let value = match (kept, written_as) {
            (Some(index), _) => old[index].1.clone(),
            (None, Some((value, parts))) if value.is_instance_of::<PyList>() && raw.starts_with('[') => {
                messages(value.cast::<PyList>()?, written, parts, (raw, origins))?.into_any()
            }
            _ => loaded(py, raw)?,
        };
        result.set_item(key, value)?;
    }
    Ok(result.into_any())
}

fn messages<'py>(
    list: &Bound<'py, PyList>,
    written: &Written,
    parts: &[Range<usize>],
    (new, origins): (&str, Option<&Origins>),
) -> PyResult<Bound<'py, PyList>> {
    let py = list.py();
    let result = PyList::empty(py);
    let told = origins.and_then(|origins| by_origin(new, (written, parts), origins));
    if let Some(told) = told {
        for (element, same) in told {
            match same.and_then(|index| list.get_item(index).ok()) {
                Some(object) => result.append(object)?,
                None => result.append(loaded(py, element)?)?,
            }
        }
        return Ok(result);
    }
    let elements = elements(py, new)?;
    let mut known: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (index, part) in parts.iter().enumerate().rev() {
        known.entry(&written.json[part.clone()]).or_default().push(index);
    }
    for element in &elements {
        // Equal messages are different objects: each is used once, in its order.
        let index = known.get_mut(element.as_bytes()).and_then(Vec::pop);
        match index.and_then(|index| list.get_item(index).ok()) {
            Some(object) => result.append(object)?,
            None => result.append(loaded(py, element)?)?,
        }
    }
    Ok(result)
}

/// An element of a new list, and the index of the given message that it is.
type Element<'t> = (&'t str, Option<usize>);

/// The elements of a new list by their origins; `None` where they do not tell all of them. An unchanged message is
/// compared with the text that was written for it, which is much faster than reading it.
fn by_origin<'t>(
    new: &'t str,
    (written, parts): (&Written, &[Range<usize>]),
    origins: &Origins,
) -> Option<Vec<Element<'t>>> {
    let mut rest = new.trim_start().strip_prefix('[')?.trim_start();
    let mut told = Vec::with_capacity(origins.len());
    for origin in origins {
        if !told.is_empty() {
            rest = rest.strip_prefix(',')?.trim_start();
        }
        // A changed message may equal another given one, so the text alone does not tell.
        let part = origin.and_then(|origin| parts.get(origin)).map(|part| &written.json[part.clone()]);
        let same = part.filter(|part| rest.as_bytes().starts_with(part)).map(<[u8]>::len);
        let end = match same {
            Some(end) => end,
            None => value_length(rest)?,
        };
        let (element, after) = rest.split_at_checked(end)?;
        told.push((element, origin.filter(|_| same.is_some())));
        rest = after.trim_start();
    }
    (rest.trim_end() == "]").then_some(told)
}

/// The length of the JSON value that a text begins with.
fn value_length(json: &str) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<&RawValue>();
    values.next()?.ok().map(|value| value.get().len())
}

fn is_same(written: &Written, part: Option<&Range<usize>>, raw: &str) -> bool {
    part.is_some_and(|part| &written.json[part.clone()] == raw.as_bytes())
}

fn text<'b>(py: Python<'_>, new: &'b [u8]) -> PyResult<&'b str> {
    std::str::from_utf8(new).map_err(|_| Exception::Body.with(py, "the repaired body is not UTF-8", Some("give bytes")))
}

/// The Python object of a JSON text.
pub(crate) fn loaded<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.getattr("loads")?.call1((json,))
}

fn members<'t>(py: Python<'_>, json: &'t str) -> PyResult<Vec<(String, &'t str)>> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, &'de str)>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
                members.push((key, value.get()));
            }
            Ok(members)
        }
    }
    serde_json::Deserializer::from_str(json).deserialize_map(Members).map_err(|error| unreadable(py, &error))
}

fn elements<'t>(py: Python<'_>, json: &'t str) -> PyResult<Vec<&'t str>> {
    struct Elements;
    impl<'de> Visitor<'de> for Elements {
        type Value = Vec<&'de str>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut elements = Vec::new();
            while let Some(value) = list.next_element::<&'de RawValue>()? {
                elements.push(value.get());
            }
            Ok(elements)
        }
    }
    serde_json::Deserializer::from_str(json).deserialize_seq(Elements).map_err(|error| unreadable(py, &error))
}

fn unreadable(py: Python<'_>, error: &serde_json::Error) -> PyErr {
    Exception::Body.with(py, &format!("cannot read the repaired body: {error}"), Some("give bytes"))
}

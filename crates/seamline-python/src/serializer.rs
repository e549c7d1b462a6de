//! Writes Python objects as JSON. A value that JSON cannot hold is an error that names its place.

use std::io::Write as _;
use std::ops::Range;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::entries::for_each_entry;
use crate::error::Exception;

/// The deepest nesting that is written. A list that contains itself is deeper.
const DEPTH_MAX: usize = 256;
/// The number of bytes that the library reads.
const BYTES_MAX: usize = seamline::error::BYTES_MAX;

/// A written object, and the places of its parts.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// The JSON text.
    pub(crate) json: Vec<u8>,
    /// The values of a dict, or the elements of a list.
    pub(crate) parts: Vec<Range<usize>>,
    /// For each value of a dict that is a list, the elements of that list.
    pub(crate) elements: Vec<Vec<Range<usize>>>,
}

impl Written {
    /// Writes a request or a list of messages.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut writer = Writer { json: Vec::with_capacity(16 * 1024), depth: 0 };
        let (mut parts, mut elements) = (Vec::new(), Vec::new());
        let written = if let Ok(dict) = object.cast::<PyDict>() {
            writer.members(dict, |writer, value| {
                let start = writer.json.len();
                let mut inner = Vec::new();
                match value.cast::<PyList>() {
                    Ok(list) => writer.list(list, Some(&mut inner))?,
                    Err(_) => writer.value(value)?,
                }
                parts.push(start..writer.json.len());
                elements.push(inner);
                Ok(())
            })
        } else if let Ok(list) = object.cast::<PyList>() {
            writer.list(list, Some(&mut parts))
        } else {
            writer.value(object)
        };
        written.map_err(|refused| refused.into_error(object.py()))?;
        Ok(Self { json: writer.json, parts, elements })
    }
}

/// Writes one value.
pub(crate) fn to_json(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let mut writer = Writer { json: Vec::new(), depth: 0 };
    writer.value(object).map_err(|refused| refused.into_error(object.py()))?;
    Ok(writer.json)
}

/// A value that could not be written.
struct Refused {
    /// The steps to the value, the last one first.
    steps: Vec<String>,
    what: String,
    /// The exception of Python code that ran.
    cause: Option<PyErr>,
}

type Done = Result<(), Refused>;

impl Refused {
    fn of(what: String) -> Self {
        Self { steps: Vec::new(), what, cause: None }
    }

    fn caused(what: &str, cause: PyErr) -> Self {
        Self { steps: Vec::new(), what: what.to_owned(), cause: Some(cause) }
    }

    fn at(mut self, step: impl ToString) -> Self {
        // A list that contains itself has hundreds of steps; the first ones are enough to find it.
        self.steps.push(step.to_string());
        self
    }

    fn into_error(self, py: Python<'_>) -> PyErr {
        const SHOWN: usize = 12;
        // An interrupt and an exit are not about the object.
        if let Some(cause) = self.cause.as_ref().filter(|cause| !cause.is_instance_of::<PyException>(py)) {
            return cause.clone_ref(py);
        }
        let steps = self.steps.iter().rev();
        let mut place = String::new();
        for step in steps.take(SHOWN) {
            place.push('/');
            place.push_str(step);
        }
        if self.steps.len() > SHOWN {
            place.push_str("/…");
        }
        let place = if place.is_empty() { "the given object".to_owned() } else { format!("the value at `{place}`") };
        let error = Exception::Input.with(py, &format!("{place} {}", self.what), None);
        error.set_cause(py, self.cause);
        error
    }
}

struct Writer {
    json: Vec<u8>,
    depth: usize,
}

impl Writer {
    fn value(&mut self, value: &Bound<'_, PyAny>) -> Done {
        // Most values are of these very types, whose check costs one comparison.
        if let Ok(text) = value.cast_exact::<PyString>() {
            self.text(text)
        } else if let Ok(dict) = value.cast_exact::<PyDict>() {
            self.members(dict, Self::value)
        } else if let Ok(list) = value.cast_exact::<PyList>() {
            self.list(list, None)
        } else if value.is_none() {
            self.json.extend_from_slice(b"null");
            Ok(())
        } else if let Ok(truth) = value.cast_exact::<PyBool>() {
            self.json.extend_from_slice(if truth.is_true() { b"true" } else { b"false" });
            Ok(())
        } else {
            self.rarer(value)
        }
    }

    /// Numbers, tuples, subclasses and the objects of SDKs.
    fn rarer(&mut self, value: &Bound<'_, PyAny>) -> Done {
        if value.is_instance_of::<PyInt>() {
            self.integer(value)
        } else if let Ok(number) = value.cast::<PyFloat>() {
            self.float(number)
        } else if let Ok(text) = value.cast::<PyString>() {
            self.text(text)
        } else if let Ok(dict) = value.cast::<PyDict>() {
            self.members(dict, Self::value)
        } else if let Ok(list) = value.cast::<PyList>() {
            self.list(list, None)
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            self.list(&tuple.to_list(), None)
        } else {
            self.model(value)
        }
    }

    /// The classes of SDKs are pydantic models, and programs append them to their histories as they are.
    fn model(&mut self, value: &Bound<'_, PyAny>) -> Done {
        let py = value.py();
        if value.getattr("model_dump").is_err() {
            let class = value.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
            return Err(Refused::of(format!("is a `{class}`, which JSON cannot hold")));
        }
        let dumped = py.import("seamline._models").and_then(|models| models.call_method1("dumped", (value,)));
        let dumped = dumped.map_err(|error| Refused::caused("cannot be dumped: `model_dump` failed", error))?;
        self.enter()?;
        self.value(&dumped)?;
        self.leave()
    }

    fn integer(&mut self, value: &Bound<'_, PyAny>) -> Done {
        if let Ok(small) = value.extract::<i64>() {
            let _ = write!(self.json, "{small}");
            return Ok(());
        }
        // A subclass may print itself in any way, so the plain number is printed.
        let plain = value.py().get_type::<PyInt>().call_method1("__repr__", (value,));
        let text = plain.and_then(|text| text.extract::<String>());
        let text = text.map_err(|error| Refused::caused("is a number with too many digits", error))?;
        self.json.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn float(&mut self, number: &Bound<'_, PyFloat>) -> Done {
        let value = number.value();
        if !value.is_finite() {
            return Err(Refused::of(format!("is {value}, which JSON cannot hold")));
        }
        // Python writes the shortest text, with `.0` for whole numbers, as `json.dumps` does.
        let text = number.py().get_type::<PyFloat>().call_method1("__repr__", (number,));
        let text = text.and_then(|text| text.extract::<String>());
        let text = text.map_err(|error| Refused::caused("cannot be written", error))?;
        self.json.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn members(
        &mut self,
        dict: &Bound<'_, PyDict>,
        mut write: impl FnMut(&mut Self, &Bound<'_, PyAny>) -> Done,
    ) -> Done {
        self.enter()?;
        self.json.push(b'{');
        for_each_entry(dict, |key, value| {
            let Ok(text) = key.cast::<PyString>() else {
                let class = key.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
                return Err(Refused::of(format!("has a `{class}` as a key, and the keys of JSON are strings")));
            };
            self.text(text)?;
            self.json.push(b':');
            write(self, value).map_err(|refused| refused.at(text.to_string_lossy()))?;
            self.json.push(b',');
            Ok(())
        })?;
        self.close(b'}');
        self.leave()
    }

    fn list(&mut self, list: &Bound<'_, PyList>, mut parts: Option<&mut Vec<Range<usize>>>) -> Done {
        self.enter()?;
        self.json.push(b'[');
        for (index, value) in list.iter().enumerate() {
            let start = self.json.len();
            self.value(&value).map_err(|refused| refused.at(index))?;
            if let Some(parts) = parts.as_deref_mut() {
                parts.push(start..self.json.len());
            }
            self.json.push(b',');
        }
        self.close(b']');
        self.leave()
    }

    fn enter(&mut self) -> Done {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Refused::of(format!("is nested deeper than {DEPTH_MAX} levels, or contains itself")));
        }
        Ok(())
    }

    fn leave(&mut self) -> Done {
        self.depth -= 1;
        if self.json.len() > BYTES_MAX {
            return Err(Refused::of(format!("has more than {BYTES_MAX} bytes of JSON")));
        }
        Ok(())
    }

    /// Closes a dict or list; the last comma becomes the bracket.
    fn close(&mut self, bracket: u8) {
        match self.json.last_mut() {
            Some(last) if *last == b',' => *last = bracket,
            _ => self.json.push(bracket),
        }
    }

    fn text(&mut self, text: &Bound<'_, PyString>) -> Done {
        self.json.push(b'"');
        match text.to_str() {
            Ok(text) => escape(text.as_bytes(), &mut self.json),
            // The text has half surrogates, which UTF-8 cannot hold and JSON writes as escapes.
            Err(_) => self.halves(text)?,
        }
        self.json.push(b'"');
        Ok(())
    }

    fn halves(&mut self, text: &Bound<'_, PyString>) -> Done {
        let encoded = text.call_method1("encode", ("utf-16-le", "surrogatepass"));
        let bytes = encoded.and_then(|encoded| encoded.extract::<Vec<u8>>());
        let bytes = bytes.map_err(|error| Refused::caused("is a text that cannot be encoded", error))?;
        let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        for decoded in char::decode_utf16(units) {
            match decoded {
                Ok(character) => escape(character.encode_utf8(&mut [0; 4]).as_bytes(), &mut self.json),
                Err(half) => {
                    let _ = write!(self.json, "\\u{:04x}", half.unpaired_surrogate());
                }
            }
        }
        Ok(())
    }
}

/// The bytes that are looked at together, so that the compiler uses vector instructions.
const BLOCK: usize = 32;
/// The bytes of a word, which are looked at with one comparison.
const WORD: usize = 8;

/// Whether a byte must be escaped in a string.
const fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Writes the text of a string with its escapes.
fn escape(mut text: &[u8], out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    while let Some(at) = first_special(text) {
        out.extend_from_slice(&text[..at]);
        match text[at] {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            other => {
                let _ = write!(out, "\\u{other:04x}");
            }
        }
        text = &text[at + 1..];
    }
    out.extend_from_slice(text);
}

/// The place of the first byte that must be escaped.
fn first_special(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(block) = text[at..].first_chunk::<BLOCK>() {
        if block.iter().fold(false, |any, &byte| any | is_special(byte)) {
            break;
        }
        at += BLOCK;
    }
    while let Some(word) = text[at..].first_chunk::<WORD>() {
        let marked = marks(u64::from_le_bytes(*word));
        if marked != 0 {
            return Some(at + marked.trailing_zeros() as usize / 8);
        }
        at += WORD;
    }
    // The last word overlaps the one before it, in which nothing was found.
    let Some(word) = text.last_chunk::<WORD>() else { return text.iter().position(|&byte| is_special(byte)) };
    let marked = marks(u64::from_le_bytes(*word));
    (marked != 0).then(|| text.len() - WORD + marked.trailing_zeros() as usize / 8)
}

/// Eight bytes at once: the lowest high bit that is set marks the first byte that must be escaped.
const fn marks(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGHS: u64 = ONES << 7;
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let is_control = word.wrapping_sub(ONES * 0x20) & !word;
    let is_quote = quote.wrapping_sub(ONES) & !quote;
    let is_backslash = backslash.wrapping_sub(ONES) & !backslash;
    (is_control | is_quote | is_backslash) & HIGHS
}

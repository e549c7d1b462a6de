//! Streamed responses.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use seamline::stream::{ResponseStream as Stream, StreamOptions};

use crate::bodies::json;
use crate::choices;
use crate::error::{Exception, of_library};

/// A streamed response while it arrives.
#[pyclass(frozen, module = "seamline._native")]
pub(crate) struct ResponseStream {
    stream: Mutex<Option<Stream>>,
}

#[pymethods]
impl ResponseStream {
    #[new]
    fn new(py: Python<'_>, options: &str) -> PyResult<Self> {
        let options = choices::read(py, options, StreamOptions::from_json)?;
        let stream = Stream::new(&options).map_err(|error| of_library(py, &error))?;
        Ok(Self { stream: Mutex::new(Some(stream)) })
    }

    /// Takes the status and the headers of the response.
    fn head(&self, py: Python<'_>, status: u16, headers: Vec<(String, String)>) -> PyResult<()> {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.with(py, |stream| stream.head(status, &headers))
    }

    /// Takes the next piece; returns whether it brought progress.
    fn feed(&self, py: Python<'_>, piece: &[u8]) -> PyResult<bool> {
        self.with(py, |stream| stream.feed(piece))
    }

    fn abort(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Stream::abort)
    }

    fn stall(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Stream::stall)
    }

    fn fail(&self, py: Python<'_>, said: &str) -> PyResult<()> {
        self.with(py, |stream| stream.fail(said))
    }

    fn is_over(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |stream| stream.is_over())
    }

    /// Ends the stream and returns the report of the response.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let report = py.detach(|| {
            let stream = self.lock().take()?;
            Some(stream.finish().map(|response| json(&response.report())))
        });
        let report = report.ok_or_else(|| finished(py))?;
        Ok(PyBytes::new(py, &report.map_err(|error| of_library(py, &error))?))
    }
}

impl ResponseStream {
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Stream) -> T + Send) -> PyResult<T> {
        // Without the interpreter's lock: another thread that holds the stream may wait for it.
        py.detach(|| self.lock().as_mut().map(work)).ok_or_else(|| finished(py))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Stream>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn finished(py: Python<'_>) -> PyErr {
    Exception::Seamline.with(py, "the response is finished already", Some("make a `ResponseStream` for each response"))
}

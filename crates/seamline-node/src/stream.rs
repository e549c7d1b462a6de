//! Streamed responses.

use napi::Result;
use napi_derive::napi;
use seamline::stream::{ResponseStream, StreamOptions};

use crate::bodies::json;
use crate::failure::{failure, of_library, read};

/// A streamed response while it arrives.
#[napi]
pub struct NativeStream {
    stream: Option<ResponseStream>,
}

#[napi]
impl NativeStream {
    /// Begins a stream with options in JSON.
    #[napi(constructor, catch_unwind)]
    pub fn new(options: String) -> Result<Self> {
        let options = read(&options, StreamOptions::from_json)?;
        let stream = ResponseStream::new(&options).map_err(|error| of_library(&error))?;
        Ok(Self { stream: Some(stream) })
    }

    /// Takes the status and the headers of the response.
    #[napi(catch_unwind)]
    pub fn head(&mut self, status: u16, names: Vec<String>, values: Vec<String>) -> Result<()> {
        let headers: Vec<_> = names.iter().map(String::as_str).zip(values.iter().map(String::as_str)).collect();
        self.open()?.head(status, &headers);
        Ok(())
    }

    /// Takes the next piece; returns whether it brought progress.
    #[napi(catch_unwind)]
    pub fn feed(&mut self, piece: &[u8]) -> Result<bool> {
        Ok(self.open()?.feed(piece))
    }

    /// Aborts the response.
    #[napi(catch_unwind)]
    pub fn abort(&mut self) -> Result<()> {
        self.open()?.abort();
        Ok(())
    }

    /// Ends the response because there was no progress for too long.
    #[napi(catch_unwind)]
    pub fn stall(&mut self) -> Result<()> {
        self.open()?.stall();
        Ok(())
    }

    /// Ends the response because the connection broke.
    #[napi(catch_unwind)]
    pub fn fail(&mut self, said: String) -> Result<()> {
        self.open()?.fail(&said);
        Ok(())
    }

    /// Whether later bytes cannot change the response.
    #[napi(catch_unwind)]
    pub fn is_over(&mut self) -> Result<bool> {
        Ok(self.open()?.is_over())
    }

    /// Ends the stream and returns the report of the response.
    #[napi(catch_unwind)]
    pub fn finish(&mut self) -> Result<String> {
        let stream = self.stream.take().ok_or_else(finished)?;
        let response = stream.finish().map_err(|error| of_library(&error))?;
        json(&response.report())
    }

    fn open(&mut self) -> Result<&mut ResponseStream> {
        self.stream.as_mut().ok_or_else(finished)
    }
}

fn finished() -> napi::Error {
    failure("stream", "the stream is finished", Some("make a stream for each response"))
}

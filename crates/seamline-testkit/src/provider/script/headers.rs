//! Scripts in the headers of a request.

use std::time::Duration;

use super::{After, Fault, Script};
use crate::provider::http;

/// The start of the names of all headers with a script.
const START: &str = "x-fake-";

/// The headers that control the provider, for people.
pub const HELP: &str = "\
A request controls its response by headers. N is a number, MS a number of milliseconds; B:N means after N bytes
of the body, F:N after N frames.
  x-fake-head-delay: MS        wait before the head of the response
  x-fake-frame-delay: MS       wait before each frame but the first
  x-fake-cut: B:N | F:N        close the connection there
  x-fake-reset: B:N | F:N      reset the connection there
  x-fake-stall: B:N | F:N      send nothing more from there on
  x-fake-error-event: N        after N frames the stream says that it failed, and ends
  x-fake-filter: 1             end the response as a content filter does
  x-fake-status: N [SECONDS]   answer with this status, and with `retry-after`
  x-fake-reject: 1             reject the request as damaged, even if it is valid
  x-fake-reject-once: KEY      the same, but only the first request with this key
  x-fake-text: TEXT            answer with this text
  x-fake-chunks: N [BYTES]     answer with a text of N pieces (of 32 bytes)
  x-fake-read: BYTES MS        read the request in steps of so many bytes, with a pause after each
  x-fake-transfer: chunked | length | close
  x-fake-gzip: 1               compress the response
  x-fake-header: NAME: VALUE   add a header to the response; may occur more than once
  x-fake-trailer: NAME: VALUE  add a trailer to the response; may occur more than once
  x-fake-echo: 1               add the headers of the request to the response, as `x-echo-NAME`
  x-fake-no-coding: 1          refuse a compressed request with status 415
  x-fake-close: 1              close the connection after the response
";

/// The number of bytes of a piece, unless the header says more.
const PIECE_BYTES: usize = 32;

impl Script {
    /// Adds what the headers of a request say. A header that cannot be read is ignored.
    #[must_use]
    pub fn with_headers(self, headers: &[(String, String)]) -> Self {
        let starts = |name: &str| name.get(..START.len()).is_some_and(|start| start.eq_ignore_ascii_case(START));
        let controls = headers.iter().filter(|(name, _)| starts(name));
        controls.fold(self, |script, (name, value)| {
            let name = name[START.len()..].to_ascii_lowercase();
            script.clone().with(&name, value).unwrap_or(script)
        })
    }

    fn with(self, name: &str, value: &str) -> Option<Self> {
        let mut words = value.split(' ').filter(|word| !word.is_empty());
        let mut number = || words.next()?.parse::<usize>().ok();
        let milliseconds = |number: usize| Duration::from_millis(number as u64);
        Some(match name {
            "head-delay" => self.head_delay(milliseconds(number()?)),
            "frame-delay" => self.frame_delay(milliseconds(number()?)),
            "cut" => self.cut(after(value)?),
            "reset" => self.reset(after(value)?),
            "stall" => self.stall(after(value)?),
            "error-event" => Self { fault: Some(Fault::ErrorEvent(number()?)), ..self },
            "filter" => self.filtered(),
            "status" => {
                let status = u16::try_from(number()?).ok()?;
                match number() {
                    Some(seconds) => self.status_with_retry(status, seconds as u32),
                    None => self.status(status),
                }
            }
            "reject" => self.reject(),
            "reject-once" => self.reject_once(value),
            "text" => self.text(value),
            "chunks" => self.chunks(number()?, number().unwrap_or(PIECE_BYTES)),
            "read" => self.read_slowly(number()?, milliseconds(number()?)),
            "transfer" if value == "chunked" => self.chunked(),
            "transfer" if value == "length" => self.with_length(),
            "transfer" if value == "close" => self.until_close(),
            "gzip" => self.gzip(),
            "header" => {
                let (name, value) = http::header(value).ok()?;
                self.header(&name, &value)
            }
            "trailer" => {
                let (name, value) = http::header(value).ok()?;
                self.trailer(&name, &value)
            }
            "echo" => self.echo(),
            "no-coding" => self.takes_no_coding(),
            "close" => self.close(),
            _ => return None,
        })
    }
}

fn after(value: &str) -> Option<After> {
    match value.split_once(':')? {
        ("B" | "b", count) => Some(After::Bytes(count.parse().ok()?)),
        ("F" | "f", count) => Some(After::Frames(count.parse().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Refusal, Transfer};
    use super::*;

    fn script(headers: &[(&str, &str)]) -> Script {
        let headers: Vec<(String, String)> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Script::default().with_headers(&headers)
    }

    #[test]
    fn headers_are_read_in_any_case_and_wrong_ones_are_ignored() {
        let read = script(&[
            ("X-Fake-Cut", "B:17"),
            ("x-fake-status", "529 3"),
            ("x-fake-chunks", "200"),
            ("x-fake-transfer", "length"),
            ("x-fake-trailer", "x-sum: 7"),
            ("x-fake-head-delay", "soon"),
            ("x-fake-unknown", "1"),
            ("accept", "*/*"),
        ]);
        assert_eq!(read.fault, Some(Fault::Close(After::Bytes(17))));
        assert_eq!(read.refusal, Some(Refusal::Status(529, Some(3))));
        assert_eq!((read.chunks, read.transfer), (Some((200, 32)), Transfer::Length));
        assert_eq!(read.trailers, [("x-sum".to_owned(), "7".to_owned())]);
        assert_eq!(read.head_delay, Duration::ZERO);
    }

    #[test]
    fn the_help_names_every_header() {
        let lines = HELP.lines().filter_map(|line| line.trim().strip_prefix(START));
        let names: Vec<&str> = lines.filter_map(|line| line.split(':').next()).collect();
        assert_eq!(names.len(), 20);
        for name in names {
            let values = ["F:1", "1", "1 1", "length", "a: b"];
            assert!(values.iter().any(|value| Script::default().with(name, value).is_some()), "{name}");
        }
    }

    #[test]
    fn pieces_have_their_size() {
        let pieces = script(&[("x-fake-chunks", "11 4")]).pieces().unwrap();
        assert_eq!((pieces.len(), pieces[0].as_str(), pieces[10].as_str()), (11, "0 xx", "10 x"));
        assert_eq!(script(&[("x-fake-chunks", "1 1")]).pieces().unwrap(), ["0"]);
    }
}

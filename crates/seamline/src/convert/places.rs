//! Maps places in a repaired body to places in the original body.

use std::ops::Range;

use seamline_dialects::convert::sources;
use seamline_model::conversation::Lost;

use super::{ConversionLoss, ConvertOptions, Speaking};
use crate::outline::message_spans;
use crate::repair::Repaired;

/// The most searches for content that a repair moved to another message.
const SEARCHES_MAX: usize = 256;

/// The losses, by their places in the original body.
pub(super) fn located(body: &[u8], repaired: &Repaired<'_>, from: &Speaking, lost: Vec<Lost>) -> Vec<ConversionLoss> {
    if !repaired.is_changed() {
        return lost.into_iter().map(|lost| ConversionLoss::of(lost, None)).collect();
    }
    let moved = Moved::of(body, repaired, from);
    let pointers: Vec<&str> = lost.iter().map(|lost| lost.pointer.as_str()).collect();
    let searched = sources(moved.new, &pointers[..pointers.len().min(SEARCHES_MAX)]);
    let sources = searched.into_iter().chain(std::iter::repeat(None));
    let places: Vec<String> =
        pointers.iter().zip(sources).map(|(pointer, source)| moved.original(pointer, source)).collect();
    lost.into_iter().zip(places).map(|(lost, place)| ConversionLoss::of(lost, Some(place))).collect()
}

/// The messages of a repaired body and their origins.
struct Moved<'b> {
    old: &'b [u8],
    new: &'b [u8],
    old_spans: Vec<Range<usize>>,
    new_spans: Vec<Range<usize>>,
    origins: &'b [Option<usize>],
    list: String,
}

impl<'b> Moved<'b> {
    fn of(old: &'b [u8], repaired: &'b Repaired<'_>, from: &Speaking) -> Self {
        let options = from.options(&ConvertOptions::default());
        let spans = |body| message_spans(body, &options).unwrap_or_default();
        let new: &[u8] = &repaired.body;
        let list = format!("/{}/", from.dialect.list());
        Self { old, new, old_spans: spans(old), new_spans: spans(new), origins: &repaired.origins, list }
    }

    /// The same place in the original body. For a changed message only the message itself, and for content from another
    /// message that message.
    fn original(&self, pointer: &str, source: Option<&str>) -> String {
        let (start, rest) = match pointer.strip_prefix(&self.list) {
            Some(rest) => (self.list.as_str(), rest),
            None => ("/", pointer.trim_start_matches('/')),
        };
        let (index, tail) = rest.split_once('/').unwrap_or((rest, ""));
        let Ok(index) = index.parse::<usize>() else { return pointer.to_owned() };
        let origin = self.origins.get(index).copied().flatten();
        match origin {
            Some(origin) if self.is_same(origin, index) => {
                format!("{start}{origin}/{tail}").trim_end_matches('/').to_owned()
            }
            origin => match source.and_then(|source| self.holder(source, origin)).or(origin) {
                Some(origin) => format!("{start}{origin}"),
                None => String::new(),
            },
        }
    }

    fn is_same(&self, origin: usize, index: usize) -> bool {
        let old = self.old_spans.get(origin).and_then(|span| self.old.get(span.clone()));
        old.is_some() && old == self.new_spans.get(index).and_then(|span| self.new.get(span.clone()))
    }

    /// The message that contains a text: the expected one, else the first.
    fn holder(&self, source: &str, origin: Option<usize>) -> Option<usize> {
        let holds = |index: &usize| {
            let bytes = self.old_spans.get(*index).and_then(|span| self.old.get(span.clone()));
            bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).is_some_and(|text| text.contains(source))
        };
        origin.into_iter().chain(0..self.old_spans.len()).find(holds)
    }
}

//! Helpers for the tests of stream readers, and tests of their common code.

use seamline_frame::{Frame, FrameKind};
use seamline_model::Span;

use super::*;
use crate::{Document, StreamReader};

/// A frame of a test: its name and its data.
pub(crate) type Named<'t> = (&'t str, &'t str);

/// Reads frames and gives one line for each event.
pub(crate) fn events(mut reader: Box<dyn StreamReader>, frames: &[Named<'_>]) -> Vec<String> {
    let mut events = Vec::new();
    let mut sink = |event: Event<'_>| {
        is_sound(&event);
        events.push(line(&event));
    };
    for (name, data) in frames {
        let frame = Frame { kind: FrameKind::Event, name: name.as_bytes(), data: data.as_bytes() };
        reader.handle_frame(&frame, &mut sink);
    }
    reader.handle_end(&mut sink);
    events
}

fn line(event: &Event<'_>) -> String {
    match event {
        Event::Begin { place, piece, .. } => format!("{place} {piece:?}"),
        Event::Add { place, addition } => format!("{place} {addition:?}"),
        Event::End { place } => format!("{place} End"),
        Event::Member { name, json } => format!("{name}={json}"),
        Event::Usage { name, json } => format!("usage.{name}={json}"),
        other => format!("{other:?}"),
    }
}

/// Checks that an event with JSON holds JSON.
fn is_sound(event: &Event<'_>) {
    let json = match event {
        Event::Begin { base: "", .. } => return,
        Event::Member { json, .. }
        | Event::Usage { json, .. }
        | Event::Begin { base: json, .. }
        | Event::Add { addition: Addition::Member(_, json) | Addition::Element(_, json), .. } => json,
        _ => return,
    };
    assert!(Document::read(json).is_ok(), "{event:?}");
}

/// Values that no member has.
const ODD: [&str; 14] = [
    "null",
    "true",
    "-1",
    "1.5",
    "4294967295",
    "99999999999999999999",
    "\"\"",
    "\"\\ud800\"",
    "\"x\"",
    "[]",
    "[1]",
    "[{}]",
    "{}",
    "{\"type\":1,\"text\":[],\"id\":{}}",
];

/// Puts an odd value in the place of every value of every frame, and every other name in
/// the place of every name, and reads the whole stream again.
pub(crate) fn survives(reader: fn() -> Box<dyn StreamReader>, frames: &[Named<'_>]) {
    for at in 0..frames.len() {
        let (name, data) = frames[at];
        let document = Document::read(data).unwrap();
        for span in spans(document.root()) {
            for odd in ODD {
                let odd = [&data[..span.start as usize], odd, &data[span.end as usize..]].concat();
                let mut frames = frames.to_vec();
                frames[at] = (name, &odd);
                events(reader(), &frames);
            }
        }
        for (other, _) in frames {
            let mut frames = frames.to_vec();
            frames[at] = (other, data);
            events(reader(), &frames);
        }
    }
}

/// The spans of all keys and values.
fn spans(root: Value<'_, '_>) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut left = vec![root];
    while let Some(value) = left.pop() {
        spans.push(value.span());
        left.extend(value.elements());
        left.extend(value.members().flat_map(|(key, value)| [key, value]));
    }
    spans
}

#[test]
fn places_follow_each_other_where_indices_do_not() {
    let mut slots = Slots::default();
    let mut begin = |index, id: &str| match slots.begin(index, Piece::Call, id) {
        Some(Begun::New(place)) => format!("new {place}"),
        Some(Begun::Again(place)) => format!("again {place}"),
        None => "none".to_owned(),
    };
    let begun = [begin(4, "a"), begin(4, "a"), begin(4, "b"), begin(0, "c"), begin(0, "")];
    assert_eq!(begun, ["new 4", "again 4", "new 5", "new 6", "new 7"]);
    let mut last = Slots::default();
    assert!(last.begin(u32::MAX, Piece::Text, "").is_some());
    last.close(u32::MAX);
    assert!(last.begin(u32::MAX, Piece::Text, "").is_none());
}

#[test]
fn base64_is_read() {
    for (text, says) in [("", Some("")), ("eyJhIjoxfQ==", Some("{\"a\":1}")), ("YWI", Some("ab")), ("a b", None)] {
        assert_eq!(base64(text).as_deref(), says.map(str::as_bytes));
    }
    let either = [base64("+/+/"), base64("-_-_"), base64("-_-=")].map(Option::unwrap);
    assert_eq!(either, [vec![0xFB, 0xFF, 0xBF], vec![0xFB, 0xFF, 0xBF], vec![0xFB, 0xFF]]);
}

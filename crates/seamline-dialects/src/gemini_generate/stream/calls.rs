//! Reads calls, which come in one piece, or with the name first and then value by value.

use seamline_model::{Addition, Event, Piece, Unreadable};

use super::partial::Partial;
use super::{Reader, add_signature};
use crate::frames::{Sink, add, unreadable, words_of};
use crate::gemini_generate::wire::continues;
use crate::json::{Object, Value};
use crate::streamed::{present, start_input};

/// A call whose arguments come in pieces.
pub(super) struct Coming {
    place: u32,
    partial: Partial,
}

impl Reader {
    pub(super) fn call(&mut self, value: Value<'_, '_>, part: Object<'_, '_>, call: Object<'_, '_>, sink: Sink<'_>) {
        let name = words_of(call, "name");
        if let Some(coming) = self.coming.as_mut().filter(|_| name.is_none()) {
            add_signature(part, coming.place, sink);
            if let Some(list) = present(call, "partialArgs") {
                coming.partial.take(list);
            }
            if !continues(call) {
                if let Some(args) = present(call, "args") {
                    add(sink, coming.place, Addition::WholeArguments(args.raw()));
                }
                self.finish(sink);
            }
            return;
        }
        if name.is_none() && present(call, "args").is_none() {
            // The end of a call that has ended, or more of one that never began.
            if present(call, "partialArgs").is_some() {
                self.has_stray = true;
                unreadable(sink, Unreadable::Stray);
            }
            return;
        }
        self.leave(sink);
        let Some(place) = self.begin(Piece::Call, value.raw(), sink) else { return };
        let name = name.unwrap_or_default();
        add(sink, place, Addition::Id(&words_of(call, "id").unwrap_or_default()));
        add(sink, place, Addition::Name(&name));
        add_signature(part, place, sink);
        start_input(call.get("args"), place, sink);
        let list = present(call, "partialArgs");
        if list.is_none() && !continues(call) {
            sink(Event::End { place });
            return;
        }
        // The stray pieces before it may belong to this call.
        if std::mem::take(&mut self.has_stray) {
            add(sink, place, Addition::Unfinished);
        }
        let mut coming = Coming { place, partial: Partial::new() };
        if let Some(list) = list {
            coming.partial.take(list);
        }
        self.coming = Some(coming);
        if !continues(call) {
            self.finish(sink);
        }
    }

    /// Ends the arguments of the call. They are complete, unless a string among them was to continue (GEM-19).
    fn finish(&mut self, sink: Sink<'_>) {
        let is_whole = |coming: &mut Coming| !coming.partial.is_spoiled() && !coming.partial.is_open();
        let Some(coming) = self.coming.take_if(is_whole) else {
            self.leave(sink);
            return;
        };
        if !coming.partial.is_empty() {
            add(sink, coming.place, Addition::Arguments(&coming.partial.written()));
        }
        sink(Event::End { place: coming.place });
    }

    /// Ends the arguments of a call that was never completed, or whose arguments could not be read.
    pub(super) fn leave(&mut self, sink: Sink<'_>) {
        let Some(coming) = self.coming.take() else { return };
        if coming.partial.is_spoiled() {
            unreadable(sink, Unreadable::Shape);
        }
        add(sink, coming.place, Addition::Unfinished);
        add(sink, coming.place, Addition::Arguments(&coming.partial.unfinished()));
    }
}

//! What brings an answer on, as against what says no more than that somebody is there.

use seamline_model::{Addition, Event};

/// Whether an event brings the answer on: something is said in it that was not there before, or
/// the answer ends. What stands around a message (its id, its model, what was used so far) is
/// sent again and again by servers that have nothing to say.
pub(super) fn is_progress(event: &Event<'_>) -> bool {
    match event {
        Event::Begin { .. } | Event::End { .. } | Event::Stop { .. } | Event::Failed { .. } | Event::Done => true,
        Event::Add { addition, .. } => says_something(addition),
        Event::Member { .. } | Event::Usage { .. } | Event::Again | Event::Unreadable { .. } => false,
    }
}

fn says_something(addition: &Addition<'_>) -> bool {
    match addition {
        Addition::Text(text)
        | Addition::WholeText(text)
        | Addition::Arguments(text)
        | Addition::WholeArguments(text)
        | Addition::Signature(text) => !text.is_empty(),
        Addition::StartInput(json) | Addition::Element(_, json) => !matches!(*json, "" | "\"\"" | "null" | "{}" | "[]"),
        Addition::Whole(_) | Addition::Half(_) => true,
        // Some servers repeat them with every piece; the block they belong to has begun.
        Addition::Id(_)
        | Addition::Name(_)
        | Addition::FreeInput
        | Addition::WithoutId
        | Addition::Unfinished
        | Addition::Recalled(..)
        | Addition::NeedsSignature
        | Addition::Member(..) => false,
    }
}

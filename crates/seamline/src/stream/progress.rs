//! Distinguishes progress of a response from signs of life.

use seamline_model::{Addition, Event};

/// Whether an event is progress: it adds content, or ends the response. Servers without new content repeat the envelope
/// of a message (its id, its model, its usage), so that is not progress.
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
        // Some servers repeat them with every piece; the block that they belong to has begun.
        Addition::Id(_)
        | Addition::Name(_)
        | Addition::FreeInput
        | Addition::WithoutId
        | Addition::Unfinished
        | Addition::AnsweredByServer
        | Addition::Unbegun
        | Addition::Recalled(..)
        | Addition::NeedsSignature
        | Addition::Member(..) => false,
    }
}

//! The paths of providers, behind any prefix.

use crate::Dialect;

use super::http::Head;

/// The operation that a path asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// A response of the model.
    Answer { dialect: Dialect, framing: Framing },
    /// The number of tokens of a request.
    Count { dialect: Dialect },
    /// Anything else, such as a list of models.
    Other,
}

/// The operation of one dialect that a path asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A response of the model.
    Respond(Framing),
    /// The number of tokens of a request.
    Count,
}

/// The form of a streamed response. The body of a request decides whether it is used where the path does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Framing {
    /// One JSON value, or an event stream if the body has `"stream": true`.
    ByBody,
    /// One JSON value.
    Whole,
    /// An event stream.
    Events,
    /// One JSON array.
    Array,
    /// An AWS event stream.
    Messages,
}

impl Route {
    /// Reads the operation from the path and query of a request.
    pub(super) fn of(head: &Head) -> Self {
        let path = head.path();
        let query = head.target.split_once('?').map_or("", |(_, query)| query);
        if head.method != "POST" {
            return Self::Other;
        }
        let route = |dialect: Dialect| Some((dialect, (dialect.service().operation)(path, query)?));
        match Dialect::ALL.into_iter().find_map(route) {
            Some((dialect, Operation::Respond(framing))) => Self::Answer { dialect, framing },
            Some((dialect, Operation::Count)) => Self::Count { dialect },
            None => Self::Other,
        }
    }

    /// The dialect of the requests to the path.
    pub(super) fn dialect(self) -> Option<Dialect> {
        match self {
            Self::Answer { dialect, .. } | Self::Count { dialect } => Some(dialect),
            Self::Other => None,
        }
    }
}

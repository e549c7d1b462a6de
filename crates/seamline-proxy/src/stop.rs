//! A reason why a request is not sent on, and the response that its client gets.

use hyper::Response;

use crate::body::NotRead;
use crate::incident::IncidentOutcome;
use crate::note::Note;
use crate::rescue::{self, Refusal};
use crate::response::ResponseBody;
use crate::room::NoRoom;
use crate::route::NoRoute;

/// A reason why the client gets an error of the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The request is refused.
    Refused(Refusal),
    /// The bodies of other requests take all the memory that bodies may take.
    NoRoom(NoRoom),
}

impl Stop {
    /// Records the reason, and makes the response.
    pub(crate) fn answer(&self, note: &mut Note) -> Response<ResponseBody> {
        match self {
            Self::Refused(refusal) => {
                note.report_refusal(refusal);
                rescue::response(note.facts.dialect, refusal)
            }
            Self::NoRoom(full) => {
                note.report(IncidentOutcome::Refused, &full.to_string(), None);
                full.response(note.facts.dialect)
            }
        }
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<NotRead> for Stop {
    fn from(what: NotRead) -> Self {
        Self::Refused(what.into())
    }
}

impl From<NoRoute> for Stop {
    fn from(what: NoRoute) -> Self {
        Self::Refused(what.into())
    }
}

impl From<NoRoom> for Stop {
    fn from(full: NoRoom) -> Self {
        Self::NoRoom(full)
    }
}

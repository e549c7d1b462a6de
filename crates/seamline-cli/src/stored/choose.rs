//! The session of a store that a user means.

use super::{Store, StoredSession};
use crate::failure::Failure;
use crate::screen;

/// The most sessions that a message lists.
const LISTED_MAX: usize = 10;
/// The most sessions that are listed when an id fits several.
const FITTING_MAX: usize = 5;
/// The most columns of a session's title in a list.
const TITLE_COLUMNS: usize = 40;

impl Store {
    /// The sessions with an id, or with a part of it; all of them without one.
    pub(crate) fn chosen(&self, id: Option<&str>) -> Result<Vec<StoredSession>, Failure> {
        let mut sessions = self.sessions()?;
        let Some(id) = id else { return Ok(sessions) };
        let has_id = sessions.iter().any(|session| session.id == id);
        let fits = |session: &StoredSession| if has_id { session.id == id } else { session.has_id(id) };
        sessions.retain(fits);
        match sessions.as_slice() {
            [_] => Ok(sessions),
            [] => Err(self.has_no(id)?),
            several => {
                let ids: Vec<_> = several.iter().take(FITTING_MAX).map(|session| session.id.as_str()).collect();
                let count = screen::count(several.len(), "session");
                Err(Failure::new(format!("`{}` is part of the ids of {count}", screen::printable(id)))
                    .with_hint(format!("give more of the id:\n  {}", ids.join("\n  "))))
            }
        }
    }

    /// The session with an id, or the only one.
    pub(crate) fn only(&self, id: Option<&str>) -> Result<StoredSession, Failure> {
        let mut sessions = self.chosen(id)?;
        // A sub-agent's session belongs to another one.
        if sessions.len() > 1 && sessions.iter().any(|session| !session.is_subagent()) {
            sessions.retain(|session| !session.is_subagent());
        }
        let listed = listed(&sessions);
        match (sessions.pop(), sessions.len()) {
            (Some(only), 0) => Ok(only),
            (None, _) => Err(Failure::new("it has no sessions")),
            (Some(_), others) => {
                let count = screen::count(others + 1, "session");
                Err(Failure::new(format!("it has {count}"))
                    .with_hint(format!("`--session ID` says which one; {listed}")))
            }
        }
    }

    /// The session with an id, or the last changed one.
    pub(crate) fn newest(&self, id: Option<&str>) -> Result<StoredSession, Failure> {
        if id.is_none()
            && let Some(newest) = self.sessions()?.into_iter().find(|session| !session.is_subagent())
        {
            return Ok(newest);
        }
        self.only(id)
    }

    fn has_no(&self, id: &str) -> Result<Failure, Failure> {
        let message = format!("no session has `{}` in its id", screen::printable(id));
        Ok(Failure::new(message).with_hint(listed(&self.sessions()?)))
    }
}

/// The ids of sessions, the last changed one first.
fn listed(sessions: &[StoredSession]) -> String {
    let one = |session: &StoredSession| {
        let title = screen::cut(session.title().unwrap_or_default(), TITLE_COLUMNS);
        format!("\n  {}  {title}", session.id).trim_end().to_owned()
    };
    let list: String = sessions.iter().take(LISTED_MAX).map(one).collect();
    let more = match sessions.len().saturating_sub(LISTED_MAX) {
        0 => String::new(),
        more => format!("\n  and {} more", screen::grouped(more)),
    };
    format!("the newest are:{list}{more}")
}

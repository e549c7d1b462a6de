//! The conversation that is converted: a request body, a session file, or a session in a store.

use seamline::Options;
use seamline::files::SavedConversation;

use crate::failure::Failure;
use crate::input::Source;
use crate::stored::Store;

/// The conversation that is converted.
pub(crate) enum Subject {
    /// A request body, or the history of a program.
    Body(Vec<u8>),
    /// The conversation of a session.
    Saved(Box<SavedConversation>),
}

impl Subject {
    /// Reads a source. `session` names the session of a store.
    pub(crate) fn read(source: &Source, session: Option<&str>, options: &Options) -> Result<Self, Failure> {
        if let Some(store) = source.path().map(Store::at).transpose()?.flatten() {
            let chosen = store.only(session)?;
            let saved = store.conversation(&chosen, options)?.ok_or_else(|| Store::is_gone(&chosen))?;
            return Ok(Self::Saved(Box::new(saved)));
        }
        if session.is_some() {
            return Err(Store::has_one_session());
        }
        let opened = source.open()?;
        opened.refuse_part()?;
        let bytes = opened.read()?;
        let Some(program) = seamline::files::recognise(&source.name(), &bytes) else { return Ok(Self::Body(bytes)) };
        match seamline::files::conversation(&source.name(), &bytes, options)? {
            Some(saved) => Ok(Self::Saved(Box::new(saved))),
            None => Err(Failure::of_file(source, program)),
        }
    }
}

//! What the command says to whoever started it.

/// How a command ended; of several the worst counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Exit {
    /// Nothing is wrong, or nothing any more.
    #[default]
    Clean = 0,
    /// Findings remain.
    Findings = 1,
    /// What was asked could not be done.
    Failed = 2,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

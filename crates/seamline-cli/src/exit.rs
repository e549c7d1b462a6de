//! The exit status of a command.

/// The exit status; of several the worst counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Exit {
    /// No findings are left.
    #[default]
    Clean = 0,
    /// Findings remain.
    Findings = 1,
    /// The command failed.
    Failed = 2,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

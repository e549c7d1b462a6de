//! The exit status of a command.

/// The exit status; of several the worst counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Exit {
    /// No findings are left.
    #[default]
    Clean,
    /// Some findings remain.
    Findings,
    /// The command failed.
    Failed,
    /// The status of the program that the command ran.
    Program(u8),
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Clean => Self::from(0),
            Exit::Findings => Self::from(1),
            Exit::Failed => Self::from(2),
            Exit::Program(status) => Self::from(status),
        }
    }
}

//! A command and all that it starts, as the system knows them.

use std::io;
use std::process::{Child, Command};

#[cfg(unix)]
mod of_system {
    use super::{Child, Command, io};
    use std::os::unix::process::CommandExt as _;

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

    /// Gives a command a group of its own when it is started.
    pub(in super::super) fn own(command: &mut Command) {
        command.process_group(0);
    }

    /// Whether a command has ended. It is not reaped: its number, and that of its group, stay its own.
    pub(in super::super) fn has_exited(child: &mut Child) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
    }

    /// Asks all of the group to end.
    pub(in super::super) fn terminate(child: &Child) {
        // A group of which only the command is left, ended and not reaped, cannot be asked.
        let _ = kill_process_group(Pid::from_child(child), Signal::TERM);
    }

    /// Makes all of the group end.
    pub(in super::super) fn kill(child: &mut Child) {
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
}

#[cfg(not(unix))]
mod of_system {
    use super::{Child, Command, io};

    /// There are no groups here.
    pub(in super::super) fn own(_: &mut Command) {}

    /// Whether a command has ended.
    pub(in super::super) fn has_exited(child: &mut Child) -> io::Result<bool> {
        Ok(child.try_wait()?.is_some())
    }

    /// A command cannot be asked here.
    pub(in super::super) fn terminate(_: &Child) {}

    /// Makes the command end.
    pub(in super::super) fn kill(child: &mut Child) {
        let _ = child.kill();
    }
}

pub(super) use of_system::{has_exited, kill, own, terminate};

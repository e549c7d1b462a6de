//! Process groups of commands.

use std::io;
use std::process::{Child, Command};

#[cfg(unix)]
mod of_system {
    use super::{Child, Command, io};
    use std::os::unix::process::CommandExt as _;

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

    /// Starts a command in its own process group.
    pub(in super::super) fn own(command: &mut Command) {
        command.process_group(0);
    }

    /// Whether a command has ended. Does not reap it, so that its ids stay its own.
    pub(in super::super) fn has_exited(child: &mut Child) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
    }

    /// Sends SIGTERM to the group.
    pub(in super::super) fn terminate(child: &Child) {
        // The call fails where only the ended command is left in the group.
        let _ = kill_process_group(Pid::from_child(child), Signal::TERM);
    }

    /// Sends SIGKILL to the group.
    pub(in super::super) fn kill(child: &mut Child) {
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
}

#[cfg(not(unix))]
mod of_system {
    use super::{Child, Command, io};

    /// This system has no process groups.
    pub(in super::super) fn own(_: &mut Command) {}

    /// Whether a command has ended.
    pub(in super::super) fn has_exited(child: &mut Child) -> io::Result<bool> {
        Ok(child.try_wait()?.is_some())
    }

    /// This system has no SIGTERM.
    pub(in super::super) fn terminate(_: &Child) {}

    /// Kills the command.
    pub(in super::super) fn kill(child: &mut Child) {
        let _ = child.kill();
    }
}

pub(super) use of_system::{has_exited, kill, own, terminate};

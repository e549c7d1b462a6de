//! Follows descendants of a command that left its process group: what `timeout` runs, what a shell with job control
//! runs, what started a session of its own.
//!
//! Linux lists all processes with their parents. The system reuses the id of a process that is gone, so a process is
//! identified by its id and its start time, and once found it is held by a pidfd, which never means another process.

use std::process::Child;

#[cfg(target_os = "linux")]
mod of_system {
    use super::Child;
    use super::table::{Process, escaped, process};
    use std::os::fd::OwnedFd;
    use std::{fs, io};

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    /// The most processes to follow; each takes a file descriptor, which are limited.
    const FOLLOWED_MAX: usize = 256;

    /// The descendants that left the group, as far as they were found.
    #[derive(Debug, Default)]
    pub(in super::super) struct Followed {
        held: Vec<Held>,
    }

    #[derive(Debug)]
    struct Held {
        process: Process,
        handle: OwnedFd,
        /// Whether it got SIGTERM. It gets that once, because it may be cleaning up.
        asked: bool,
    }

    impl Followed {
        /// Searches for descendants that left the group of a command. The command is not reaped, so its ids are still
        /// its own.
        pub(in super::super) fn look(&mut self, child: &Child) {
            let Ok(group) = i32::try_from(child.id()) else { return };
            let listed = listed().unwrap_or_default();
            let held: Vec<_> = self.held.iter().map(|held| held.process).collect();
            for (process, parent) in escaped(&listed, group, &held) {
                if self.held.len() >= FOLLOWED_MAX {
                    return;
                }
                self.held.extend(hold(process, parent));
            }
        }

        /// Sends SIGTERM to those that did not get it yet.
        pub(in super::super) fn terminate(&mut self) {
            for held in self.held.iter_mut().filter(|held| !held.asked) {
                held.asked = true;
                // A process that has ended needs no signal.
                let _ = pidfd_send_signal(&held.handle, Signal::TERM);
            }
        }

        /// Sends SIGKILL to all of them.
        pub(in super::super) fn kill(&self) {
            for held in &self.held {
                let _ = pidfd_send_signal(&held.handle, Signal::KILL);
            }
        }

        /// Whether all that were found have ended.
        pub(in super::super) fn are_gone(&self) -> bool {
            let is_gone = |held: &Held| now(held.process.pid).is_none_or(|now| !now.is(&held.process) || now.has_ended);
            self.held.iter().all(is_gone)
        }
    }

    /// Opens a pidfd for a process if it is still the listed one, and still the child of the listed parent, which must
    /// be the same process too.
    fn hold(process: Process, parent: Process) -> Option<Held> {
        let handle = pidfd_open(Pid::from_raw(process.pid)?, PidfdFlags::empty()).ok()?;
        let is_child = now(process.pid).is_some_and(|now| now.is(&process) && now.parent == parent.pid);
        let is_parent = now(parent.pid).is_some_and(|now| now.is(&parent));
        (is_child && is_parent).then_some(Held { process, handle, asked: false })
    }

    fn now(pid: i32) -> Option<Process> {
        process(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// All processes; empty where `/proc` belongs to another PID namespace.
    fn listed() -> io::Result<Vec<Process>> {
        if fs::read_link("/proc/self")?.to_str() != Some(&std::process::id().to_string()) {
            return Ok(Vec::new());
        }
        let names = fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        Ok(names.filter_map(now).collect())
    }
}

#[cfg(not(target_os = "linux"))]
mod of_system {
    use super::Child;

    /// Follows no process on this system.
    #[derive(Debug, Default)]
    pub(in super::super) struct Followed;

    impl Followed {
        pub(in super::super) fn look(&mut self, _: &Child) {}

        pub(in super::super) fn terminate(&mut self) {}

        pub(in super::super) fn kill(&self) {}

        pub(in super::super) fn are_gone(&self) -> bool {
            true
        }
    }
}

pub(super) use of_system::Followed;

#[cfg(any(target_os = "linux", test))]
mod table {
    use std::collections::{BTreeMap, BTreeSet};

    /// A process in the system's list.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Process {
        pub(super) pid: i32,
        pub(super) parent: i32,
        pub(super) group: i32,
        /// The start time, in ticks of the system's clock.
        pub(super) began: u64,
        /// Whether it ended and only waits to be reaped.
        pub(super) has_ended: bool,
    }

    impl Process {
        /// Whether it is the same process, in any state.
        pub(super) fn is(&self, other: &Self) -> bool {
            (self.pid, self.began) == (other.pid, other.began)
        }
    }

    /// Parses a line of `/proc/<pid>/stat`. The name of the program is in parentheses and may contain any character,
    /// parentheses too.
    pub(super) fn process(line: &str) -> Option<Process> {
        let (pid, rest) = line.split_once(" (")?;
        let fields: Vec<_> = rest.rsplit_once(") ")?.1.split_ascii_whitespace().collect();
        Some(Process {
            pid: pid.parse().ok()?,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            began: fields.get(19)?.parse().ok()?,
            has_ended: matches!(*fields.first()?, "Z" | "X"),
        })
    }

    /// The processes outside a group that descend from one in it, or from a held one, each with its parent. Leaves out
    /// those that are held or have ended.
    pub(super) fn escaped(listed: &[Process], group: i32, held: &[Process]) -> Vec<(Process, Process)> {
        let mut children: BTreeMap<i32, Vec<&Process>> = BTreeMap::new();
        for process in listed {
            children.entry(process.parent).or_default().push(process);
        }
        let is_held = |process: &Process| held.iter().any(|known| known.is(process));
        let mut open: Vec<_> = listed.iter().filter(|process| process.group == group || is_held(process)).collect();
        let mut seen: BTreeSet<_> = open.iter().map(|process| process.pid).collect();
        let mut escaped = Vec::new();
        while let Some(parent) = open.pop() {
            for child in children.get(&parent.pid).into_iter().flatten() {
                // A process that is older than its parent is the child of an earlier process with that id.
                if child.began < parent.began || !seen.insert(child.pid) {
                    continue;
                }
                open.push(child);
                if !child.has_ended {
                    escaped.push((**child, *parent));
                }
            }
        }
        escaped
    }
}

#[cfg(test)]
mod tests {
    use super::table::{Process, escaped, process};

    const fn of(pid: i32, parent: i32, group: i32) -> Process {
        Process { pid, parent, group, began: pid.unsigned_abs() as u64, has_ended: false }
    }

    fn pids(listed: &[Process], held: &[Process]) -> Vec<(i32, i32)> {
        let mut pids: Vec<_> =
            escaped(listed, 10, held).iter().map(|(process, parent)| (process.pid, parent.pid)).collect();
        pids.sort_unstable();
        pids
    }

    #[test]
    fn a_line_of_the_list_is_read_whatever_the_program_is_called() {
        let line = "42 (a) (b c) Z 7 40 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 991 11 12";
        let read = Process { pid: 42, parent: 7, group: 40, began: 991, has_ended: true };
        assert_eq!(process(line), Some(read));
        for broken in ["", "42", "42 (a", "42 (a) S", "x (a) S 1 2 3 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 9 1"] {
            assert_eq!(process(broken), None, "{broken}");
        }
    }

    #[test]
    fn only_descendants_outside_the_group_are_found() {
        let listed = [of(1, 0, 1), of(10, 5, 10), of(11, 10, 10), of(12, 11, 12), of(13, 12, 12), of(14, 1, 14)];
        assert_eq!(pids(&listed, &[]), [(12, 11), (13, 12)]);
    }

    #[test]
    fn a_member_of_the_group_is_found_when_its_parent_is_gone() {
        let listed = [of(1, 0, 1), of(20, 1, 10), of(21, 20, 21)];
        assert_eq!(pids(&listed, &[]), [(21, 20)]);
    }

    #[test]
    fn a_held_process_leads_to_its_children_and_a_reused_id_to_none() {
        let listed = [of(1, 0, 1), of(30, 1, 30), of(31, 30, 30)];
        assert_eq!(pids(&listed, &[of(30, 10, 30)]), [(31, 30)]);
        let other = Process { began: 7, ..of(30, 10, 30) };
        assert_eq!(pids(&listed, &[other]), []);
    }

    #[test]
    fn processes_older_than_their_parent_and_ended_ones_are_left_out() {
        let older = Process { began: 3, ..of(40, 10, 40) };
        let dead = Process { has_ended: true, ..of(41, 10, 41) };
        assert_eq!(pids(&[of(10, 5, 10), older, dead, of(42, 41, 42)], &[]), [(42, 41)]);
        // A list that was read while it changed may have cycles.
        assert_eq!(pids(&[of(50, 51, 50), of(51, 50, 51), of(10, 5, 10)], &[]), []);
    }
}

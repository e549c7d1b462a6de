//! The processes that hold leases, and whether they still run.

use seamline_store::Holder;

/// Describes this process as the holder of a lease since `now_ms`, in milliseconds since 1970.
///
/// When a process of this machine ends without releasing its lease, the session is free again.
pub fn this_process(now_ms: u64) -> Holder {
    let pid = std::process::id();
    let started = look(pid).map_or(0, |process| process.started);
    Holder { host: host(), pid, started, boot: boot(), space: space(), since: now_ms, opening: 0 }
}

/// Whether the holder of a lease still runs, as far as this machine can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The process still runs.
    Alive,
    /// The process ran on this machine and has ended.
    Gone,
    /// The process is on another machine or in another container, so this process cannot tell.
    Unknown,
}

/// Finds out whether the holder of a lease still runs.
pub fn presence(holder: &Holder) -> Presence {
    if holder.host != host() || holder.space != space() {
        return Presence::Unknown;
    }
    if holder.boot != boot() {
        // If both are known, the machine restarted since.
        let is_restarted = holder.boot.is_some() && boot().is_some();
        return if is_restarted { Presence::Gone } else { Presence::Unknown };
    }
    let is_another = |process: Process| process.is_over || process.started != holder.started;
    let is_gone = !exists(holder.pid) || look(holder.pid).is_some_and(is_another);
    if is_gone { Presence::Gone } else { Presence::Alive }
}

/// Whether a holder has certainly ended.
pub(crate) fn is_gone(holder: &Holder) -> bool {
    presence(holder) == Presence::Gone
}

/// A running process.
struct Process {
    /// When it started, in clock ticks since the machine started.
    started: u64,
    /// Whether it has ended and waits for its parent to collect it.
    is_over: bool,
}

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the kernel publishes the start time in a file")]
fn look(pid: u32) -> Option<Process> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    read_stat(&String::from_utf8_lossy(&stat))
}

/// Parses `/proc/PID/stat`. The name of the process is in brackets and may hold any byte; its state follows, and 19
/// words later its start time.
#[cfg(target_os = "linux")]
fn read_stat(stat: &str) -> Option<Process> {
    let (_, behind) = stat.rsplit_once(')')?;
    let mut words = behind.split_ascii_whitespace();
    let is_over = matches!(words.next()?, "Z" | "X" | "x");
    Some(Process { started: words.nth(18)?.parse().ok()?, is_over })
}

#[cfg(not(target_os = "linux"))]
fn look(_pid: u32) -> Option<Process> {
    None
}

/// Returns the id of the current boot. Containers share it.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the kernel publishes it in a file")]
fn boot() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(boot.trim().to_owned())
}

/// Returns the namespace of process ids: each container can have its own.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the kernel publishes it in a link")]
fn space() -> Option<String> {
    Some(std::fs::read_link("/proc/self/ns/pid").ok()?.to_string_lossy().into_owned())
}

#[cfg(not(target_os = "linux"))]
fn boot() -> Option<String> {
    None
}

#[cfg(not(target_os = "linux"))]
fn space() -> Option<String> {
    None
}

/// Whether a process has this id.
#[cfg(unix)]
fn exists(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    // A process that this one may not signal exists.
    rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}

#[cfg(not(unix))]
fn exists(_pid: u32) -> bool {
    true
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "Windows names the machine only in the environment")]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_a_process_name_do_not_hide_the_start_time() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 1 0 12345 1000 10 18446744073709551615";
        let process = read_stat(stat).unwrap();
        assert_eq!((process.started, process.is_over), (12345, false));
        for broken in ["", "7 (a", "7 (a) S 1 2", "7 (a) S 1 7 7 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 1 0 x"] {
            assert!(read_stat(broken).is_none(), "{broken}");
        }
    }

    #[test]
    fn only_a_process_of_this_machine_can_be_gone() {
        let own = this_process(1);
        assert!(!is_gone(&own));
        assert_eq!(presence(&own), Presence::Alive);
        assert_eq!(presence(&Holder { host: "elsewhere".to_owned(), ..own.clone() }), Presence::Unknown);
        assert!(is_gone(&Holder { started: own.started + 1, ..own.clone() }));
        assert!(is_gone(&Holder { pid: 0, ..own.clone() }));
        assert!(is_gone(&Holder { pid: u32::MAX, ..own.clone() }));
        assert!(!is_gone(&Holder { host: "elsewhere".to_owned(), pid: u32::MAX, ..own.clone() }));
        let container = Some("pid:[1]".to_owned());
        assert!(!is_gone(&Holder { space: container, pid: u32::MAX, ..own.clone() }));
        let earlier = Some("an earlier boot".to_owned());
        assert!(is_gone(&Holder { boot: earlier, ..own.clone() }));
        assert!(!is_gone(&Holder { boot: None, pid: u32::MAX, ..own }));
    }
}

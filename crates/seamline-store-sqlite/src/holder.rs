//! Processes that write, and whether they are still there.

use seamline_store::Holder;

/// This process, as one that writes since `now_ms`, in milliseconds since 1970.
///
/// A session that a process of this machine held and did not let go is free again once that process is gone.
pub fn this_process(now_ms: u64) -> Holder {
    let pid = std::process::id();
    let started = look(pid).map_or(0, |process| process.started);
    Holder { host: host(), pid, started, boot: boot(), space: space(), since: now_ms, opening: 0 }
}

/// What is known here of a process that holds a session and has not let go of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It is there.
    Alive,
    /// It was on this machine and is not there any more.
    Gone,
    /// It is on another machine, or in another container of this one: nobody here knows.
    Unknown,
}

/// Whether a holder is still there, as far as can be told here.
pub fn presence(holder: &Holder) -> Presence {
    if holder.host != host() || holder.space != space() {
        return Presence::Unknown;
    }
    if holder.boot != boot() {
        // Where both are known, the machine was switched off since.
        let is_off = holder.boot.is_some() && boot().is_some();
        return if is_off { Presence::Gone } else { Presence::Unknown };
    }
    let is_another = |process: Process| process.is_over || process.started != holder.started;
    let is_gone = !answers(holder.pid) || look(holder.pid).is_some_and(is_another);
    if is_gone { Presence::Gone } else { Presence::Alive }
}

/// Whether a holder is known to be gone.
pub(crate) fn is_gone(holder: &Holder) -> bool {
    presence(holder) == Presence::Gone
}

/// What is known of a process that has a number.
struct Process {
    /// When it started, in ticks since the machine did.
    started: u64,
    /// Whether it has ended, and only its parent has not looked yet.
    is_over: bool,
}

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the kernel says in a file when a process started")]
fn look(pid: u32) -> Option<Process> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    read_stat(&String::from_utf8_lossy(&stat))
}

/// The name of the process stands in brackets and may hold anything; behind it come its state and, 19 words on, when
/// it started.
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

/// What the machine calls itself since it was switched on. Containers share it.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the kernel says it in a file")]
fn boot() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(boot.trim().to_owned())
}

/// Among which processes a number counts: a container has processes of its own.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the kernel says it in a link")]
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

/// Whether there is a process of that number.
#[cfg(unix)]
fn answers(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    // One that may not be asked is there.
    rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}

#[cfg(not(unix))]
fn answers(_pid: u32) -> bool {
    true
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "the name of the machine is there and nowhere else")]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_brackets_does_not_hide_the_start() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 1 0 12345 1000 10 18446744073709551615";
        let process = read_stat(stat).unwrap();
        assert_eq!((process.started, process.is_over), (12345, false));
        for broken in ["", "7 (a", "7 (a) S 1 2", "7 (a) S 1 7 7 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 1 0 x"] {
            assert!(read_stat(broken).is_none(), "{broken}");
        }
    }

    #[test]
    fn only_a_process_of_this_machine_can_be_known_to_be_gone() {
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
        let earlier = Some("before it was switched off".to_owned());
        assert!(is_gone(&Holder { boot: earlier, ..own.clone() }));
        assert!(!is_gone(&Holder { boot: None, pid: u32::MAX, ..own }));
    }
}

//! Commands of tools with a real shell: they always end, and leave no process behind.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a command that cannot be run fails its test")]

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use seamline::guards::{ChildEnd, ChildLimits, Ran, Supervised, supervise};

/// Far longer than any test takes, and far shorter than the commands would take.
const SOON: Duration = Duration::from_secs(20);

fn shell(script: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]);
    shell
}

fn limits(timeout_ms: u64) -> ChildLimits {
    ChildLimits {
        timeout: Some(Duration::from_millis(timeout_ms)),
        grace: Duration::from_millis(200),
        ..ChildLimits::default()
    }
}

fn run(script: &str, limits: ChildLimits) -> Ran {
    let started = Instant::now();
    let ran = supervise(&mut shell(script), &limits);
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    ran.unwrap()
}

/// The numbers that a script printed.
fn numbers(ran: &Ran) -> Vec<u32> {
    ran.stdout.text().split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// Whether a process still runs and does not only wait for its parent to collect it.
fn runs(pid: u32) -> bool {
    let listed = Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output();
    let Ok(listed) = listed else {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        return stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'));
    };
    let state = String::from_utf8_lossy(&listed.stdout);
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

#[track_caller]
fn is_gone(pid: u32) {
    let started = Instant::now();
    while runs(pid) {
        assert!(started.elapsed() < SOON, "process {pid} is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_finished_command_returns_its_output() {
    let ran = run("echo out; echo err >&2; exit 3", limits(60_000));
    assert_eq!((ran.end, ran.status.code()), (ChildEnd::Exited, Some(3)));
    assert_eq!((ran.stdout.text().as_str(), ran.stderr.text().as_str()), ("out\n", "err\n"));
    assert!(ran.stdout.whole && ran.stderr.whole);
}

#[test]
fn a_command_that_cannot_be_started_is_an_error() {
    assert!(supervise(&mut Command::new("there-is-no-such-command"), &limits(1000)).is_err());
}

#[test]
fn a_command_has_an_empty_standard_input() {
    let ran = run("cat; echo done", limits(60_000));
    assert_eq!((ran.end, ran.stdout.text().as_str()), (ChildEnd::Exited, "done\n"));
}

#[test]
fn s3_28_a_stubborn_grandchild_is_gone_after_the_kill() {
    let script =
        "sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' & trap '' TERM; echo $$; wait; wait; sleep 600";
    let ran = run(script, limits(500));
    assert_eq!((ran.end, ran.status.code()), (ChildEnd::TimedOut, None));
    let numbers = numbers(&ran);
    assert_eq!(numbers.len(), 2, "{:?}", ran.stdout.text());
    numbers.into_iter().for_each(is_gone);
}

#[test]
fn a_terminated_command_may_clean_up() {
    let limits = ChildLimits { grace: Duration::from_secs(15), ..limits(300) };
    let ran = run("trap 'echo cleaned; exit 0' TERM; echo ready; while :; do sleep 0.05; done", limits);
    assert_eq!((ran.end, ran.status.code()), (ChildEnd::TimedOut, Some(0)));
    assert_eq!(ran.stdout.text(), "ready\ncleaned\n");
}

#[test]
fn background_processes_end_with_their_command() {
    // It holds the outputs open as well, and reading them would never end.
    let ran = run("trap '' TERM; sleep 600 & echo $!", limits(60_000));
    assert_eq!(ran.end, ChildEnd::Exited);
    is_gone(numbers(&ran)[0]);
}

#[test]
fn a_flood_of_output_is_read_and_a_small_part_is_kept() {
    let limits = ChildLimits { output_bytes_max: 1000, ..limits(60_000) };
    let ran = run("yes 0123456789 | head -c 3000000; yes err | head -c 1000000 >&2; echo end", limits);
    assert_eq!((ran.end, ran.status.code()), (ChildEnd::Exited, Some(0)));
    assert_eq!((ran.stdout.head.len(), ran.stdout.tail.len()), (500, 500));
    assert_eq!(ran.stdout.left_out, 3_000_004 - 1000);
    assert!(ran.stdout.tail.ends_with(b"end\n"));
    assert_eq!(ran.stderr.left_out, 1_000_000 - 1000);
}

#[test]
fn an_endless_flood_of_output_is_ended() {
    let limits = ChildLimits { output_bytes_max: 1000, ..limits(300) };
    let ran = run("yes", limits);
    assert_eq!((ran.end, ran.stdout.head.len()), (ChildEnd::TimedOut, 500));
}

#[test]
fn a_command_that_closes_its_outputs_and_continues_is_awaited() {
    let started = Instant::now();
    let ran = run("echo said; exec 1>&- 2>&-; sleep 0.4; exit 7", limits(60_000));
    assert_eq!((ran.end, ran.status.code(), ran.stdout.text().as_str()), (ChildEnd::Exited, Some(7), "said\n"));
    assert!(started.elapsed() >= Duration::from_millis(400));
    let ran = run("exec 1>&- 2>&-; sleep 600", limits(300));
    assert_eq!(ran.end, ChildEnd::TimedOut);
}

#[test]
fn a_stopper_may_end_a_command_any_number_of_times() {
    let child = Supervised::start(&mut shell("echo $$; sleep 600"), &limits(600_000)).unwrap();
    let (pid, stopper) = (child.id(), child.stopper());
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        stopper.stop();
        stopper.clone().stop();
    });
    let ran = child.wait().unwrap();
    other.join().unwrap();
    assert_eq!((ran.end, numbers(&ran)), (ChildEnd::Stopped, vec![pid]));
    is_gone(pid);
}

#[test]
fn a_dropped_command_is_ended() {
    let place: PathBuf = std::env::temp_dir().join(format!("seamline-supervise-{}", std::process::id()));
    let script = format!("sleep 600 & echo $! > {0}.new; mv {0}.new {0}; wait", place.display());
    let child = Supervised::start(&mut shell(&script), &limits(600_000)).unwrap();
    let started = Instant::now();
    while !place.exists() {
        assert!(started.elapsed() < SOON);
        std::thread::sleep(Duration::from_millis(10));
    }
    let pids = [child.id(), std::fs::read_to_string(&place).unwrap().trim().parse().unwrap()];
    drop(child);
    let _ = std::fs::remove_file(&place);
    pids.into_iter().for_each(is_gone);
}

/// Processes outside the group of their command.
#[cfg(target_os = "linux")]
mod outside {
    use super::*;

    /// Prints its process id, and ignores SIGTERM.
    const STUBBORN: &str = r#"sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done'"#;

    fn bash(script: &str) -> Command {
        let mut bash = Command::new("bash");
        bash.args(["-c", script]);
        bash
    }

    /// Runs a script until its timeout; then all processes whose ids it printed are gone, and none of them was in its
    /// group.
    #[track_caller]
    fn all_are_gone(script: &str, count: usize) {
        let started = Instant::now();
        let child = Supervised::start(&mut bash(script), &limits(1000)).unwrap();
        let group = child.id();
        let ran = child.wait().unwrap();
        assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
        assert_eq!(ran.end, ChildEnd::TimedOut, "{script}");
        let numbers = numbers(&ran);
        assert!(numbers.len() == count && !numbers.contains(&group), "{script}: {:?}", ran.stdout.text());
        numbers.into_iter().for_each(is_gone);
    }

    #[test]
    fn a_process_under_timeout_is_gone_after_the_kill() {
        all_are_gone("timeout 100 sh -c 'echo $$; exec sleep 100'; true", 1);
        all_are_gone(&format!("timeout 100 {STUBBORN}; true"), 1);
        all_are_gone(&format!("trap '' TERM; timeout 100 timeout 100 {STUBBORN}; sleep 100"), 1);
    }

    #[test]
    fn a_process_under_timeout_is_gone_after_the_command_ended_by_itself() {
        let marks = [std::process::id().to_string(), "seamline-left-behind".to_owned()].join("-");
        let file = std::env::temp_dir().join(marks);
        // No process holds an output of the command, and its own shell waits for `timeout` in its group.
        let inner =
            format!("(timeout 300 sh -c 'echo $$ > {0}; exec sleep 300'; true) >/dev/null 2>&1 &", file.display());
        let ran = run(&format!("{inner} until [ -s {} ]; do sleep 0.02; done", file.display()), limits(60_000));
        let left: u32 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(ran.end, ChildEnd::Exited);
        is_gone(left);
    }

    #[test]
    fn a_job_of_a_shell_with_job_control_is_gone_after_the_kill() {
        all_are_gone("set -m; sleep 100 & echo $!; sleep 100 & echo $!; wait; true", 2);
        all_are_gone(&format!("set -m; {STUBBORN} & {STUBBORN} & wait; true"), 2);
    }

    #[test]
    fn a_process_in_its_own_session_is_gone_after_the_kill() {
        all_are_gone(&format!("setsid {STUBBORN} & setsid {STUBBORN}; true"), 2);
    }

    /// The pipe that is the standard output of a process, as the system names it.
    fn pipe_of(pid: u32) -> PathBuf {
        std::fs::read_link(format!("/proc/{pid}/fd/1")).unwrap()
    }

    fn is_held_here(pipe: &PathBuf) -> bool {
        let ours = std::fs::read_dir("/proc/self/fd").unwrap();
        ours.flatten().any(|fd| std::fs::read_link(fd.path()).is_ok_and(|held| held == *pipe))
    }

    #[test]
    fn the_output_of_an_escaped_process_is_not_read() {
        let ran = supervise(&mut bash("setsid sleep 301 & sleep 0.3; echo $!"), &limits(60_000)).unwrap();
        assert_eq!((ran.end, ran.stdout.whole, ran.stderr.whole), (ChildEnd::Exited, false, false));
        let escaped = numbers(&ran)[0];
        let (pipe, started) = (pipe_of(escaped), Instant::now());
        while is_held_here(&pipe) {
            assert!(started.elapsed() < SOON, "{} is still read", pipe.display());
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(runs(escaped));
        Command::new("kill").args(["-9", &escaped.to_string()]).status().unwrap();
    }

    #[test]
    fn an_escaped_process_may_clean_up_as_well() {
        let limits = ChildLimits { grace: Duration::from_secs(15), ..limits(500) };
        // It has closed its outputs, so only the process itself shows that it still runs.
        let place = std::env::temp_dir().join(format!("seamline-cleaned-{}", std::process::id()));
        let script = format!(
            "set -m; (trap 'sleep 0.3; echo cleaned > {0}; exit' TERM; exec > {0} 2>&1; while :; do sleep 0.05; done) & wait",
            place.display()
        );
        let ran = supervise(&mut bash(&script), &limits).unwrap();
        let cleaned = std::fs::read_to_string(&place);
        let _ = std::fs::remove_file(&place);
        assert_eq!((ran.end, cleaned.unwrap().as_str()), (ChildEnd::TimedOut, "cleaned\n"));
    }

    #[test]
    fn an_escaped_process_ends_with_a_dropped_command() {
        let place = std::env::temp_dir().join(format!("seamline-outside-{}", std::process::id()));
        let script = format!("set -m; sleep 600 & echo $! > {0}.new; mv {0}.new {0}; wait", place.display());
        let child = Supervised::start(&mut bash(&script), &limits(600_000)).unwrap();
        let started = Instant::now();
        while !place.exists() {
            assert!(started.elapsed() < SOON);
            std::thread::sleep(Duration::from_millis(10));
        }
        let pid = std::fs::read_to_string(&place).unwrap().trim().parse().unwrap();
        drop(child);
        let _ = std::fs::remove_file(&place);
        is_gone(pid);
    }
}

#[test]
fn limits_may_be_arbitrarily_long() {
    let limits = ChildLimits { timeout: Some(Duration::MAX), grace: Duration::MAX, ..ChildLimits::default() };
    let ran = run("sleep 300 & echo $!", limits);
    assert_eq!(ran.end, ChildEnd::Exited);
    numbers(&ran).into_iter().for_each(is_gone);
}

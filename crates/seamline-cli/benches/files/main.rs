//! The cost of `seamline check` on a very large session file, and of `seamline doctor` on many small ones.
//!
//! Each figure is the best of interleaved rounds, and every figure is the time of a process from its start to its end, so
//! that the ratios hold on a busy machine too. The peer of a check counts the lines of the same file and parses each line
//! into a `serde_json::Value`, one line in memory at a time: the least that a program does that looks at every record.
//! Nothing here passes or fails; `cargo xtask bench files` prints it. `--quick` measures files of a tenth of the size.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::cast_precision_loss, reason = "megabytes are printed with two digits")]

mod peer;
mod process;
mod sessions;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use process::Run;
use sessions::Kind;

/// The bytes of the large file.
const LARGE_BYTES: usize = 500_000_000;
/// The number of small files, and the bytes of each.
const SMALL_COUNT: usize = 10_000;
const SMALL_BYTES: usize = 12_000;
/// The number of rounds; the best counts.
const ROUNDS: usize = 3;
/// The bytes that a check may need besides three times the largest message.
const ROOM_BYTES: usize = 100_000_000;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [first, file] = args.as_slice()
        && first == peer::ARGUMENT
    {
        return peer::run(Path::new(file));
    }
    let share = if args.iter().any(|arg| arg == "--quick") { 10 } else { 1 };
    println!("best of {ROUNDS} interleaved rounds; a ratio compares two processes of the same run on the same bytes\n");
    check_large(LARGE_BYTES / share)?;
    examine_many(SMALL_COUNT / share)
}

/// Checks one very large file of each program, beside the peer.
fn check_large(bytes: usize) -> std::io::Result<()> {
    println!(
        "{:<14} {:>7} {:>8} {:>9} {:>9} {:>9} {:>11} {:>9} {:>9} {:>9}",
        "large file", "MB", "records", "peer s", "check s", "speed", "largest MB", "peer MB", "check MB", "limit MB"
    );
    for kind in Kind::ALL {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join(kind.file_name(0));
        let written = sessions::write(&file, kind, bytes)?;
        let mut best: [Option<Run>; 2] = [None, None];
        for _ in 0..ROUNDS {
            let mut peer = Command::new(std::env::current_exe()?);
            peer.arg(peer::ARGUMENT).arg(&file);
            let mut check = seamline(folder.path());
            check.arg("check").arg(&file);
            for (best, run) in best.iter_mut().zip([process::run(&mut peer)?, process::run(&mut check)?]) {
                *best = Some(best.map_or(run, |best| best.or_better(run)));
            }
        }
        let [Some(peer), Some(check)] = best else { continue };
        let mb = |bytes: usize| bytes as f64 / 1e6;
        println!(
            "{:<14} {:>7.0} {:>8} {:>9.2} {:>9.2} {:>9.2} {:>11.1} {:>9.1} {:>9.1} {:>9.1}",
            kind.name(),
            mb(written.bytes),
            written.records,
            peer.time.as_secs_f64(),
            check.time.as_secs_f64(),
            ratio(peer.time, check.time),
            mb(written.largest),
            mb(peer.peak_bytes),
            mb(check.peak_bytes),
            mb(3 * written.largest + ROOM_BYTES),
        );
    }
    println!("speed is the speed of the check against that of the peer; 0.5 or more is the goal");
    println!(
        "limit is three times the largest message and {} MB; check MB below it is the goal\n",
        ROOM_BYTES / 1_000_000
    );
    Ok(())
}

/// Examines many small files on one core and on several.
fn examine_many(count: usize) -> std::io::Result<()> {
    let folder = tempfile::tempdir()?;
    let mut bytes = 0;
    for index in 0..count {
        let kind = Kind::ALL[index % Kind::ALL.len()];
        let path: PathBuf = folder.path().join("sessions").join(format!("{:02}", index % 50));
        std::fs::create_dir_all(&path)?;
        bytes += sessions::write(&path.join(kind.file_name(index)), kind, SMALL_BYTES)?.bytes;
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = [1, 2, 4, 8].into_iter().filter(|threads| *threads <= cores.max(2));
    let threads: Vec<usize> = threads.collect();
    let mut best: Vec<Option<Run>> = vec![None; threads.len()];
    for _ in 0..ROUNDS {
        for (best, threads) in best.iter_mut().zip(&threads) {
            let mut doctor = seamline(folder.path());
            doctor.arg("doctor").arg("sessions").env("RAYON_NUM_THREADS", threads.to_string());
            let run = process::run(&mut doctor)?;
            *best = Some(best.map_or(run, |best| best.or_better(run)));
        }
    }
    println!(
        "{:<14} {:>7} {:>8} {:>9} {:>9} {:>9} {:>9}",
        "many files", "files", "MB", "threads", "doctor s", "files/s", "scaling"
    );
    let one = best.first().copied().flatten().map_or(Duration::ZERO, |run| run.time);
    for (run, threads) in best.iter().zip(&threads) {
        let Some(run) = run else { continue };
        println!(
            "{:<14} {count:>7} {:>8.1} {threads:>9} {:>9.2} {:>9.0} {:>9.2}",
            "",
            bytes as f64 / 1e6,
            run.time.as_secs_f64(),
            count as f64 / run.time.as_secs_f64(),
            ratio(one, run.time),
        );
    }
    println!("scaling is the speed against that of one thread on the same files; this machine has {cores} cores");
    Ok(())
}

/// The command, with a home and a state folder of its own.
fn seamline(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seamline"));
    command.current_dir(folder).env("HOME", folder).env("XDG_STATE_HOME", folder.join("state"));
    command
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

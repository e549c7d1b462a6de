//! A disk that fills up while a session is written.
#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};

use crate::bench::{Bench, Ran};

/// Appends a message for every amount of free space, in a mount that only this process sees. Prints the exit status, the
/// number of messages that were kept, and the output.
const SCRIPT: &str = r#"
set -e
mount -t tmpfs -o size=256k tmpfs "$2"
cd "$2"
export SEAMLINE_STORE=sqlite:$2/s.db
for room in $(seq 0 4 96); do
    rm -f s.db* fill
    "$1" session new a > /dev/null
    used=$(df --output=used . | tail -n 1)
    head -c $(((256 - used - room) * 1024)) /dev/zero > fill
    code=0
    text=$(echo '{"role":"user","content":"once"}' | "$1" session append a 2>&1) || code=$?
    text=$(echo "$text" | tr '\n' ' ')
    rm -f fill
    echo "$code $("$1" session export a --messages | wc -l) $text"
done
"#;

#[test]
fn a_full_disk_is_named_and_never_hides_what_was_kept() {
    let bench = Bench::new();
    let may_mount = Command::new("unshare").args(["-m", "true"]).stderr(Stdio::null()).status();
    if !may_mount.is_ok_and(|status| status.success()) {
        println!("skipped: this user may not mount a file system");
        return;
    }
    std::fs::create_dir(bench.path("small")).unwrap();
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", SCRIPT, "sh", env!("CARGO_BIN_EXE_seamline")]).arg(bench.path("small"));
    let ran = Ran::of(&mut command).expect(0);
    let (mut kept, mut unclosed, mut refused) = (0, 0, 0);
    for line in ran.out.lines() {
        match line.get(..4) {
            Some("0 1 ") => kept += 1,
            Some("2 0 ") => refused += 1,
            _ => panic!("the exit status does not say what was kept: {line}"),
        }
        assert!(line.starts_with('0') || line.contains("the store has no space left"), "{line}");
        unclosed += usize::from(line.contains("all of it is stored, but the session could not be closed"));
    }
    println!("{kept} kept, {unclosed} of them not closed, {refused} refused");
    assert!(kept > 3 && refused > 3 && unclosed > 0, "{}", ran.out);
}

//! Real databases, if `SEAMLINE_DATABASES` lists them: each session is read, and a repair leaves healthy ones alone.

use seamline::files::database::{self, Database};
use seamline::{Options, Severity};

#[test]
fn real_databases_are_read() {
    let Some(paths) = std::env::var_os("SEAMLINE_DATABASES") else {
        println!("skipped: SEAMLINE_DATABASES is not set");
        return;
    };
    let options = Options::default();
    for path in std::env::split_paths(&paths) {
        let database = Database::open(&path).unwrap().unwrap_or_else(|| panic!("{} is not known", path.display()));
        println!("{}: {}", path.display(), database.program().name);
        for session in database.sessions().unwrap() {
            let checked = database::check(&database, &session.id, &options).unwrap().unwrap();
            println!("  {session:?}");
            println!(
                "    {} rows, {} messages, {} calls, {:?}",
                checked.rows.len(),
                checked.checked.messages,
                checked.checked.calls,
                checked.checked.about
            );
            for finding in &checked.checked.findings {
                let row = finding.line.map(|line| checked.rows[line - 1].to_string());
                println!("    {} {:?} {}", finding.code, row, finding.message);
            }
            let repaired = database::repair(&database, &session.id, &options).unwrap().unwrap();
            let is_wrong = checked.checked.findings.iter().any(|finding| finding.severity > Severity::Info);
            assert_eq!(repaired.is_changed(), is_wrong && repaired.repaired.refusal.is_none());
            if repaired.is_changed() {
                println!("    after: {}", repaired.repaired.after);
            }
        }
    }
}

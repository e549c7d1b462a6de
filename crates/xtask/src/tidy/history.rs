//! The subjects of commits, as far as git knows them.

use std::path::Path;
use std::process::Command;

/// The file whose first commit starts the rule about subjects.
const SINCE: &str = "crates/xtask/src/tidy/language.rs";

/// The commits that the rule about subjects applies to.
#[derive(Debug)]
pub(crate) enum History {
    /// The commits, merges left out.
    Known(Vec<Commit>),
    /// The history cannot be read, and why.
    Unknown(&'static str),
}

/// One commit, as its first line describes it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Commit {
    /// The abbreviated hash of the commit.
    pub(crate) hash: String,
    /// The first line of its message.
    pub(crate) subject: String,
}

impl History {
    /// Reads the history of the checkout at `root`.
    pub(crate) fn read(root: &Path) -> Self {
        match git(root, &["rev-parse", "--is-shallow-repository"]).as_deref().map(str::trim) {
            Some("false") => {}
            Some(_) => return Self::Unknown("this is a shallow clone"),
            None => return Self::Unknown("there is no git history here"),
        }
        let Some(added) = git(root, &["log", "--diff-filter=A", "--format=%H", "--", SINCE]) else {
            return Self::Unknown("git cannot read its history");
        };
        // The oldest is the last; a file that is not committed yet has none.
        let Some(first) = added.lines().last() else { return Self::Known(Vec::new()) };
        let later = format!("{first}..HEAD");
        let list = |args: &[&str]| git(root, &[&["log", "--no-merges", "--format=%h %s"], args].concat());
        match (list(&["--max-count=1", first]), list(&["--ancestry-path", &later])) {
            (Some(first), Some(later)) => Self::Known(later.lines().chain(first.lines()).filter_map(commit).collect()),
            _ => Self::Unknown("git cannot read its history"),
        }
    }
}

fn git(root: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).current_dir(root).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn commit(line: &str) -> Option<Commit> {
    let (hash, subject) = line.split_once(' ')?;
    Some(Commit { hash: hash.to_owned(), subject: subject.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs git in a repository that no setting of the machine reaches.
    fn in_repository(root: &Path, args: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]).args(args);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").current_dir(root);
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn subjects(root: &Path) -> Vec<String> {
        match History::read(root) {
            History::Known(commits) => commits.into_iter().map(|commit| commit.subject).collect(),
            History::Unknown(why) => panic!("{why}"),
        }
    }

    #[test]
    fn commits_are_listed_from_the_one_that_adds_the_check() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        in_repository(root, &["init", "--quiet", "--initial-branch=main"]);
        in_repository(root, &["commit", "--quiet", "--allow-empty", "-m", "before"]);
        assert_eq!(subjects(root), Vec::<String>::new());
        in_repository(root, &["branch", "beside"]);
        std::fs::create_dir_all(root.join(SINCE).parent().unwrap()).unwrap();
        std::fs::write(root.join(SINCE), "").unwrap();
        in_repository(root, &["add", "."]);
        in_repository(root, &["commit", "--quiet", "-m", "tidy: add the check", "-m", "the body"]);
        in_repository(root, &["commit", "--quiet", "--allow-empty", "-m", "after"]);
        in_repository(root, &["switch", "--quiet", "beside"]);
        in_repository(root, &["commit", "--quiet", "--allow-empty", "-m", "on a branch without the check"]);
        in_repository(root, &["switch", "--quiet", "main"]);
        in_repository(root, &["merge", "--quiet", "--no-ff", "-m", "the merge", "beside"]);
        assert_eq!(subjects(root), ["after", "tidy: add the check"]);
    }

    #[test]
    fn without_history_the_reason_is_given() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(History::read(folder.path()), History::Unknown("there is no git history here")));
        let root = folder.path().join("full");
        std::fs::create_dir(&root).unwrap();
        in_repository(&root, &["init", "--quiet"]);
        for subject in ["one", "two"] {
            in_repository(&root, &["commit", "--quiet", "--allow-empty", "-m", subject]);
        }
        let url = format!("file://{}", root.display());
        in_repository(folder.path(), &["clone", "--quiet", "--depth=1", &url, "shallow"]);
        let shallow = History::read(&folder.path().join("shallow"));
        assert!(matches!(shallow, History::Unknown("this is a shallow clone")));
    }
}

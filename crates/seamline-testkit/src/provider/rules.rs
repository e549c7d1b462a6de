//! Which script a request follows.

use std::collections::{BTreeSet, VecDeque};

use super::script::Script;

/// The scripts of a provider.
#[derive(Debug, Default)]
pub(super) struct Rules {
    next: VecDeque<Script>,
    connections: Vec<(usize, Script)>,
    paths: Vec<(String, Script)>,
    always: Script,
    /// The keys of requests that were rejected once.
    rejected: BTreeSet<String>,
}

impl Rules {
    /// Gives the next request a script that comes before all others.
    pub(super) fn push_next(&mut self, script: Script) {
        self.next.push_back(script);
    }

    pub(super) fn push_connection(&mut self, number: usize, script: Script) {
        self.connections.push((number, script));
    }

    pub(super) fn push_path(&mut self, part: &str, script: Script) {
        self.paths.push((part.to_owned(), script));
    }

    pub(super) fn set_always(&mut self, script: Script) {
        self.always = script;
    }

    /// The script of a request: that of the next request, of its connection, of its path, of all requests.
    pub(super) fn pick(&mut self, connection: usize, path: &str) -> Script {
        if let Some(script) = self.next.pop_front() {
            return script;
        }
        let of_connection =
            self.connections.iter().rfind(|(number, _)| *number == connection).map(|(_, script)| script);
        let of_path = || self.paths.iter().rfind(|(part, _)| path.contains(part)).map(|(_, script)| script);
        of_connection.or_else(of_path).unwrap_or(&self.always).clone()
    }

    /// Whether a request with this key is the first one.
    pub(super) fn is_first(&mut self, key: &str) -> bool {
        self.rejected.insert(key.to_owned())
    }
}

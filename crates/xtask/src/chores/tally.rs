//! Counts tests from the output of the test runners.

/// The numbers of tests that passed and failed, from the runners' closing lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// The number of tests that passed.
    pub(super) passed: u64,
    /// The number of tests that failed, timed out or could not start.
    pub(super) failed: u64,
    /// The number of closing lines; without one there is nothing to report.
    pub(super) closing_lines: u64,
}

impl Tally {
    /// Counts the line if it is a closing line.
    pub(super) fn see(&mut self, line: &str) {
        let line = line.trim_start();
        let counts = if let Some(rest) = line.strip_prefix("test result: ") {
            rest.split_once(". ").map(|(_, counts)| counts)
        } else if line.starts_with("Summary [") {
            line.split_once(" run: ").map(|(_, counts)| counts)
        } else {
            None
        };
        let Some(counts) = counts else { return self.see_node(line) };
        self.closing_lines += 1;
        for part in counts.split([';', ',']) {
            self.add(part.trim());
        }
    }

    /// Counts the closing lines of the test runner of Node.js.
    fn see_node(&mut self, line: &str) {
        let count = |what: &str| line.strip_prefix(what)?.trim().parse::<u64>().ok();
        if let Some(count) = count("ℹ pass ") {
            self.closing_lines += 1;
            self.passed += count;
        } else if let Some(count) = count("ℹ fail ") {
            self.failed += count;
        } else {
            self.see_pytest(line);
        }
    }

    /// Counts the closing line of pytest, such as `3 failed, 12 passed, 1 skipped in 4.20s`.
    fn see_pytest(&mut self, line: &str) {
        let Some((counts, time)) = line.trim_matches(['=', ' ']).rsplit_once(" in ") else { return };
        let is_time =
            time.split(' ').next().is_some_and(|time| time.ends_with('s') && time.starts_with(char::is_numeric));
        let is_counts = || counts.split(", ").all(|part| part.starts_with(char::is_numeric));
        if is_time && is_counts() && (counts.contains(" passed") || counts.contains(" failed")) {
            self.closing_lines += 1;
            counts.split(", ").for_each(|part| self.add(part));
        }
    }

    fn add(&mut self, part: &str) {
        let Some((count, what)) = part.split_once(' ') else {
            return;
        };
        let Ok(count) = count.parse::<u64>() else {
            return;
        };
        if what.starts_with("passed") {
            self.passed += count;
        } else if ["failed", "timed out", "exec failed"].iter().any(|outcome| what.starts_with(outcome)) {
            self.failed += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(lines: &[&str]) -> Tally {
        let mut tally = Tally::default();
        for line in lines {
            tally.see(line);
        }
        tally
    }

    #[test]
    fn the_closing_lines_of_cargo_test_are_summed() {
        let seen = tally(&[
            "running 3 tests",
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.00s",
            "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
        ]);
        assert_eq!(seen, Tally { passed: 4, failed: 2, closing_lines: 2 });
    }

    #[test]
    fn the_closing_lines_of_node_are_read() {
        let seen = tally(&["ℹ tests 9", "ℹ pass 7", "ℹ fail 2", "ℹ skipped 0"]);
        assert_eq!(seen, Tally { passed: 7, failed: 2, closing_lines: 1 });
    }

    #[test]
    fn the_closing_line_of_pytest_is_read() {
        let seen = tally(&[
            "1 failed, 12 passed, 3 skipped in 4.20s",
            "=== 5 passed in 61.02s (0:01:01) ===",
            "2 passed in a row",
            "no tests ran in 0.01s",
        ]);
        assert_eq!(seen, Tally { passed: 17, failed: 1, closing_lines: 2 });
    }

    #[test]
    fn the_closing_line_of_nextest_is_read() {
        let seen =
            tally(&["     Summary [   0.012s] 9 tests run: 6 passed (1 slow), 2 failed, 1 timed out, 4 skipped"]);
        assert_eq!(seen, Tally { passed: 6, failed: 3, closing_lines: 1 });
    }
}

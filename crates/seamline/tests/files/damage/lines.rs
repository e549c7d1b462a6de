//! Damage to files with one record per line.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Damage, Damaged, Numbers, collect, documents};

#[expect(clippy::too_many_lines, reason = "a flat table of kinds of damage")]
pub(super) fn damage(file: &str, kind: Damage, numbers: &mut Numbers) -> Option<Damaged> {
    let mut lines: Vec<Vec<u8>> = file.lines().map(|line| line.as_bytes().to_vec()).collect();
    let has = |line: &[u8], words: &[&str]| {
        let text = String::from_utf8_lossy(line);
        words.iter().any(|word| text.contains(word))
    };
    let results = [
        "tool_result",
        "toolResult",
        "_output\"",
        "functionResponse",
        "toolResponse",
        "execution_complete",
        "tool.result",
        "\"role\":\"tool\"",
    ];
    let calls =
        ["\"tool_use\"", "toolCall\"", "function_call\"", "functionCall", "toolRequest", "tool.call", "tool_calls"];
    let places = |lines: &[Vec<u8>], words: &[&str], others: &[&str]| -> Vec<usize> {
        (1..lines.len()).filter(|at| has(&lines[*at], words) && !has(&lines[*at], others)).collect()
    };
    // The first line may be the header, without which no program reads the file.
    let at = 1 + numbers.below(lines.len().saturating_sub(1));
    let at = at.min(lines.len() - 1);
    let cut = |line: &[u8], numbers: &mut Numbers| {
        let mut end = 1 + numbers.below(line.len().saturating_sub(1));
        while !String::from_utf8_lossy(line).is_char_boundary(end.min(line.len())) {
            end -= 1;
        }
        line[..end].to_vec()
    };
    let mut end_cut = false;
    match kind {
        Damage::Drop | Damage::LoseParent => {
            lines.remove(at);
        }
        Damage::Duplicate => lines.insert(at, lines[at].clone()),
        Damage::Reorder => {
            let other = (at + 1).min(lines.len() - 1);
            lines.swap(at, other);
        }
        Damage::Tear => {
            lines.truncate(at + 1);
            lines[at] = cut(&lines[at].clone(), numbers);
            end_cut = true;
        }
        Damage::Glue => {
            if at + 1 < lines.len() {
                let next = lines.remove(at + 1);
                lines[at].extend(next);
            }
        }
        Damage::Splice => {
            let mut line = cut(&lines[at].clone(), numbers);
            if at + 1 < lines.len() {
                line.extend(lines.remove(at + 1));
            }
            lines[at] = line;
        }
        Damage::Nul => {
            let run = vec![0; 1 + numbers.below(700)];
            lines[at] = [run, lines[at].clone()].concat();
        }
        Damage::Interleave => {
            let from = at;
            let tail: Vec<Vec<u8>> = lines[from..(from + 3).min(lines.len())].to_vec();
            let into = from + numbers.below(lines.len() - from);
            for (offset, line) in tail.into_iter().enumerate() {
                lines.insert((into + 2 * offset).min(lines.len()), line);
            }
        }
        Damage::LoseResult => {
            let found = places(&lines, &results, &[]);
            let at = *found.get(numbers.below(found.len()))?;
            match documents::without_result(&String::from_utf8_lossy(&lines[at])) {
                Some(record) => lines[at] = record.into_bytes(),
                None => drop(lines.remove(at)),
            }
        }
        Damage::LoseCall => {
            let found = places(&lines, &calls, &results);
            lines.remove(*found.get(numbers.below(found.len()))?);
        }
    }
    let mut bytes = lines.join(&b'\n');
    if !end_cut {
        bytes.push(b'\n');
    }
    Some(Damaged { words: words(&bytes), bytes })
}

/// The texts in the complete records of a file, by a reading that shares no code with the one under test.
pub(super) fn words(file: &[u8]) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let text = String::from_utf8_lossy(file);
    for line in text.lines() {
        let mut rest = line.trim_matches(|found: char| found == '\0' || found.is_whitespace());
        while let Some(start) = rest.find('{') {
            let mut values = serde_json::Deserializer::from_str(&rest[start..]).into_iter::<Value>();
            match values.next() {
                Some(Ok(value)) if start == 0 => {
                    collect(&value, &mut words);
                    rest = rest[values.byte_offset()..].trim_start_matches('\0');
                }
                // Only whole records from the start of a line count: an object inside a fragment is not a record.
                _ => break,
            }
        }
    }
    words
}

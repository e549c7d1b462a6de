//! Members of an object, in order of arrival; the last value of each name counts.

use std::collections::HashMap;

/// Names with their JSON values.
#[derive(Debug, Default)]
pub(crate) struct Members {
    list: Vec<(String, String)>,
    /// The positions of members after the first [`SCAN_MAX`]. A stream may send any number, so finding a name must not
    /// scan all of them.
    places: HashMap<String, usize>,
}

/// The number of members that are found by scanning, which is faster for few: some streams repeat them in every frame.
const SCAN_MAX: usize = 16;

impl Members {
    pub(crate) fn set(&mut self, name: &str, json: &str) {
        json.clone_into(self.value(name));
    }

    /// Adds an element to a list member; creates the list if needed.
    pub(crate) fn append(&mut self, name: &str, json: &str) {
        let list = self.value(name);
        if list.ends_with(']') {
            list.pop();
            if !list.trim_end().ends_with('[') {
                list.push(',');
            }
        } else {
            list.clear();
            list.push('[');
        }
        list.push_str(json);
        list.push(']');
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.place(name).is_some()
    }

    pub(crate) fn into_list(self) -> Vec<(String, String)> {
        self.list
    }

    fn place(&self, name: &str) -> Option<usize> {
        let first = self.list.iter().take(SCAN_MAX).position(|(known, _)| known == name);
        first.or_else(|| self.places.get(name).copied())
    }

    fn value(&mut self, name: &str) -> &mut String {
        let place = self.place(name).unwrap_or_else(|| self.add(name));
        &mut self.list[place].1
    }

    fn add(&mut self, name: &str) -> usize {
        let place = self.list.len();
        self.list.push((name.to_owned(), String::new()));
        if place >= SCAN_MAX {
            self.places.insert(name.to_owned(), place);
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_a_name_counts_and_lists_grow() {
        let mut members = Members::default();
        for (name, json) in [("a", "1"), ("b", "2"), ("a", "3")] {
            members.set(name, json);
        }
        for json in ["4", "5"] {
            members.append("c", json);
        }
        members.set("d", "[ ]");
        members.append("d", "6");
        let said: Vec<_> = members.into_list().into_iter().map(|(name, json)| name + &json).collect();
        assert_eq!(said, ["a3", "b2", "c[4,5]", "d[ 6]"]);
    }

    #[test]
    fn many_names_are_found() {
        let mut members = Members::default();
        for json in ["1", "2"] {
            (0..3 * SCAN_MAX).for_each(|at| members.set(&at.to_string(), json));
        }
        assert!(members.has("0") && members.has("40") && !members.has("48"));
        let said = members.into_list();
        assert!(said.len() == 3 * SCAN_MAX && said.iter().all(|(_, json)| json == "2"));
    }
}

//! Members of an object, in the order they came, the last of each name counting.

use std::collections::HashMap;

/// Names and values as JSON. A name is found without going through the others: a stream says
/// how many there are.
#[derive(Debug, Default)]
pub(crate) struct Members {
    list: Vec<(String, String)>,
    places: HashMap<String, usize>,
}

impl Members {
    pub(crate) fn set(&mut self, name: &str, json: &str) {
        json.clone_into(self.value(name));
    }

    /// Adds an element to a member that is a list, which it becomes.
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
        self.places.contains_key(name)
    }

    pub(crate) fn into_list(self) -> Vec<(String, String)> {
        self.list
    }

    fn value(&mut self, name: &str) -> &mut String {
        let place = *self.places.entry(name.to_owned()).or_insert_with(|| {
            self.list.push((name.to_owned(), String::new()));
            self.list.len() - 1
        });
        &mut self.list[place].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_name_the_last_counts_and_lists_grow() {
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
}

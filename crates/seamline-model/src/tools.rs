//! The tools that a conversation names.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;

use crate::label;

/// A tool, by its index in [`Tools`]: two calls name the same tool if these are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tool(NonZeroU32);

/// The names of the tools that a conversation calls, each stored once.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    names: Vec<String>,
    places: HashMap<String, Tool>,
    /// The names that texts of Seamline give to tools, where they differ.
    labels: HashSet<String>,
    /// The tool added last: calls of one tool often follow each other.
    last: Option<Tool>,
}

impl Tools {
    /// The tool with this name; adds it if it is new.
    pub fn add(&mut self, name: &str) -> Tool {
        if let Some(last) = self.last.filter(|&last| self.name(last) == name) {
            return last;
        }
        let tool = self.places.get(name).copied().unwrap_or_else(|| self.add_new(name));
        self.last = Some(tool);
        tool
    }

    fn add_new(&mut self, name: &str) -> Tool {
        self.names.push(name.to_owned());
        let label = label(name);
        if label != name {
            self.labels.insert(label);
        }
        // A text has fewer names than bytes, and bytes are counted in 32 bits.
        let tool = Tool(NonZeroU32::new(self.names.len() as u32).unwrap_or(NonZeroU32::MAX));
        self.places.insert(name.to_owned(), tool);
        tool
    }

    /// Whether some tool has this name, or is called so in the texts that Seamline writes.
    pub fn has_labelled(&self, name: &str) -> bool {
        self.places.contains_key(name) || self.labels.contains(name)
    }

    /// The name of a tool.
    pub fn name(&self, tool: Tool) -> &str {
        self.names.get(tool.0.get() as usize - 1).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_stored_once() {
        let mut tools = Tools::default();
        let [read, write, again] = ["read", "write", "read"].map(|name| tools.add(name));
        assert_eq!((read, tools.name(read), tools.name(write)), (again, "read", "write"));
        assert_ne!(read, write);
    }
}

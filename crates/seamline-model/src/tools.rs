//! The tools a conversation names.

use std::collections::HashMap;
use std::num::NonZeroU32;

/// A tool by its place in [`Tools`]: two calls name the same tool when these are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tool(NonZeroU32);

/// The names of the tools a conversation calls, each kept once.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    names: Vec<String>,
    places: HashMap<String, Tool>,
    /// The one that came last: calls of one tool come in runs.
    last: Option<Tool>,
}

impl Tools {
    /// The tool with this name.
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
        // A text has fewer names than bytes, and those are counted in 32 bits.
        let tool = Tool(NonZeroU32::new(self.names.len() as u32).unwrap_or(NonZeroU32::MAX));
        self.places.insert(name.to_owned(), tool);
        tool
    }

    /// What a tool is called.
    pub fn name(&self, tool: Tool) -> &str {
        self.names.get(tool.0.get() as usize - 1).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once() {
        let mut tools = Tools::default();
        let [read, write, again] = ["read", "write", "read"].map(|name| tools.add(name));
        assert_eq!((read, tools.name(read), tools.name(write)), (again, "read", "write"));
        assert_ne!(read, write);
    }
}

//! Assembles arguments of a call that come value by value, each with its path.

use std::collections::{HashMap, HashSet};

use crate::frames::is_told;
use crate::json::{Kind, Object, Value, quoted};

/// The number of bytes of arguments that are kept, and the overhead of a value.
const BYTES_MAX: usize = 64 * 1024 * 1024;
const NODE_BYTES: usize = 256;

/// The largest nesting depth of arguments.
const DEPTH_MAX: usize = 64;

/// Arguments while they come. The first node is the object around them.
#[derive(Debug)]
pub(super) struct Partial {
    nodes: Vec<Node>,
    /// The node of each member and element.
    children: HashMap<(usize, Step), usize>,
    /// The paths of strings whose last piece announced more.
    open: HashSet<String>,
    bytes: usize,
    /// Whether a value could not be placed, so that the arguments are never complete.
    is_spoiled: bool,
}

#[derive(Debug)]
enum Node {
    /// A node without a value yet.
    Empty,
    Object(Vec<(String, usize)>),
    List(Vec<usize>),
    /// A string, which comes in pieces.
    Text(String),
    /// Any other value.
    Json(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Step {
    Key(String),
    Index(usize),
}

impl Partial {
    pub(super) fn new() -> Self {
        Self {
            nodes: vec![Node::Object(Vec::new())],
            children: HashMap::new(),
            open: HashSet::new(),
            bytes: 0,
            is_spoiled: false,
        }
    }

    pub(super) fn is_spoiled(&self) -> bool {
        self.is_spoiled
    }

    /// Whether a string was announced to continue and did not.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether no value came.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// Takes the values of one frame.
    pub(super) fn take(&mut self, list: Value<'_, '_>) {
        self.is_spoiled |= is_told(list) && !list.is(Kind::Array);
        for element in list.elements() {
            let taken = element.object().and_then(|value| self.take_value(value));
            self.is_spoiled |= taken.is_none();
        }
    }

    /// The arguments as JSON.
    pub(super) fn written(&self) -> String {
        let mut out = String::new();
        // The next thing to write: a node, or the text between two.
        let mut left = vec![Ok(0)];
        while let Some(next) = left.pop() {
            match next.map(|node: usize| &self.nodes[node]) {
                Err(text) => out.push_str(text),
                Ok(Node::Empty) => out.push_str("null"),
                Ok(Node::Json(json)) => out.push_str(json),
                Ok(Node::Text(text)) => out.push_str(&quoted(text)),
                Ok(Node::Object(members)) => {
                    out.push('{');
                    left.push(Err("}"));
                    for (at, (name, node)) in members.iter().enumerate().rev() {
                        left.extend([Ok(*node), Err(":"), Err(name.as_str()), Err(if at > 0 { "," } else { "" })]);
                    }
                }
                Ok(Node::List(elements)) => {
                    out.push('[');
                    left.push(Err("]"));
                    for (at, node) in elements.iter().enumerate().rev() {
                        left.extend([Ok(*node), Err(if at > 0 { "," } else { "" })]);
                    }
                }
            }
        }
        out
    }

    /// Writes arguments that were not completed. The text is not JSON, so that no reader takes it for complete.
    pub(super) fn unfinished(&self) -> String {
        let mut written = self.written();
        written.truncate(written.trim_end_matches(['}', ']']).len());
        written
    }

    /// Takes one value with its path. Returns nothing when it has no place.
    fn take_value(&mut self, value: Object<'_, '_>) -> Option<()> {
        let path = value.get("jsonPath")?.str()?;
        let said = ["stringValue", "numberValue", "boolValue", "nullValue"].iter().find_map(|key| {
            let value = value.get(key)?;
            (!value.is(Kind::Null) || *key == "nullValue").then_some((*key, value))
        });
        self.bytes += path.len() + said.map_or(0, |(_, said)| said.raw().len());
        if self.bytes > BYTES_MAX || self.is_spoiled {
            return None;
        }
        if value.get("willContinue").is_some_and(|value| value.is(Kind::True)) {
            self.open.insert(path.to_string());
        } else {
            self.open.remove(&*path);
        }
        // A path without a value says that it goes on, or that it does not.
        let Some((kind, said)) = said else { return Some(()) };
        let node = self.node(&path)?;
        let slot = &mut self.nodes[node];
        match (kind, slot) {
            ("stringValue", Node::Text(text)) => text.push_str(&said.str()?),
            ("stringValue", slot @ Node::Empty) => *slot = Node::Text(said.str()?.into_owned()),
            ("nullValue", slot @ Node::Empty) => *slot = Node::Json("null".to_owned()),
            (_, slot @ Node::Empty) if kind != "stringValue" => *slot = Node::Json(said.raw().to_owned()),
            (_, Node::Json(json)) if json == said.raw() => {}
            _ => return None,
        }
        Some(())
    }

    /// Finds or makes the node at a path.
    fn node(&mut self, path: &str) -> Option<usize> {
        let steps = steps(path)?;
        let mut at = 0;
        for step in steps {
            let child = (at, step);
            at = match self.children.get(&child) {
                Some(&node) => node,
                None => self.new_node(child)?,
            };
        }
        (at > 0).then_some(at)
    }

    /// A new member or element of a node. Elements come in their order.
    fn new_node(&mut self, (parent, step): (usize, Step)) -> Option<usize> {
        self.bytes += NODE_BYTES;
        if self.bytes > BYTES_MAX {
            return None;
        }
        let new = self.nodes.len();
        let slot = &mut self.nodes[parent];
        if matches!(slot, Node::Empty) {
            *slot = match step {
                Step::Key(_) => Node::Object(Vec::new()),
                Step::Index(_) => Node::List(Vec::new()),
            };
        }
        match (slot, &step) {
            (Node::Object(members), Step::Key(name)) => members.push((quoted(name), new)),
            (Node::List(elements), Step::Index(index)) if *index == elements.len() => elements.push(new),
            _ => return None,
        }
        self.nodes.push(Node::Empty);
        self.children.insert((parent, step), new);
        Some(new)
    }
}

/// The steps of a path such as `$.files[0]['a name']`.
fn steps(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let step;
        (step, rest) = if let Some(dotted) = rest.strip_prefix('.') {
            let end = dotted.find(['.', '[']).unwrap_or(dotted.len());
            (Step::Key(dotted[..end].to_owned()), &dotted[end..])
        } else {
            bracketed(rest.strip_prefix('[')?)?
        };
        if steps.len() == DEPTH_MAX || step == Step::Key(String::new()) {
            return None;
        }
        steps.push(step);
    }
    Some(steps)
}

/// A step between brackets, and what follows it.
fn bracketed(rest: &str) -> Option<(Step, &str)> {
    let Some(quote) = rest.chars().next().filter(|char| matches!(char, '\'' | '"')) else {
        let (index, rest) = rest.split_once(']')?;
        return Some((Step::Index(index.parse().ok()?), rest));
    };
    let mut name = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => name.push(chars.next()?.1),
            char if char == quote => return Some((Step::Key(name), rest[at + 1..].strip_prefix(']')?)),
            char => name.push(char),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn partial(lists: &[&str]) -> Partial {
        let mut partial = Partial::new();
        for list in lists {
            partial.take(Document::read(list).unwrap().root());
        }
        partial
    }

    #[test]
    fn values_stand_where_their_paths_say() {
        let partial = partial(&[
            r#"[{"jsonPath":"$.files[0].name","stringValue":"a \"","willContinue":true}]"#,
            r#"[{"jsonPath":"$.files[0].name","stringValue":"b\""},{"jsonPath":"$.files[0].size","numberValue":1.50}]"#,
            r#"[{"jsonPath":"$.files[1]['last name']","nullValue":"NULL_VALUE"}]"#,
            r#"[{"jsonPath":"$['it\\'s']","boolValue":false},{"jsonPath":"$.grid[0][0]","numberValue":7}]"#,
        ]);
        let written = r#"{"files":[{"name":"a \"b\"","size":1.50},{"last name":null}],"it's":false,"grid":[[7]]}"#;
        assert_eq!((partial.written().as_str(), partial.is_spoiled()), (written, false));
        assert_eq!(partial.unfinished(), written.trim_end_matches(['}', ']']));
    }

    #[test]
    fn a_string_is_whole_once_a_piece_says_so() {
        let first = r#"[{"jsonPath":"$.a","stringValue":"x","willContinue":true}]"#;
        for (last, is_open) in [
            ("[]", true),
            (r#"[{"jsonPath":"$.a","stringValue":"y","willContinue":true}]"#, true),
            (r#"[{"jsonPath":"$.b","stringValue":"y"}]"#, true),
            (r#"[{"jsonPath":"$.a","stringValue":"y","willContinue":false}]"#, false),
            (r#"[{"jsonPath":"$.a","stringValue":""}]"#, false),
            (r#"[{"jsonPath":"$.a"}]"#, false),
        ] {
            assert_eq!(partial(&[first, last]).is_open(), is_open, "{last}");
        }
    }

    #[test]
    fn values_that_are_few_bytes_and_many_are_not_kept() {
        let mut partial = Partial::new();
        let deep = ".a".repeat(DEPTH_MAX - 1);
        for at in 0..=(BYTES_MAX / NODE_BYTES / DEPTH_MAX) {
            let list = format!(r#"[{{"jsonPath":"$.b{at}{deep}","numberValue":1}}]"#);
            partial.take(Document::read(&list).unwrap().root());
        }
        assert!(partial.is_spoiled());
        assert!(partial.nodes.len() <= BYTES_MAX / NODE_BYTES + 1);
    }

    #[test]
    fn a_value_without_a_place_spoils_the_call() {
        for list in [
            r#"[{"jsonPath":"$.a[1]","numberValue":1}]"#,
            r#"[{"jsonPath":"$.a","numberValue":1},{"jsonPath":"$.a.b","numberValue":1}]"#,
            r#"[{"jsonPath":"$.a","numberValue":1},{"jsonPath":"$.a","numberValue":2}]"#,
            r#"[{"jsonPath":"$.a","numberValue":1},{"jsonPath":"$.a","stringValue":"1"}]"#,
            r#"[{"jsonPath":"$.a.b","numberValue":1},{"jsonPath":"$.a","stringValue":"1"}]"#,
            r#"[{"jsonPath":"$","numberValue":1}]"#,
            r#"[{"jsonPath":"$[0]","numberValue":1}]"#,
            r#"[{"jsonPath":"$.","numberValue":1}]"#,
            r#"[{"jsonPath":"$['a","numberValue":1}]"#,
            r#"[{"jsonPath":"$.a[-1]","numberValue":1}]"#,
            r#"[{"jsonPath":"a","numberValue":1}]"#,
            r#"[{"jsonPath":7,"numberValue":1}]"#,
            r#"[{"numberValue":1}]"#,
            "[1]",
        ] {
            assert!(partial(&[list]).is_spoiled(), "{list}");
        }
        assert_eq!(partial(&[]).unfinished(), "{");
    }
}

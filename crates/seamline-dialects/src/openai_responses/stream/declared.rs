//! The tools that a response declares, and the calls that the provider answers itself.

use std::borrow::Cow;
use std::collections::HashSet;

use super::items::Undeclared;
use crate::frames::words_of;
use crate::json::{Kind, Object, Value};

/// The tools that a response declares.
#[derive(Debug, Default)]
pub(super) struct Declared {
    /// The names of the tools that the client runs. None if not all of them are known, or if the provider runs no tool.
    names: Option<HashSet<String>>,
}

impl Declared {
    /// Reads the tools of a response, once.
    pub(super) fn read(&mut self, response: Object<'_, '_>) {
        let Some(tools) = response.get("tools").filter(|tools| tools.is(Kind::Array) && self.names.is_none()) else {
            return;
        };
        let mut names = HashSet::new();
        let mut is_hosted = false;
        for tool in tools.elements().filter_map(Value::object) {
            match words_of(tool, "type").as_deref() {
                Some("function" | "custom") => names.extend(name_of(tool)),
                Some("namespace") => {
                    let nested = tool.get("tools").into_iter().flat_map(Value::elements);
                    names.extend(nested.filter_map(Value::object).filter_map(name_of));
                }
                // The names of their tools are not in the list.
                Some("tool_search" | "mcp") | None => return,
                Some(_) => is_hosted = true,
            }
        }
        self.names = Some(names).filter(|_| is_hosted);
    }

    /// Whether a call names a tool that is not declared, so that it may be part of a tool that the provider runs.
    pub(super) fn lacks(&self, call: Object<'_, '_>) -> Undeclared {
        let is_unknown = |names: &HashSet<String>| name_of(call).is_some_and(|name| !names.contains(&name));
        match words_of(call, "type").as_deref() {
            _ if call.get("namespace").is_some() || !self.names.as_ref().is_some_and(is_unknown) => Undeclared::No,
            Some("custom_tool_call") => Undeclared::Custom,
            _ => Undeclared::Function,
        }
    }
}

fn name_of(tool: Object<'_, '_>) -> Option<String> {
    words_of(tool, "name").map(Cow::into_owned)
}

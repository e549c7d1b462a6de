//! Renames ids and tool names for the target, in calls and results alike.

use std::collections::{HashMap, HashSet, VecDeque};

use seamline_model::conversation::{Conversation, Fate, Lost, Says, Speaker, ToolChoice};
use seamline_model::{IdMap, NameDemand};

use super::{Renamed, Room, Target};

/// The renaming of a conversation.
pub(super) struct Renaming {
    map: IdMap,
    unique_ids: bool,
    name: NameDemand,
    pub(super) ids: Vec<Renamed>,
    pub(super) tools: Vec<Renamed>,
}

impl Renaming {
    pub(super) fn of(conversation: &Conversation, target: &Target<'_>, room: &Room) -> Self {
        Self {
            map: IdMap::of(target.call_id, conversation.calls().map(|call| call.id.as_str())),
            unique_ids: room.unique_ids,
            name: target.tool_name,
            ids: Vec::new(),
            tools: Vec::new(),
        }
    }

    /// Renames in a settled conversation, where the results of a message with calls are in the next one.
    pub(super) fn apply(&mut self, conversation: &mut Conversation) {
        for tool in &mut conversation.settings.tools {
            tool.name = self.tool(&tool.name);
        }
        if let Some(ToolChoice::Tool(name)) = &mut conversation.settings.tool_choice {
            *name = self.tool(name);
        }
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut cycle = Cycle::default();
        let mut left = Vec::new();
        for message in &mut conversation.messages {
            if message.speaker == Speaker::Assistant {
                cycle = Cycle::default();
            }
            for block in &mut message.blocks {
                match &mut block.says {
                    Says::Call(call) => {
                        let was = std::mem::take(&mut call.name);
                        call.name = self.tool(&was);
                        let id = self.id(&call.id, &mut seen, &cycle);
                        let asked = Asked { id: id.clone(), name: call.name.clone(), was };
                        cycle.open.entry(call.id.clone()).or_default().push_back(asked);
                        cycle.ids.insert(call.id.clone());
                        call.id = id;
                    }
                    Says::Result(result) => {
                        let call = cycle.open.get_mut(&result.id).and_then(VecDeque::pop_front);
                        if let Some(Asked { id, name, was }) = call {
                            if result.name.as_ref().is_some_and(|name| *name != was && !name.is_empty()) {
                                left.push(misnamed(&block.pointer));
                            }
                            (result.id, result.name) = (id, Some(name));
                        }
                    }
                    _ => {}
                }
            }
        }
        conversation.left.extend(left);
        dedup(&mut self.ids);
        dedup(&mut self.tools);
    }

    /// Finds the new id for the next call with this id.
    fn id(&mut self, id: &str, seen: &mut HashMap<String, usize>, cycle: &Cycle) -> String {
        let count = seen.entry(id.to_owned()).or_default();
        let is_repeated = cycle.ids.contains(id) || (self.unique_ids && *count > 0);
        let made = if is_repeated { self.map.again(id, *count) } else { self.map.get(id).unwrap_or(id).to_owned() };
        *count += 1;
        if made != id {
            self.ids.push(Renamed { from: id.to_owned(), to: made.clone() });
        }
        made
    }

    fn tool(&mut self, name: &str) -> String {
        let made = self.name.made(name);
        if made != name {
            self.tools.push(Renamed { from: name.to_owned(), to: made.clone() });
        }
        made
    }
}

/// The calls of one message: their old ids, and the names for their results.
#[derive(Default)]
struct Cycle {
    ids: HashSet<String>,
    open: HashMap<String, VecDeque<Asked>>,
}

/// A call as its result will name it, with the old name of its tool.
struct Asked {
    id: String,
    name: String,
    was: String,
}

/// Notes a result that names another tool than its call.
fn misnamed(pointer: &str) -> Lost {
    let note = "the call names another tool, and counts".to_owned();
    Lost { what: "tool's name in a result".to_owned(), pointer: pointer.to_owned(), fate: Fate::Dropped, note }
}

/// Keeps each pair once, in the order they came.
fn dedup(renamed: &mut Vec<Renamed>) {
    let mut seen = HashSet::new();
    renamed.retain(|pair| seen.insert((pair.from.clone(), pair.to.clone())));
}

//! The settings of a request beside its messages that rules look at.

use seamline_model::{Declared, DeclaredTool, RequestFacts, Span, Thinking};

use crate::json::{Kind, Value};
use crate::members::{cut_of, is_hollow};

/// Reads the settings of a body. A bare list of messages has none.
pub(crate) fn request(body: Value<'_, '_>) -> RequestFacts {
    let mut request = RequestFacts::default();
    for (key, member) in body.members() {
        match &*key.name() {
            "tools" if member.is(Kind::Array) => {
                request.cache_marks += cache_marks(member);
                let (cut, is_hollow) = (cut_of(body, key), is_hollow(member));
                request.tools = Some(Declared { cut, tools: declared(member), is_hollow });
            }
            "toolConfig" if !member.is(Kind::Null) => {
                let list = member.object().and_then(|config| config.get("tools"));
                let tools = list.map(declared).unwrap_or_default();
                let is_hollow = is_hollow(member) || is_only_list(member) && list.is_some_and(is_hollow);
                request.tools = Some(Declared { cut: cut_of(body, key), tools, is_hollow });
            }
            "tool_choice" => request.forced_tool = forced_tool(member),
            "thinking" => request.thinking = thinking(member),
            "container" => request.container = !is_hollow(member),
            "system" => request.cache_marks += cache_marks(member),
            _ => {}
        }
    }
    request
}

/// Whether an object holds one member and nothing else.
fn is_only_list(config: Value<'_, '_>) -> bool {
    let mut members = config.members();
    members.next().is_some() && members.next().is_none()
}

/// Reads the tools of a list, or of the lists in it that declare several each.
fn declared(list: Value<'_, '_>) -> Vec<DeclaredTool> {
    if list.elements().any(|element| declarations(element).is_some()) {
        return list.elements().flat_map(|element| declarations(element).map(listed).unwrap_or_default()).collect();
    }
    listed(list)
}

/// Finds the list of tools in an element that declares several.
fn declarations<'d, 'a>(element: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
    let members = element.object()?;
    members.get("functionDeclarations").or_else(|| members.get("function_declarations"))
}

fn listed(list: Value<'_, '_>) -> Vec<DeclaredTool> {
    let mut tools: Vec<DeclaredTool> = Vec::new();
    for element in list.elements() {
        let span = element.span();
        let cut = match tools.last_mut() {
            Some(before) => {
                // The first tool has no text before it, so its cut includes the text after it.
                if before.cut.start == before.span.start {
                    before.cut.end = span.start;
                }
                Span { start: before.span.end, end: span.end }
            }
            None => span,
        };
        let cache_mark = element.object().is_some_and(|element| element.get("cachePoint").is_some());
        tools.push(DeclaredTool { name: tool_name(element), cache_mark, span, cut });
    }
    tools
}

/// Finds the name of a declared tool: beside its type, or inside a member that holds the whole definition.
fn tool_name(tool: Value<'_, '_>) -> Option<Box<str>> {
    let members = tool.object()?;
    let holder = ["function", "custom", "toolSpec"].into_iter().find_map(|key| members.get(key)?.object());
    let name = holder.unwrap_or(members).get("name")?.str()?;
    Some(name.into())
}

fn forced_tool(choice: Value<'_, '_>) -> Option<Box<str>> {
    let kind = choice.object()?.get("type")?;
    if kind.says("tool") || kind.says("function") { tool_name(choice) } else { None }
}

fn thinking(setting: Value<'_, '_>) -> Thinking {
    let kind = setting.object().and_then(|setting| setting.get("type")).and_then(Value::str);
    match kind.as_deref() {
        Some("enabled") => Thinking::On(setting.span()),
        Some("adaptive") => Thinking::Adaptive,
        Some("disabled") => Thinking::Off,
        _ => Thinking::Unsaid,
    }
}

/// Counts the elements of a list that mark the prompt for the cache.
fn cache_marks(list: Value<'_, '_>) -> u32 {
    let is_marked = |element: Value<'_, '_>| {
        element.object().and_then(|element| element.get("cache_control")).is_some_and(|mark| !mark.is(Kind::Null))
    };
    list.elements().map(|element| u32::from(is_marked(element))).sum()
}

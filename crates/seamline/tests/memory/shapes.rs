//! Hostile bodies: small units, repeated until the body has its size.

/// A hostile body: a unit between a head and a tail. `%` in the unit is the number of the repetition.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) dialect: &'static str,
    head: String,
    unit: &'static str,
    tail: String,
}

/// The separator of units: elements of a list and members of an object are separated by commas, pieces of a string by
/// nothing.
const PIECES_OF_STRINGS: [&str; 5] = [r"\ud800", r"\u0000", "[", r#"{\"a\":"#, r"1,"];

impl Shape {
    /// The name of the shape.
    pub(crate) fn name(&self) -> String {
        format!("{} {}…{}…{}", self.dialect, self.head, self.unit, self.tail)
    }

    /// The body with about this many bytes.
    pub(crate) fn body(&self, bytes: usize) -> String {
        let mut body = String::with_capacity(bytes + 1024);
        body.push_str(&self.head);
        let separator = if PIECES_OF_STRINGS.contains(&self.unit) { "" } else { "," };
        let mut count = 0_u32;
        while body.len() + self.unit.len() + self.tail.len() < bytes {
            if count > 0 {
                body.push_str(separator);
            }
            match self.unit.split_once('%') {
                Some((front, back)) => {
                    body.push_str(front);
                    body.push_str(&count.to_string());
                    body.push_str(&back.replace('%', &count.to_string()));
                }
                None => body.push_str(self.unit),
            }
            count += 1;
        }
        body.push_str(&self.tail);
        body
    }
}

/// A dialect: its name, the list of messages, the roles, the member with the content, the text of an ordinary message,
/// and units that only it has, for the content of a message.
struct Grammar {
    dialect: &'static str,
    list: &'static str,
    content: &'static str,
    assistant: &'static str,
    user: &'static str,
    messages: &'static [&'static str],
    blocks: &'static [&'static str],
}

const GRAMMARS: [Grammar; 6] = [
    Grammar {
        dialect: "openai_chat",
        list: "messages",
        content: "content",
        assistant: "assistant",
        user: r#"{"role":"user","content":"hi"}"#,
        messages: &[
            r#"{"role":"tool"}"#,
            r#"{"role":"tool","tool_call_id":"a"}"#,
            r#"{"role":"tool","tool_call_id":"%","content":""}"#,
            r#"{"role":"assistant","tool_calls":[{}]}"#,
            r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"n","arguments":"{}"}}]}"#,
            r#"{"role":"assistant","tool_calls":""}"#,
        ],
        blocks: &[
            r#"{"type":"text"}"#,
            r#"{"type":"text","text":""}"#,
            r#"{"type":"refusal"}"#,
            r#"{"type":"image_url"}"#,
        ],
    },
    Grammar {
        dialect: "openai_responses",
        list: "input",
        content: "content",
        assistant: "assistant",
        user: r#"{"role":"user","content":"hi"}"#,
        messages: &[
            r#"{"type":"function_call"}"#,
            r#"{"type":"function_call_output"}"#,
            r#"{"type":"function_call","call_id":"a","name":"n","arguments":""}"#,
            r#"{"type":"function_call_output","call_id":"%","output":""}"#,
            r#"{"type":"reasoning"}"#,
            r#"{"type":"reasoning","id":"rs","summary":[]}"#,
            r#"{"type":"x"}"#,
        ],
        blocks: &[r#"{"type":"input_text"}"#, r#"{"type":"output_text","text":""}"#],
    },
    Grammar {
        dialect: "anthropic_messages",
        list: "messages",
        content: "content",
        assistant: "assistant",
        user: r#"{"role":"user","content":"hi"}"#,
        messages: &[r#"{"role":"user","content":""}"#, r#"{"role":"assistant","content":[{"type":"tool_use"}]}"#],
        blocks: &[
            r#"{"type":"tool_use"}"#,
            r#"{"type":"tool_result"}"#,
            r#"{"type":"tool_use","id":"a","name":"n","input":{}}"#,
            r#"{"type":"tool_use","id":"%","name":"n","input":{}}"#,
            r#"{"type":"tool_result","tool_use_id":"a"}"#,
            r#"{"type":"tool_result","tool_use_id":"%","content":"x"}"#,
            r#"{"type":"tool_result","tool_use_id":"a","content":[1,{}]}"#,
            r#"{"type":"text"}"#,
            r#"{"type":"text","text":""}"#,
            r#"{"type":"thinking"}"#,
            r#"{"type":"server_tool_use"}"#,
            r#"{"type":"server_tool_use","id":"%","name":"n","input":{}}"#,
            r#"{"type":"web_search_tool_result"}"#,
            r#"{"type":"image"}"#,
        ],
    },
    Grammar {
        dialect: "gemini_generate",
        list: "contents",
        content: "parts",
        assistant: "model",
        user: r#"{"role":"user","parts":[{"text":"hi"}]}"#,
        messages: &[r#"{"role":"model","parts":[{"functionCall":{}}]}"#, r#"{"parts":[]}"#],
        blocks: &[
            r#"{"functionCall":{}}"#,
            r#"{"functionCall":{"name":"n"}}"#,
            r#"{"functionResponse":{}}"#,
            r#"{"functionResponse":{"name":"n%"}}"#,
            r#"{"text":""}"#,
            r#"{"text":"a"}"#,
            r#"{"thought":true}"#,
            r#"{"inlineData":{}}"#,
            r#"{"text":"","functionCall":{}}"#,
        ],
    },
    Grammar {
        dialect: "bedrock_converse",
        list: "messages",
        content: "content",
        assistant: "assistant",
        user: r#"{"role":"user","content":[{"text":"hi"}]}"#,
        messages: &[r#"{"role":"assistant","content":[{"toolUse":{}}]}"#],
        blocks: &[
            r#"{"toolUse":{}}"#,
            r#"{"toolResult":{}}"#,
            r#"{"toolUse":{"toolUseId":"a","name":"n","input":{}}}"#,
            r#"{"toolResult":{"toolUseId":"%","content":[]}}"#,
            r#"{"cachePoint":{}}"#,
            r#"{"text":""}"#,
            r#"{"reasoningContent":{}}"#,
        ],
    },
    Grammar {
        dialect: "gemini_interactions",
        list: "input",
        content: "content",
        assistant: "model",
        user: r#"{"type":"user_input","content":[{"type":"text","text":"hi"}]}"#,
        messages: &[
            r#"{"type":"function_call"}"#,
            r#"{"type":"function_call","id":"%","name":"n","arguments":{}}"#,
            r#"{"type":"function_result"}"#,
            r#"{"type":"function_result","call_id":"%","name":"n","result":"x"}"#,
            r#"{"type":"model_output","content":[{"type":"text","text":""}]}"#,
            r#"{"type":"thought"}"#,
            r#"{"type":"x","results":[{"call_id":"%"}]}"#,
        ],
        blocks: &[r#"{"type":"text"}"#, r#"{"type":"text","text":""}"#, r#"{"type":"image"}"#],
    },
];

/// Shapes that are conversations, so that they must be read and not refused: the dialects, and the units of their lists
/// of messages.
pub(crate) const READ: [(&str, &str); 6] = [
    ("openai_chat", r#"{"role":"user","content":"Look at file number % and say which of its lines are new."}"#),
    ("openai_responses", r#"{"role":"user","content":"Look at file number % and say which of its lines are new."}"#),
    ("anthropic_messages", r#"{"role":"user","content":"Look at file number % and say which of its lines are new."}"#),
    ("gemini_generate", r#"{"role":"user","parts":[{"text":"Look at file number % and say which lines are new."}]}"#),
    (
        "bedrock_converse",
        r#"{"role":"user","content":[{"text":"Look at file number % and say which lines are new."}]}"#,
    ),
    (
        "gemini_interactions",
        r#"{"type":"user_input","content":[{"type":"text","text":"Look at file number % and say what is new."}]}"#,
    ),
];

/// The shapes that must be read.
pub(crate) fn read() -> impl Iterator<Item = Shape> {
    READ.iter().map(|(dialect, unit)| {
        let list = GRAMMARS.iter().find(|grammar| grammar.dialect == *dialect).map_or("messages", |known| known.list);
        Shape { dialect, head: format!(r#"{{"{list}":["#), unit, tail: "]}".to_owned() }
    })
}

/// An ordinary conversation: calls with arguments, and results of some length.
pub(crate) fn ordinary() -> Shape {
    Shape {
        dialect: "openai_chat",
        head: r#"{"model":"gpt-5","messages":[{"role":"user","content":"go"},"#.to_owned(),
        unit: r#"{"role":"assistant","content":"I look at file %.","tool_calls":[{"id":"call_%","type":"function","function":{"name":"read","arguments":"{\"path\":\"/src/file_%.rs\",\"lines\":[1,200]}"}}]},{"role":"tool","tool_call_id":"call_%","content":"fn main() {\n    let names = load(\"names.txt\");\n    for name in names {\n        println!(\"{name}\");\n    }\n}\n// The file has seven lines, and the last of them is this comment.\n"}"#,
        tail: r#",{"role":"assistant","content":"done"},{"role":"user","content":"more"}]}"#.to_owned(),
    }
}

/// Elements of the list of messages, in every dialect.
const MESSAGES: [&str; 10] = [
    "1",
    "{}",
    "[]",
    r#""""#,
    "null",
    r#"{"role":"user"}"#,
    r#"{"role":"assistant"}"#,
    r#"{"role":"x"}"#,
    r#"{"role":1}"#,
    r#"{"role":"user","role":"user"}"#,
];

/// Elements of the content of a message, in every dialect.
const BLOCKS: [&str; 7] = ["1", "{}", "[]", r#""""#, "null", r#"{"type":"x"}"#, r#"{"a":1}"#];

/// Members of a message, in every dialect.
const MEMBERS: [&str; 5] = [r#""role":"user""#, r#""x":1"#, r#""x%":1"#, r#""tool_calls":[]"#, r#""a":null"#];

/// Elements of lists around the messages, and the lists.
const AROUND: [(&str, &str); 8] = [
    ("tools", "{}"),
    ("tools", "1"),
    ("tools", r#"{"name":"a"}"#),
    ("tools", r#"{"type":"function","function":{"name":"a"}}"#),
    ("system", "1"),
    ("system", r#"{"type":"text","text":""}"#),
    ("metadata", "1"),
    ("stop", r#""""#),
];

/// Pieces of the string that is a text.
const STRINGS: [&str; 3] = [r"\ud800", r"\u0000", "["];

/// Elements of the list of calls in chats.
const CALLS: [&str; 8] = [
    "{}",
    "1",
    r#""""#,
    r#"{"id":1}"#,
    r#"{"id":"a"}"#,
    r#"{"id":"%"}"#,
    r#"{"function":{}}"#,
    r#"{"id":"%","type":"function","function":{"name":"n","arguments":""}}"#,
];

/// All shapes.
pub(crate) fn all() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for grammar in &GRAMMARS {
        let Grammar { dialect, list, content, assistant, user, messages, blocks } = grammar;
        let mut add = |head: String, unit: &'static str, tail: String| shapes.push(Shape { dialect, head, unit, tail });
        for unit in MESSAGES.iter().chain(*messages) {
            add(format!(r#"{{"{list}":[{user},"#), unit, "]}".to_owned());
        }
        for role in ["user", assistant] {
            for unit in BLOCKS.iter().chain(*blocks) {
                add(format!(r#"{{"{list}":[{user},{{"role":"{role}","{content}":["#), unit, "]}]}".to_owned());
            }
        }
        for unit in MEMBERS {
            add(format!(r#"{{"{list}":[{user},{{"role":"user","#), unit, "}]}".to_owned());
            add("{".to_owned(), unit, format!(r#","{list}":[{user}]}}"#));
        }
        for (key, unit) in AROUND {
            add(format!(r#"{{"{key}":["#), unit, format!(r#"],"{list}":[{user}]}}"#));
        }
        for unit in STRINGS {
            add(format!(r#"{{"{list}":[{user},{{"role":"user","{content}":""#), unit, r#""}]}"#.to_owned());
        }
        for unit in MEMBERS {
            add(format!(r#"{{"{list}":[{user},{{"role":"{assistant}","{content}":[{{"#), unit, "}]}]}".to_owned());
        }
    }
    for unit in CALLS {
        let head = r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":["#;
        shapes.push(Shape { dialect: "openai_chat", head: head.to_owned(), unit, tail: "]}]}".to_owned() });
    }
    shapes
}

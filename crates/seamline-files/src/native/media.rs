//! Images and thinking, which the carrier of a history leaves out because no repair needs them.

use crate::json::{Object, elements, quoted};
use crate::native::text::OTHER;

/// The lines that the carrier holds in place of images.
const IN_PLACE: [&str; 2] = [OTHER, "[image]"];

/// Adds the images and the thinking in the blocks of a record to its message. Returns nothing if there are none, or if the
/// message cannot hold them, as the images of a tool result.
pub(crate) fn with_media(message: &str, content: Option<&str>) -> Option<String> {
    let blocks: Vec<Object<'_>> = elements(content?)?.into_iter().filter_map(Object::of).collect();
    let object = Object::of(message)?;
    let images: Vec<String> = blocks.iter().filter_map(image).collect();
    let thinking = blocks.iter().filter(|block| block.says("type", &["thinking"]));
    let thinking: Vec<String> = thinking.filter_map(|block| block.string("thinking")).collect();
    match object.string("role")?.as_str() {
        "user" if !images.is_empty() => {
            let said = object.string("content").unwrap_or_default();
            let said: Vec<&str> = said.lines().filter(|line| !IN_PLACE.contains(line)).collect();
            let text = Some(said.join("\n")).filter(|text| !text.trim().is_empty());
            let text = text.map(|text| format!(r#"{{"type":"text","text":{}}}"#, quoted(&text)));
            let parts: Vec<String> = text.into_iter().chain(images).collect();
            let content = format!("[{}]", parts.join(","));
            Some(object.with(&[("content", Some(content))]))
        }
        "assistant" if !thinking.is_empty() => {
            let thinking = Some(quoted(&thinking.join("\n")));
            Some(object.with(&[("reasoning_content", thinking)]))
        }
        _ => None,
    }
}

/// An image as a part of a message of Chat Completions.
fn image(block: &Object<'_>) -> Option<String> {
    let (data, kind) = (block.string("data")?, block.string("mimeType")?);
    let url = quoted(&format!("data:{kind};base64,{data}"));
    block.says("type", &["image"]).then(|| format!(r#"{{"type":"image_url","image_url":{{"url":{url}}}}}"#))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_and_thinking_are_found() {
        let image = r#"{"type":"image","data":"QUJD","mimeType":"image/png"}"#;
        let full = |message: &str, blocks: &str| with_media(message, Some(blocks));
        let user = r#"{"role":"user","content":"look"}"#;
        let part = r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}"#;
        let expected = format!(r#"{{"role":"user","content":[{{"type":"text","text":"look"}},{part}]}}"#);
        let blocks = format!(r#"[{{"type":"text","text":"look"}},{image}]"#);
        assert_eq!(full(user, &blocks), Some(expected));
        let alone = format!(r#"{{"role":"user","content":[{part}]}}"#);
        assert_eq!(full(&format!(r#"{{"role":"user","content":"{OTHER}"}}"#), &format!("[{image}]")), Some(alone));
        let thought = full(r#"{"role":"assistant","content":"a"}"#, r#"[{"type":"thinking","thinking":"hm"}]"#);
        let expected = r#"{"role":"assistant","content":"a","reasoning_content":"hm"}"#.to_owned();
        assert_eq!(thought, Some(expected));
        let tool = r#"{"role":"tool","content":"x","tool_call_id":"c"}"#;
        assert_eq!(full(tool, &format!("[{image}]")), None);
        assert_eq!(full(user, r#"[{"type":"text","text":"look"}]"#), None);
    }
}

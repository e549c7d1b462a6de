//! Writes what was salvaged as Markdown.

use std::borrow::Cow;
use std::io::{self, Write};

use seamline_files::leftovers::{Leftover, LeftoverKind};
use seamline_model::conversation::{LiftedBlock, LiftedMessage, MediaSource, Says, Speaker};

use super::super::saved::counted;
use super::Salvaged;

/// The fewest backticks of a fence.
const FENCE_MIN: usize = 3;

impl Salvaged<'_> {
    /// Writes everything as Markdown: the conversation, what is wrong with it, and all other parts of the file.
    ///
    /// # Errors
    ///
    /// Fails when the output cannot be written.
    pub fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "# Salvaged conversation\n")?;
        self.write_about(out)?;
        self.write_findings(out)?;
        self.write_conversation(out)?;
        if !self.leftovers.is_empty() {
            writeln!(out, "# Appendix: other parts of the file\n")?;
            write_leftovers(out, &self.leftovers, &self.bytes, 0)?;
        }
        Ok(())
    }

    fn write_about(&self, out: &mut dyn Write) -> io::Result<()> {
        let about = &self.about;
        let messages = self.body.as_ref().map(|_| self.messages.to_string());
        let lines = [
            ("file", self.program.map(|program| program.what.to_owned())),
            ("session", about.id.clone()),
            ("title", about.title.clone()),
            ("folder", about.folder.clone()),
            ("model", about.model.clone()),
            ("last change", about.updated.clone()),
            ("only in the appendix", self.left_out_text()),
            ("messages", messages.or_else(|| Some("no conversation was found".to_owned()))),
        ];
        for (name, value) in lines {
            if let Some(value) = value {
                writeln!(out, "- {name}: {}", code(&value))?;
            }
        }
        writeln!(out)
    }

    /// Names the content that only the records in the appendix hold, such as `2 images`.
    pub fn left_out_text(&self) -> Option<String> {
        let counted: Vec<String> = self.left_out.iter().map(counted).collect();
        (!counted.is_empty()).then(|| counted.join(", "))
    }

    fn write_findings(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.findings.is_empty() {
            return Ok(());
        }
        writeln!(out, "## What is wrong or missing\n")?;
        for finding in &self.findings {
            let line = finding.line.map(|line| format!("line {line}: ")).unwrap_or_default();
            writeln!(out, "- {line}{} {}: {}", finding.code, finding.name, code(&finding.message))?;
        }
        writeln!(out)
    }

    fn write_conversation(&self, out: &mut dyn Write) -> io::Result<()> {
        let dialect = self.dialect.and_then(seamline_dialects::by_name);
        let Some((dialect, body)) = dialect.zip(self.body.as_ref()) else { return Ok(()) };
        let Ok(conversation) = dialect.lift(body.as_bytes()) else { return write_fenced(out, "json", body) };
        if !conversation.system.is_empty() {
            writeln!(out, "## System\n")?;
            conversation.system.iter().try_for_each(|block| write_block(out, block))?;
        }
        for (index, message) in conversation.messages.iter().enumerate() {
            writeln!(out, "## {} · {}\n", index + 1, speaker(message))?;
            message.blocks.iter().try_for_each(|block| write_block(out, block))?;
        }
        Ok(())
    }
}

fn speaker(message: &LiftedMessage) -> &'static str {
    let is_result = |block: &LiftedBlock| matches!(block.says, Says::Result(_));
    match message.speaker {
        Speaker::System => "system",
        Speaker::User if !message.blocks.is_empty() && message.blocks.iter().all(is_result) => "tool",
        Speaker::User => "user",
        Speaker::Assistant => "assistant",
    }
}

fn write_block(out: &mut dyn Write, block: &LiftedBlock) -> io::Result<()> {
    match &block.says {
        Says::Text(text) => write_fenced(out, "text", text),
        Says::Refusal(text) => {
            writeln!(out, "Refusal:\n")?;
            write_fenced(out, "text", text)
        }
        Says::Call(call) => {
            writeln!(out, "Tool call {} ({}):\n", code(&call.name), code(&call.id))?;
            match &call.free {
                Some(text) => write_fenced(out, "text", text),
                None => write_fenced(out, "json", &call.input),
            }
        }
        Says::Result(result) => {
            let failed = if result.failed { "Failed result" } else { "Result" };
            writeln!(out, "{failed} of {}:\n", code(&result.id))?;
            result.blocks.iter().try_for_each(|block| write_block(out, block))
        }
        Says::Reasoning(reasoning) if reasoning.text.is_empty() => writeln!(out, "Reasoning that cannot be read.\n"),
        Says::Reasoning(reasoning) => {
            writeln!(out, "Reasoning:\n")?;
            write_fenced(out, "text", &reasoning.text)
        }
        Says::Media(media) => {
            let place = match &media.source {
                MediaSource::Data(data) => format!("{} characters of base64 in the request body", data.len()),
                MediaSource::Url(url) => code(url),
                MediaSource::File(_, id) => format!("file {} of the provider", code(id)),
            };
            let kind = media.mime.as_deref().map_or_else(|| media.kind.as_str().to_owned(), code);
            writeln!(out, "Media, {kind}: {place}\n")
        }
        Says::Opaque(opaque) => write_fenced(out, "json", &opaque.raw),
    }
}

/// Writes the beginning of a document without a conversation.
pub(super) fn write_parts_heading(out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "# Salvaged parts\n\nThe file is too long to find its conversation. These are its values and texts.\n"
    )
}

/// Writes parts of a file, whose bytes begin at a place.
pub(super) fn write_leftovers(out: &mut dyn Write, parts: &[Leftover], bytes: &[u8], start: u64) -> io::Result<()> {
    for part in parts {
        let span = &part.span;
        let text = String::from_utf8_lossy(&bytes[(span.start - start) as usize..(span.end - start) as usize]);
        let place = format!("line {}, bytes {} to {}", part.line, span.start, span.end);
        match part.kind {
            LeftoverKind::Value => {
                writeln!(out, "Record ({place}):\n")?;
                write_fenced(out, "json", &text)?;
            }
            LeftoverKind::Text => {
                writeln!(out, "Text ({place}):\n")?;
                write_fenced(out, "text", &text)?;
            }
            LeftoverKind::Unreadable => writeln!(out, "Unreadable bytes ({place}).\n")?,
        }
    }
    Ok(())
}

/// Writes a text between fences that are longer than every run of backticks in it.
fn write_fenced(out: &mut dyn Write, kind: &str, text: &str) -> io::Result<()> {
    let fence = "`".repeat(longest_run(text).max(FENCE_MIN - 1) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    writeln!(out, "{fence}{kind}\n{text}{end}{fence}\n")
}

/// A text in a line, as code. Its line breaks become spaces.
fn code(text: &str) -> String {
    let text: Cow<'_, str> = if text.contains(char::is_control) {
        Cow::Owned(text.replace(char::is_control, " "))
    } else {
        Cow::Borrowed(text)
    };
    let ticks = "`".repeat(longest_run(&text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') || text.trim().is_empty() { " " } else { "" };
    format!("{ticks}{space}{text}{space}{ticks}")
}

/// The length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|char| char != '`').map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_longer_than_every_run_of_backticks() {
        let fenced = |text: &str| {
            let mut out = Vec::new();
            write_fenced(&mut out, "text", text).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(fenced("a"), "```text\na\n```\n\n");
        assert_eq!(fenced("```\nx\n````\n"), "`````text\n```\nx\n````\n`````\n\n");
        assert_eq!(
            (code("a`b"), code("`"), code("x\ny")),
            ("``a`b``".to_owned(), "`` ` ``".to_owned(), "`x y`".to_owned())
        );
    }
}

//! The list of methods for people.

use std::fmt::Write as _;

use crate::METHODS;
use crate::error::CODES;
use crate::table::Type;

/// The list of methods and error codes in Markdown: `docs/host-methods.md`.
pub fn page() -> String {
    let mut out =
        "# Methods of `seamline host`\n\nGenerated from the table of methods. [host.md](host.md) describes the \
                   protocol.\n"
            .to_owned();
    for method in METHODS.iter() {
        let _ = write!(out, "\n## `{}`\n\n{} Returns {}.\n", method.name, method.doc, method.returns);
        if method.all_params().next().is_some() {
            out.push_str("\n| Parameter | Type | Meaning |\n|---|---|---|\n");
        }
        for param in method.all_params() {
            let needed = if param.required { ", needed" } else { "" };
            let _ =
                writeln!(out, "| `{}` | {}{needed} | {} |", param.name, word(param.of), param.doc.replace('|', "\\|"));
        }
    }
    out.push_str("\n## Errors\n\n| Code | `data.kind` | Meaning |\n|---|---|---|\n");
    for (code, kind, meaning) in CODES {
        let kind = if kind.is_empty() { String::new() } else { format!("`{kind}`") };
        let _ = writeln!(out, "| {code} | {kind} | {meaning} |");
    }
    out
}

fn word(of: Type) -> &'static str {
    match of {
        Type::Text => "text",
        Type::Flag => "flag",
        Type::Count => "number",
        Type::Handle(_) => "handle",
        Type::Json => "JSON",
        Type::List => "list of JSON",
        Type::Texts => "object of texts",
        Type::Options => "options",
    }
}

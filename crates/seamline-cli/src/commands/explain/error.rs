//! `seamline explain --error`

mod response;

use std::path::Path;

use seamline::Options;
use seamline::check::Checked;
use seamline::classify::{Certainty, Verdict};

use super::Explain;
use crate::args::ListFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::Source;
use crate::output::Output;
use crate::render::verdict::{self, Explained};
use crate::{screen, suggest};
use response::Response;

/// Explains an error.
pub(super) fn explain(asked: &Explain) -> Result<Exit, Failure> {
    if let Some(name) = asked.provider.as_deref().filter(|name| !is_provider(name)) {
        return Err(unknown(name));
    }
    let text = text(asked)?;
    if text.trim().is_empty() && asked.status.is_none() {
        return Err(
            Failure::new("the text of the error is empty").with_hint("give the provider's message, or `--status`")
        );
    }
    let body = asked.body.as_deref().map(|path| read(path, asked)).transpose()?;
    let checked = body.as_ref().map(|(_, checked)| checked);
    let verdict = classify(asked, &text, checked);
    let explained = Explained {
        verdict: &verdict,
        label: asked.body.as_ref().map(|path| path.display().to_string()),
        body: body.as_ref().map_or(&[], |(bytes, _)| bytes),
        checked,
    };
    let mut output = Output::new();
    output.text(&match asked.format {
        ListFormat::Json => verdict::json(&explained),
        ListFormat::Text => verdict::text(&explained, &options(asked), screen::width()),
    });
    Ok(output.finish(if verdict.certainty == Certainty::Known { Exit::Clean } else { Exit::Findings }))
}

fn text(asked: &Explain) -> Result<String, Failure> {
    match asked.error.as_deref() {
        None => Ok(String::new()),
        Some("-") if asked.body.as_deref() == Some(Path::new("-")) => {
            Err(Failure::new("the error and the body cannot both come from standard input"))
        }
        Some("-") => Ok(String::from_utf8_lossy(&Source::Stdin.read()?).into_owned()),
        Some(text) if Path::new(text).is_file() => {
            Err(Failure::new(format!("`{text}` is a file, not an error's text"))
                .with_hint(format!("`seamline explain --error - < {text}` reads it")))
        }
        Some(text) => Ok(text.to_owned()),
    }
}

/// Reads the body that was sent and checks it.
fn read(path: &Path, asked: &Explain) -> Result<(Vec<u8>, Checked), Failure> {
    let source = if path == Path::new("-") { Source::Stdin } else { Source::Path(path.to_owned()) };
    let named = |failure: Failure| Failure { message: format!("{}: {}", path.display(), failure.message), ..failure };
    let bytes = source.read().map_err(named)?;
    Failure::of_program(&source, &bytes).map_err(named)?;
    let checked = seamline::check(&bytes, &options(asked)).map_err(|error| named(Failure::of_body(error, &bytes)))?;
    Ok((bytes, checked))
}

/// The options of the check: the provider, if its demands are known.
fn options(asked: &Explain) -> Options {
    let provider = asked.provider.as_deref().and_then(seamline::providers::by_name);
    Options { provider: provider.map(|provider| provider.name.to_owned()), ..Options::default() }
}

fn classify(asked: &Explain, text: &str, checked: Option<&Checked>) -> Verdict {
    let response = Response::of(text);
    // With the dialect of the body the provider is known more exactly.
    let is_checked = |name: &str| checked.is_some() && seamline::providers::by_name(name).is_some();
    let asked_provider = asked.provider.as_deref().filter(|name| !is_checked(name));
    seamline::classify(&seamline::classify::Failure {
        provider: asked_provider.or(checked.map(|checked| checked.provider)),
        dialect: checked.map(|checked| checked.dialect),
        status: asked.status.or(response.status),
        headers: &response.headers,
        text: response.text,
        ..seamline::classify::Failure::default()
    })
}

fn is_provider(name: &str) -> bool {
    seamline::classify::error_providers().iter().any(|known| known.eq_ignore_ascii_case(name))
        || seamline::providers::by_name(name).is_some()
}

fn unknown(name: &str) -> Failure {
    let mut names: Vec<_> = seamline::providers::ALL.iter().map(|provider| provider.name).collect();
    // Families of errors that are not providers; aliases of providers are neither.
    let mut families = seamline::classify::error_providers();
    families.retain(|name| seamline::providers::by_name(name).is_none());
    let all =
        format!("the providers are {}; the families of errors are also {}", names.join(", "), families.join(", "));
    names.extend(seamline::classify::error_providers());
    Failure::new(format!("no provider is called `{name}`")).with_hint(suggest::hint(name, &names, &all))
}

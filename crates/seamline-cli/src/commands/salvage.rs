//! `seamline salvage`

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use seamline::Options;
use seamline::files::{Leftover, LeftoverKind, Salvaged};

use crate::exit::Exit;
use crate::failure::{Failure, quoted};
use crate::files::replace;
use crate::input::Source;
use crate::output::Output;
use crate::render::salvage::{self, Written};
use crate::stored::Store;

/// The longest file whose conversation is searched. The values and texts of a longer one are written piece by piece.
const WHOLE_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// The most names that are tried for a new file.
const NAMES_MAX: usize = 1000;
/// The longest part of a new file's name that comes from the name of the source.
const STEM_CHARS_MAX: usize = 100;

/// Write everything readable of a file that is beyond repair
///
/// Reads what can be read of a session file, a request body or any other file, whatever its state, and writes it to new
/// files: the conversation as Markdown and as a request body. The Markdown has roles, texts, tool calls with their arguments,
/// results, and what is missing. Its appendix has every other JSON value and text of the file, with their places: other
/// branches, records of unknown kinds, parts of torn lines.
///
/// The source is never changed, and no existing file is replaced. `seamline convert` writes the request body for another
/// provider or agent.
///
/// Exit status: 0 all bytes could be read, 1 some could not, 2 nothing was written.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Salvage {
    /// Any file, the folder of a session, or `-` for standard input
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// The folder for the new files [default: the current folder]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write only one of the two files
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<SalvageFormat>,
    /// The session of a database or folder with several: its id, or a part of it
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  seamline salvage broken.jsonl                  # broken.salvaged.md and .json
  seamline salvage broken.jsonl --output rescued/
  seamline salvage torn.json --format markdown
  seamline salvage goose.db --session 20260102_1";

/// The format of a salvaged file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SalvageFormat {
    /// The conversation and everything else, for people
    Markdown,
    /// The conversation as a request body
    Json,
}

impl SalvageFormat {
    fn ending(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Json => "json",
        }
    }
}

impl Salvage {
    pub(crate) fn run(&self) -> Result<Exit, Failure> {
        let source = if self.path.as_os_str() == "-" { Source::Stdin } else { Source::Path(self.path.clone()) };
        let done = self.salvage(&source);
        done.map_err(|failure| Failure { message: format!("{}: {}", source.label(), failure.message), ..failure })
    }

    fn salvage(&self, source: &Source) -> Result<Exit, Failure> {
        let options = Options::default();
        // A database that SQLite cannot read still has texts.
        if let Some(store) = source.path().and_then(|path| Store::at(path).ok().flatten()) {
            let chosen = store.only(self.session.as_deref())?;
            let salvaged = store.salvage(&chosen, &options)?.ok_or_else(|| Store::is_gone(&chosen))?;
            return self.write(source, &salvaged);
        }
        if self.session.is_some() {
            return Err(Store::has_one_session());
        }
        let opened = source.open()?;
        if opened.length > WHOLE_BYTES_MAX {
            return self.write_parts(source, &mut opened.into_reader());
        }
        let bytes = opened.read()?;
        if bytes.trim_ascii().is_empty() {
            return Err(Failure::new("the file is empty"));
        }
        self.write(source, &seamline::files::salvage(&source.name(), &bytes, &options))
    }

    fn write(&self, source: &Source, salvaged: &Salvaged<'_>) -> Result<Exit, Failure> {
        let mut written = Vec::new();
        if self.wants(SalvageFormat::Markdown) {
            let mut markdown = Vec::new();
            salvaged.write_markdown(&mut markdown).map_err(|error| Failure::io("write", &error))?;
            written.push(self.store(source, SalvageFormat::Markdown, &markdown)?);
        }
        if self.wants(SalvageFormat::Json) {
            match &salvaged.body {
                Some(body) => written.push(self.store(source, SalvageFormat::Json, body.as_bytes())?),
                None if self.format.is_some() => {
                    return Err(Failure::new("no conversation was found, so there is no request body to write")
                        .with_hint("`--format markdown` writes everything readable"));
                }
                None => {}
            }
        }
        let unread: Vec<&Leftover> = salvaged.unread().collect();
        let mut out = Output::new();
        out.text(&salvage::text(&source.label(), salvaged, &Written { paths: &written, unread: &unread }));
        Ok(out.finish(exit(&unread)))
    }

    /// Writes the parts of a very long file.
    fn write_parts(&self, source: &Source, input: &mut dyn std::io::BufRead) -> Result<Exit, Failure> {
        if !self.wants(SalvageFormat::Markdown) {
            return Err(Failure::new("the file is too long to find its conversation")
                .with_hint("`--format markdown` writes its values and texts"));
        }
        let path = self.free_path(source, SalvageFormat::Markdown)?;
        let failed = |error: std::io::Error| Failure::io(&format!("write {}", path.display()), &error);
        let mut file = BufWriter::new(replace::create_private(&path).map_err(failed)?);
        let unread = seamline::files::salvage_parts(input, &mut file)?;
        file.flush().map_err(failed)?;
        let unread: Vec<&Leftover> = unread.iter().collect();
        let mut out = Output::new();
        out.text(&salvage::parts(&source.label(), &Written { paths: &[path], unread: &unread }));
        Ok(out.finish(exit(&unread)))
    }

    fn wants(&self, format: SalvageFormat) -> bool {
        self.format.is_none_or(|wanted| wanted == format)
    }

    /// Writes a new file, and returns its path.
    fn store(&self, source: &Source, format: SalvageFormat, bytes: &[u8]) -> Result<PathBuf, Failure> {
        let path = self.free_path(source, format)?;
        let failed = |error: std::io::Error| Failure::io(&format!("write {}", path.display()), &error);
        let mut file = replace::create_private(&path).map_err(failed)?;
        file.write_all(bytes).map_err(failed)?;
        Ok(path)
    }

    /// A path in the folder for new files that no file has.
    fn free_path(&self, source: &Source, format: SalvageFormat) -> Result<PathBuf, Failure> {
        let folder = self.output.clone().unwrap_or_else(|| PathBuf::from("."));
        let made = std::fs::create_dir_all(&folder);
        made.map_err(|error| Failure::io(&format!("create {}", folder.display()), &error))?;
        let stem = source.path().and_then(Path::file_stem).unwrap_or("stdin".as_ref()).to_string_lossy();
        let stem: String = stem.chars().take(STEM_CHARS_MAX).collect();
        let ending = format.ending();
        let name = |number: usize| match number {
            1 => format!("{stem}.salvaged.{ending}"),
            _ => format!("{stem}.salvaged-{number}.{ending}"),
        };
        let free = (1..NAMES_MAX).map(|number| folder.join(name(number))).find(|path| path.symlink_metadata().is_err());
        free.ok_or_else(|| {
            Failure::new(format!("{} has too many salvaged files", folder.display())).with_hint(format!(
                "`--output DIR` names another folder than {}",
                quoted(&folder.display().to_string())
            ))
        })
    }
}

fn exit(unread: &[&Leftover]) -> Exit {
    let is_lost = unread.iter().any(|part| part.kind == LeftoverKind::Unreadable);
    if is_lost { Exit::Findings } else { Exit::Clean }
}

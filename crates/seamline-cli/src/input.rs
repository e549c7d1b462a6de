//! The inputs of commands: files, folders, standard input.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal as _, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use seamline::files::Program;

use crate::failure::Failure;
use crate::nature::Nature;
use crate::stored;

/// How deep folders are searched.
const FOLDER_DEPTH_MAX: usize = 64;

/// How much of a stream is read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// How many bytes of an input identify the program that wrote it.
const HEAD_BYTES: u64 = 1024 * 1024;

/// The source of one body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Stdin,
    Path(PathBuf),
}

impl Source {
    /// Its name in output; `-` for standard input.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::Stdin => "-".to_owned(),
            Self::Path(path) => path.display().to_string(),
        }
    }

    /// Its file, if it is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdin => None,
            Self::Path(path) => Some(path),
        }
    }

    /// Its name for the recognition of programs; empty for standard input.
    pub(crate) fn name(&self) -> String {
        self.path().map(|path| path.display().to_string()).unwrap_or_default()
    }

    /// Reads its first bytes.
    pub(crate) fn open(&self) -> Result<Opened, Failure> {
        let failed = |error: std::io::Error| Failure::io("read", &error);
        let (mut rest, length): (Box<dyn Read>, u64) = match self {
            Self::Stdin => (Box::new(std::io::stdin().lock()), 0),
            Self::Path(path) => {
                let file = File::open(path).map_err(failed)?;
                // The length is a hint only: pipes have none.
                let length = file.metadata().map_or(0, |metadata| metadata.len());
                (Box::new(file), length)
            }
        };
        let mut head = Vec::new();
        head.reserve_exact(length.min(HEAD_BYTES) as usize + 1);
        (&mut rest).take(HEAD_BYTES).read_to_end(&mut head).map_err(failed)?;
        Ok(Opened { name: self.name(), head, rest, length })
    }

    /// Reads all its bytes.
    pub(crate) fn read(&self) -> Result<Vec<u8>, Failure> {
        self.open()?.read()
    }

    /// Reads its text, without the byte order mark that editors add.
    pub(crate) fn read_text(&self) -> Result<String, Failure> {
        text(self.read()?)
    }

    /// Reads its bytes piece by piece until the callback breaks.
    pub(crate) fn read_pieces(&self, mut take: impl FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), Failure> {
        let failed = |error| Failure::io("read", &error);
        let mut input: Box<dyn std::io::Read> = match self {
            Self::Stdin => Box::new(std::io::stdin().lock()),
            Self::Path(path) => Box::new(File::open(path).map_err(failed)?),
        };
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            match input.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(length) if take(&piece[..length]).is_break() => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
    }
}

/// An input whose first bytes were read.
pub(crate) struct Opened {
    name: String,
    head: Vec<u8>,
    rest: Box<dyn Read>,
    /// The length of the file; 0 if it is not known.
    pub(crate) length: u64,
}

impl Opened {
    /// The program that wrote it, if it is not a request body.
    pub(crate) fn program(&self) -> Option<&'static Program> {
        seamline::files::recognise(&self.name, &self.head)
    }

    /// Refuses a file that is one record of a session.
    pub(crate) fn refuse_part(&self) -> Result<(), Failure> {
        let path = (!self.name.is_empty()).then(|| Path::new(&self.name));
        stored::failure_of_part(path, &self.head).map_or(Ok(()), Err)
    }

    /// Its first bytes, which tell its program.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Whether it has more bytes than the first ones.
    pub(crate) fn is_longer(&self) -> bool {
        self.length > self.head.len() as u64
    }

    /// All its bytes, read piece by piece.
    pub(crate) fn into_reader(self) -> impl BufRead {
        BufReader::with_capacity(PIECE_BYTES, std::io::Cursor::new(self.head).chain(self.rest))
    }

    /// Reads all its bytes.
    pub(crate) fn read(self) -> Result<Vec<u8>, Failure> {
        let too_long = || {
            Failure::new(format!("longer than {} bytes", seamline::error::BYTES_MAX))
                .with_hint("providers refuse bodies over 32 MB; split the conversation first")
        };
        // One more byte than the limit distinguishes a body that is too long from one that just fits.
        let limit = seamline::error::BYTES_MAX as u64 + 1;
        if self.length >= limit {
            return Err(too_long());
        }
        let mut bytes = self.head;
        bytes.reserve_exact((self.length as usize + 1).saturating_sub(bytes.len()));
        let left = limit.saturating_sub(bytes.len() as u64);
        self.rest.take(left).read_to_end(&mut bytes).map_err(|error| Failure::io("read", &error))?;
        if bytes.len() as u64 >= limit {
            return Err(too_long());
        }
        Ok(bytes)
    }
}

/// The byte order mark that editors put before a text.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Bytes as text, without the byte order mark before it.
pub(crate) fn text(mut bytes: Vec<u8>) -> Result<String, Failure> {
    if bytes.starts_with(MARK) {
        bytes.drain(..MARK.len());
    }
    String::from_utf8(bytes).map_err(|error| {
        let instead = Nature::of(error.as_bytes()).no_body();
        instead.unwrap_or_else(|| Failure::new(format!("not UTF-8 from byte {} on", error.utf8_error().valid_up_to())))
    })
}

/// One of the requested inputs.
#[derive(Debug)]
pub(crate) enum Input {
    Body(Source),
    /// The name of a path that cannot be read as a body.
    Unusable(String, Failure),
}

impl Input {
    /// The file of a body, with symbolic links followed.
    pub(crate) fn real_path(&self) -> Option<PathBuf> {
        match self {
            Self::Body(Source::Path(path)) => std::fs::canonicalize(path).ok(),
            Self::Body(Source::Stdin) | Self::Unusable(..) => None,
        }
    }
}

/// The inputs that the given paths name.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    pub(crate) list: Vec<Input>,
    /// Notes about folders for the user.
    pub(crate) notes: Vec<String>,
}

impl Inputs {
    /// The inputs of the paths: files, folders of `*.json`, `-`; standard input if there are no paths. A file that is
    /// named twice is read once.
    pub(crate) fn of(paths: &[PathBuf]) -> Result<Self, Failure> {
        if paths.is_empty() && std::io::stdin().is_terminal() {
            return Err(Failure::new("no path given, and standard input is a terminal")
                .with_hint("give a file, as in `seamline check request.json`, or pipe a body in"));
        }
        let mut inputs = Self::default();
        let mut seen = HashSet::new();
        if paths.is_empty() {
            inputs.list.push(Input::Body(Source::Stdin));
        }
        for path in paths {
            if path.as_os_str() == "-" {
                if seen.insert(path.clone()) {
                    inputs.list.push(Input::Body(Source::Stdin));
                }
            } else if path.is_dir() {
                inputs.add_folder(path, &mut seen);
            } else {
                inputs.add_file(path, &mut seen);
            }
        }
        Ok(inputs)
    }

    /// Whether one of them is standard input.
    pub(crate) fn has_stdin(&self) -> bool {
        self.list.iter().any(|input| matches!(input, Input::Body(Source::Stdin)))
    }

    fn add_file(&mut self, path: &Path, seen: &mut HashSet<PathBuf>) {
        // A missing path is reported when it is read.
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if seen.insert(real) {
            self.list.push(Input::Body(Source::Path(path.to_owned())));
        }
    }

    fn add_folder(&mut self, folder: &Path, seen: &mut HashSet<PathBuf>) {
        let label = folder.display().to_string();
        let mut found = Found { root: folder.canonicalize().ok(), files: Vec::new(), outside: 0 };
        let collected = found.collect(folder, FOLDER_DEPTH_MAX);
        let Found { files, outside, .. } = found;
        if outside > 0 {
            let links = crate::screen::count(outside, "link");
            self.notes.push(format!("{label}: {links} out of the folder not followed"));
        }
        match collected {
            Err(failure) => self.list.push(Input::Unusable(label, failure)),
            Ok(()) if files.is_empty() => {
                let failure = Failure::new("no `*.json` file in this folder")
                    .with_hint("name the files themselves, or see `seamline doctor` for the sessions of agents");
                self.list.push(Input::Unusable(label, failure));
            }
            Ok(()) => {
                if files != [folder] {
                    let found = crate::screen::count(files.len(), "file");
                    self.notes.push(format!("{label}: {found}"));
                }
                for file in files {
                    self.add_file(&file, seen);
                }
            }
        }
    }
}

/// The `*.json` files below a folder, in the order of their names.
struct Found {
    /// The folder behind all links.
    root: Option<PathBuf>,
    files: Vec<PathBuf>,
    /// The number of links to files that are not below the folder.
    outside: usize,
}

impl Found {
    fn collect(&mut self, folder: &Path, depth: usize) -> Result<(), Failure> {
        // The files of such a folder are records of sessions.
        if stored::is_folder(folder) {
            self.files.push(folder.to_owned());
            return Ok(());
        }
        let failed = |error: std::io::Error| Failure::io("read the folder", &error);
        let entries = std::fs::read_dir(folder).map_err(failed)?;
        let mut paths = Vec::new();
        for entry in entries {
            paths.push(entry.map_err(failed)?.path());
        }
        paths.sort();
        for path in paths {
            // A link to a folder may lead to a parent folder, so only links to files are followed.
            if path.is_dir() && !path.is_symlink() {
                if depth > 0 {
                    self.collect(&path, depth - 1)?;
                }
            } else if path.is_file() && path.extension() == Some(OsStr::new("json")) {
                self.add(path);
            }
        }
        Ok(())
    }

    /// Adds a file. A named folder stands for the files in it: `fix` must not write a file outside that a link points to.
    fn add(&mut self, path: PathBuf) {
        let is_inside = !path.is_symlink()
            || path.canonicalize().is_ok_and(|real| self.root.as_ref().is_some_and(|root| real.starts_with(root)));
        if is_inside {
            self.files.push(path);
        } else {
            self.outside += 1;
        }
    }
}

//! A format: how the sessions of one program are read and written.

use std::io::BufRead;

use super::{About, FileLayout, FileReading, KeptTexts, NewRecord, RecordRepair};

/// The input of a reading.
pub struct FileInput<'i> {
    /// The bytes of the file.
    pub bytes: &'i mut dyn BufRead,
    /// The path of the file, for programs whose file names carry meaning.
    pub name: &'i str,
    /// How much of long texts is kept.
    pub content: KeptTexts,
}

/// Reads a file.
pub(crate) type Read = fn(&mut FileInput<'_>) -> std::io::Result<FileReading>;

/// Adds to a message what its record holds besides.
pub(crate) type AddMedia = fn(record: &str, message: &str) -> Option<String>;

/// Writes the records again after a repair.
pub(crate) type Write = fn(&RecordRepair<'_>) -> Option<Vec<NewRecord>>;

/// How the sessions of one program are read and written.
pub struct Format {
    /// How the records of a file are separated.
    pub document: FileLayout,
    /// Reads a file: its records, the conversation that the program would send, and the defects of the file.
    pub(crate) read: Read,
    /// Writes the records again after a repair of the conversation; nothing if a message has a form that they cannot hold.
    /// A format without this function is read-only.
    pub(crate) write: Option<Write>,
    /// The command that continues a session in its program.
    pub(crate) resume: fn(&About) -> Option<String>,
    /// The name of the file in a folder above a session that holds the folder the program worked in, for programs whose
    /// sessions do not tell it.
    pub folder_file: Option<&'static str>,
    /// Adds to a message what its record holds besides: images and thinking, which a repair does not need.
    pub(crate) media: Option<AddMedia>,
}

impl Format {
    /// The format of files with one record per line, which are only read. No command continues a session.
    pub(crate) const fn of_lines(read: Read) -> Self {
        Self { document: FileLayout::Lines, read, write: None, resume: |_| None, folder_file: None, media: None }
    }

    /// The format of files with one JSON list of records, which are only read. No command continues a session.
    pub(crate) const fn of_list(read: Read) -> Self {
        Self { document: FileLayout::List, ..Self::of_lines(read) }
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Fails when the input cannot be read.
    pub fn read(&self, input: &mut FileInput<'_>) -> std::io::Result<FileReading> {
        (self.read)(input)
    }

    /// Whether images and thinking in records can be added to their messages.
    pub fn has_media(&self) -> bool {
        self.media.is_some()
    }

    /// A message with the images and the thinking of its record. Returns nothing if the record has none.
    pub fn with_media(&self, record: &str, message: &str) -> Option<String> {
        self.media.and_then(|add| add(record, message))
    }

    /// Whether repaired sessions can be written.
    pub fn is_writable(&self) -> bool {
        self.write.is_some()
    }

    /// Writes the records again after a repair of the conversation.
    pub fn write(&self, repair: &RecordRepair<'_>) -> Option<Vec<NewRecord>> {
        self.write.and_then(|write| write(repair))
    }

    /// The command that continues a session in its program, for a shell.
    pub fn resume(&self, about: &About) -> Option<String> {
        // The id comes from the file and may hold anything.
        let id = about.id.as_deref().map(shell_word);
        (self.resume)(&About { id, ..about.clone() })
    }
}

/// A text as one word of a shell. A character that a terminal obeys is written by its bytes, so that the word can be shown
/// and copied.
///
/// ```
/// use seamline_files::session::shell_word;
///
/// assert_eq!(shell_word("/srv/app"), "/srv/app");
/// assert_eq!(shell_word("it's"), r"'it'\''s'");
/// assert_eq!(shell_word("red\u{1b}[31m"), r"$'red\x1b[31m'");
/// ```
pub fn shell_word(text: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "._-/".contains(char);
    // The marks of the writing direction hide what a word says.
    let is_obeyed = |char: char| {
        char.is_control() || matches!(char, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if text.chars().any(is_obeyed) {
        let mut word = "$'".to_owned();
        for char in text.chars() {
            match char {
                '\'' | '\\' => word.extend(['\\', char]),
                char if is_obeyed(char) => {
                    let mut bytes = [0; 4];
                    let bytes = char.encode_utf8(&mut bytes).bytes();
                    word.extend(bytes.map(|byte| format!("\\x{byte:02x}")));
                }
                char => word.push(char),
            }
        }
        return word + "'";
    }
    let is_word = !text.is_empty() && text.chars().all(is_plain);
    if is_word { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_one_word_of_a_shell() {
        let words = ["0199-ab", "x; rm -rf ~ #", "it's", ""].map(shell_word);
        assert_eq!(words, ["0199-ab", "'x; rm -rf ~ #'", r"'it'\''s'", "''"]);
    }
}

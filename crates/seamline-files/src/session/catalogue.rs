//! The catalogue of defects of session files: codes, names and documentation.

use crate::lines::LineDamage;

/// How severe a defect is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Weight {
    /// The program loses part of the session, or cannot continue it.
    Error,
    /// The program continues; something is lost or may be lost later.
    Warning,
    /// Nothing needs to be done.
    Note,
}

/// One kind of defect.
#[derive(Debug, PartialEq, Eq)]
pub struct DefectKind {
    /// Its code, which is never reused.
    pub code: &'static str,
    /// Its name, such as `glued-records`.
    pub name: &'static str,
    /// How severe it is.
    pub weight: Weight,
    /// The fix, in a few words.
    pub fix: &'static str,
    /// Its documentation, in Markdown.
    pub docs: &'static str,
}

/// Declares a kind of defect. The doc comment is its documentation everywhere.
macro_rules! declare_defect {
    ($(#[doc = $doc:literal])+ $code:ident $name:literal, $weight:ident, $fix:literal) => {
        $(#[doc = $doc])+
        pub(crate) static $code: DefectKind = DefectKind {
            code: stringify!($code),
            name: $name,
            weight: Weight::$weight,
            fix: $fix,
            docs: concat!($($doc, "\n"),+),
        };
    };
}

declare_defect! {
    /// # What it does
    ///
    /// Reports two or more complete records on one line of a file that has one record per line.
    ///
    /// # Why is this bad?
    ///
    /// The program cannot parse the line. Most programs skip it, so they lose every record on it.
    ///
    /// # Fix
    ///
    /// Each record gets a line of its own. Nothing is lost.
    FILE001 "glued-records", Error, "put each record on a line of its own"
}
declare_defect! {
    /// # What it does
    ///
    /// Reports part of a record that is followed by a complete record on the same line.
    ///
    /// # Why is this bad?
    ///
    /// A crash cut the first record, and the program appended the next one behind it. The program cannot parse the line and
    /// loses the complete record, too.
    ///
    /// # Fix
    ///
    /// The complete record gets a line of its own. The part of a record goes to quarantine; often it is the beginning of
    /// the same record, and then nothing is lost.
    FILE002 "spliced-record", Error, "keep the complete record and put the fragment into quarantine"
}
declare_defect! {
    /// # What it does
    ///
    /// Reports a run of NUL bytes.
    ///
    /// # Why is this bad?
    ///
    /// After a crash some file systems fill the end of a file with NUL bytes. The program appends behind them, cannot parse
    /// the line, and some programs stop reading there.
    ///
    /// # Fix
    ///
    /// The NUL bytes are removed. The records around them stay, and so does a record that is complete without them.
    FILE003 "nul-run", Error, "remove the NUL bytes"
}
declare_defect! {
    /// # What it does
    ///
    /// Reports a last line that is cut.
    ///
    /// # Why is this bad?
    ///
    /// The program appends its next record to the cut line and loses it.
    ///
    /// # Fix
    ///
    /// The cut line goes to quarantine.
    FILE004 "torn-line", Error, "put the cut line into quarantine"
}
declare_defect! {
    /// # What it does
    ///
    /// Reports a line that holds no complete record.
    ///
    /// # Why is this bad?
    ///
    /// The program skips the line or refuses the file.
    ///
    /// # Fix
    ///
    /// The line goes to quarantine.
    FILE005 "unreadable-line", Error, "put the line into quarantine"
}
declare_defect! {
    /// # What it does
    ///
    /// Reports a record with bytes that are not UTF-8.
    ///
    /// # Why is this bad?
    ///
    /// Programs replace such bytes or refuse the line.
    ///
    /// # Fix
    ///
    /// The bytes become replacement characters. The original line goes to quarantine.
    FILE006 "invalid-text", Warning, "replace the invalid bytes"
}
declare_defect! {
    /// # What it does
    ///
    /// Reports a record of the active conversation whose parent is not in the file, with earlier records before it.
    ///
    /// # Why is this bad?
    ///
    /// The program follows the parents from the last record to the first one. It stops at the missing parent, so that it
    /// forgets everything before it.
    ///
    /// # Fix
    ///
    /// The record gets the record before it as its parent.
    FILE007 "broken-chain", Error, "connect the record to the record before it"
}
declare_defect! {
    /// # What it does
    ///
    /// Reports a file whose first record names a parent that is not in the file.
    ///
    /// # Why is this bad?
    ///
    /// The beginning of the session is missing. The program continues with the rest.
    ///
    /// # Fix
    ///
    /// The first record becomes the root of the session. The missing part cannot be restored.
    FILE008 "missing-head", Warning, "make the first record the root"
}
declare_defect! {
    /// # What it does
    ///
    /// Reports a record that is in the file twice.
    ///
    /// # Why is this bad?
    ///
    /// The program finds two records with one id. It may send a tool result twice, or follow the wrong one.
    ///
    /// # Fix
    ///
    /// If two records are equal, the second one is removed. Two different records with one id get different ids.
    FILE009 "duplicate-record", Warning, "remove the copy"
}
declare_defect! {
    /// # What it does
    ///
    /// Reports a record whose parents lead back to itself.
    ///
    /// # Why is this bad?
    ///
    /// The program follows the parents and never stops, or it stops and loses the records before the loop.
    ///
    /// # Fix
    ///
    /// The record gets the record before it as its parent.
    FILE010 "parent-cycle", Error, "connect the record to the record before it"
}
declare_defect! {
    /// # What it does
    ///
    /// Reports records whose ordinals have a gap, or of which two have the same ordinal.
    ///
    /// # Why is this bad?
    ///
    /// The program expects each record to have the next number and refuses to continue the session.
    ///
    /// # Fix
    ///
    /// The records are numbered again in the order of the file.
    FILE011 "ordinal-gap", Error, "number the records again"
}
declare_defect! {
    /// # What it does
    ///
    /// Reports a compaction whose first kept record is not in the file.
    ///
    /// # Why is this bad?
    ///
    /// The program keeps the records from that one on. Without it, the program forgets the records that it wanted to keep.
    ///
    /// # Fix
    ///
    /// The compaction names the first record behind it.
    FILE012 "missing-anchor", Error, "name a record that is there"
}
declare_defect! {
    /// # What it does
    ///
    /// Reports tool calls without results in a turn that the user aborted or that failed.
    ///
    /// # Why is this bad?
    ///
    /// The program leaves such turns out when it sends the conversation. Another program, or a later version, may send the
    /// calls, and the provider then rejects the request.
    ///
    /// # Fix
    ///
    /// The calls are kept as text.
    FILE013 "calls-in-aborted-turn", Warning, "keep the calls as text"
}
declare_defect! {
    /// # What it does
    ///
    /// Reports a JSON file that ends too early.
    ///
    /// # Why is this bad?
    ///
    /// The program cannot parse the file. Some programs then begin with an empty history and overwrite the file.
    ///
    /// # Fix
    ///
    /// The complete messages are kept and the file is closed. The cut message goes to quarantine.
    FILE014 "cut-document", Error, "close the file after the last complete message"
}
declare_defect! {
    /// # What it does
    ///
    /// Reports a file that does not begin with the record that describes the session.
    ///
    /// # Why is this bad?
    ///
    /// The program reads the id and the folder of the session from that record. Without it at the beginning, the program
    /// does not continue the session.
    ///
    /// # Fix
    ///
    /// The record moves to the beginning. If it is not in the file, a new one is made of the name of the file and of the
    /// other records.
    FILE015 "missing-header", Error, "begin with the description of the session"
}

declare_defect! {
    /// # What it does
    ///
    /// Reports a record that newlines split into several lines: an editor or a formatter wrote it that way, or its texts
    /// have raw newlines.
    ///
    /// # Why is this bad?
    ///
    /// The program reads each line by itself, cannot parse any of them, and loses the record.
    ///
    /// # Fix
    ///
    /// The record is put on one line. Newlines in its texts are escaped. Nothing is lost.
    FILE016 "split-record", Error, "put the record on one line"
}

/// Every kind of defect, by code.
pub const DEFECTS: &[&DefectKind] = &[
    &FILE001, &FILE002, &FILE003, &FILE004, &FILE005, &FILE006, &FILE007, &FILE008, &FILE009, &FILE010, &FILE011,
    &FILE012, &FILE013, &FILE014, &FILE015, &FILE016,
];

/// The kind of a gap in the numbers of records.
pub fn gap_in_numbers() -> &'static DefectKind {
    &FILE011
}

/// The kind of a damaged line.
pub fn by_damage(damage: LineDamage) -> &'static DefectKind {
    match damage {
        LineDamage::Glued => &FILE001,
        LineDamage::Spliced => &FILE002,
        LineDamage::NulRun => &FILE003,
        LineDamage::Torn => &FILE004,
        LineDamage::Unreadable => &FILE005,
        LineDamage::BadText => &FILE006,
        LineDamage::Cut => &FILE014,
        LineDamage::Split => &FILE016,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_order_and_every_kind_is_documented() {
        for (index, kind) in DEFECTS.iter().enumerate() {
            assert_eq!(kind.code, format!("FILE{:03}", index + 1));
            for heading in [" # What it does\n", " # Why is this bad?\n", " # Fix\n"] {
                assert!(kind.docs.contains(heading), "{}", kind.code);
            }
        }
    }
}

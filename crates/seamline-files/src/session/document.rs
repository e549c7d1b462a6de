//! The bytes of a file around its records.

use super::{FileReading, NewRecord};
use crate::lines::{self, LineDamage, Mended, QuarantinedBytes, RecordPlace};

/// How the records of a file are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileLayout {
    /// Each record is on a line of its own.
    Lines,
    /// The records are elements of one JSON list.
    List,
}

impl FileLayout {
    /// Writes a file with other records. The bytes around records that stay neighbours stay as they are.
    pub fn write(self, file: &[u8], places: &[RecordPlace], records: &[NewRecord]) -> Vec<u8> {
        let span = |record: usize| places[record].span.start as usize..places[record].span.end as usize;
        let (Some(first), Some(last)) = (places.first(), places.last()) else { return file.to_vec() };
        let between =
            |record: usize| (record + 1 < places.len()).then(|| &file[span(record).end..span(record + 1).start]);
        let usual = match self {
            Self::Lines => lines::line_ending(file).to_vec(),
            Self::List => between(0).map_or_else(|| separator(&file[..first.span.start as usize]), <[u8]>::to_vec),
        };
        let mut out = file[..first.span.start as usize].to_vec();
        for (index, record) in records.iter().enumerate() {
            match record.origin.map(|origin| &file[span(origin)]) {
                // A record that did not change keeps its bytes, whatever they are.
                Some(bytes) if String::from_utf8_lossy(bytes) == record.text => out.extend_from_slice(bytes),
                _ => out.extend_from_slice(record.text.as_bytes()),
            }
            if let Some(next) = records.get(index + 1) {
                let are_neighbours = record.origin.is_some_and(|origin| next.origin == Some(origin + 1));
                out.extend_from_slice(record.origin.filter(|_| are_neighbours).and_then(between).unwrap_or(&usual));
            }
        }
        out.extend_from_slice(&file[last.span.end as usize..]);
        if self == Self::Lines && out.last().is_some_and(|last| *last != b'\n') {
            // Programs append without looking, so the last line needs its newline.
            out.extend_from_slice(&usual);
        }
        out
    }

    /// Writes a file without its damaged parts. The complete records keep their bytes, and a cut value is closed. Returns
    /// nothing if no part is damaged.
    pub fn mend(self, file: &[u8], reading: &FileReading) -> Option<Mended> {
        match self {
            Self::Lines => lines::mend(file),
            Self::List => (!reading.damaged.is_empty()).then(|| mend_list(file, reading)),
        }
    }
}

/// The separator of the elements of a list, by the bytes before its first element.
fn separator(before: &[u8]) -> Vec<u8> {
    let spaces = before.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
    [b",", &before[before.len() - spaces..]].concat()
}

fn mend_list(file: &[u8], reading: &FileReading) -> Mended {
    let places = &reading.records;
    let span = |place: &RecordPlace| place.span.start as usize..place.span.end as usize;
    let mut mended = Mended { bytes: Vec::with_capacity(file.len()), quarantined: Vec::new() };
    let mut at = 0;
    for damaged in &reading.damaged {
        let part = span(&damaged.place);
        mended.bytes.extend_from_slice(&file[at..part.start]);
        at = part.end;
        let bytes: Vec<u8> = file[part.clone()].iter().copied().filter(|byte| *byte != 0).collect();
        let is_repeated = damaged.damage == LineDamage::BadText;
        // A missing separator is an empty place before the next record.
        let is_record = || places.binary_search_by_key(&part.start, |place| place.span.start as usize).is_ok();
        // A part around the list is as it was without its NUL bytes.
        let is_around = damaged.damage == LineDamage::NulRun
            && (part.start == 0 && file[..part.end].ends_with(b"[")
                || part.end == file.len() && file[part.clone()].starts_with(b"]"));
        let is_kept = !part.is_empty() && (is_around || is_record());
        if is_repeated || is_kept {
            mended.bytes.extend_from_slice(String::from_utf8_lossy(&bytes).as_bytes());
        } else if at < file.len() {
            // A record follows, or the end of the list: the separator before the damage is enough, or too much.
            let ends_list = !places.iter().any(|place| place.span.start as usize >= at);
            if ends_list {
                trim_separator(&mut mended.bytes);
            } else {
                let behind = &file[at..];
                at += behind.iter().take_while(|byte| **byte == b',' || byte.is_ascii_whitespace()).count();
                let is_separated = matches!(last_byte(&mended.bytes), Some(b',' | b'['));
                if !is_separated {
                    mended.bytes.extend(separator(&file[..places.first().map_or(0, |first| span(first).start)]));
                }
            }
        }
        // A record that is complete without NUL bytes stays.
        let is_gone = is_repeated || !is_kept;
        if is_gone && !bytes.trim_ascii().is_empty() {
            mended.quarantined.push(QuarantinedBytes { line: damaged.place.line, bytes, is_repeated });
        }
    }
    mended.bytes.extend_from_slice(&file[at..]);
    close(&mut mended.bytes);
    mended
}

fn last_byte(bytes: &[u8]) -> Option<u8> {
    bytes.trim_ascii_end().last().copied()
}

fn trim_separator(bytes: &mut Vec<u8>) {
    if last_byte(bytes) == Some(b',') {
        bytes.truncate(bytes.trim_ascii_end().len() - 1);
    }
}

/// Closes the brackets that are open at the end of a JSON value, in its layout.
fn close(bytes: &mut Vec<u8>) {
    let mut open: Vec<(usize, u8)> = Vec::new();
    let (mut in_string, mut is_escaped) = (false, false);
    for (place, byte) in bytes.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' => open.push((place, b'}')),
            b'[' => open.push((place, b']')),
            b'}' | b']' => drop(open.pop()),
            _ => {}
        }
    }
    if open.is_empty() {
        return;
    }
    bytes.truncate(bytes.trim_ascii_end().len());
    trim_separator(bytes);
    for (place, bracket) in open.into_iter().rev() {
        let line = bytes[..place].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let indent: Vec<u8> = bytes[line..place].iter().copied().take_while(u8::is_ascii_whitespace).collect();
        if bytes[place + 1..].iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) == Some(&b'\n') {
            bytes.push(b'\n');
            bytes.extend(indent);
        }
        bytes.push(bracket);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::members;
    use crate::list::{self, Shape};

    fn record(origin: Option<usize>, text: &str) -> NewRecord {
        NewRecord { origin, text: text.to_owned() }
    }

    #[test]
    fn lines_around_records_that_stay_are_kept() {
        let file = b"{\"a\":1}\r\n\n{\"a\":2}\n[9]\n{\"a\":3}";
        let places: Vec<_> =
            [(1, 0..7), (3, 10..17), (5, 22..29)].map(|(line, span)| RecordPlace { line, span }).into_iter().collect();
        let kept = [record(Some(0), "{\"a\":1}"), record(Some(1), "{\"a\":2}"), record(None, "{}")];
        let text = String::from_utf8(FileLayout::Lines.write(file, &places, &kept)).unwrap();
        assert_eq!(text, "{\"a\":1}\r\n\n{\"a\":2}\r\n{}\r\n");
    }
    #[test]
    fn a_cut_list_is_closed_and_damage_inside_of_it_is_removed() {
        let shape = Shape { members: &["messages"], is_record: |text| text.starts_with("{\"a\"") };
        let mend = |file: &str| {
            let list = list::read(&mut file.as_bytes(), &shape, &mut |text| members(text, &[]).map(drop)).unwrap();
            let reading = FileReading { records: list.records, damaged: list.damaged, ..FileReading::default() };
            let mended = FileLayout::List.mend(file.as_bytes(), &reading).unwrap();
            let kept: Vec<_> =
                mended.quarantined.into_iter().map(|kept| String::from_utf8(kept.bytes).unwrap()).collect();
            (String::from_utf8(mended.bytes).unwrap(), kept.concat())
        };
        let case = |file: &str, mended: &str, kept: &str| assert_eq!(mend(file), (mended.to_owned(), kept.to_owned()));
        case("{\"messages\":[{\"a\":1},{\"a\":2,\"x\":\"y", "{\"messages\":[{\"a\":1}]}", "{\"a\":2,\"x\":\"y");
        case("{\"messages\":[{\"a\":1},", "{\"messages\":[{\"a\":1}]}", "");
        case("{\"messages\":[{\"a\":1}],\"b\":\"c", "{\"messages\":[{\"a\":1}]}", ",\"b\":\"c");
        case("{\"messages\":[{\"a\"", "{\"messages\":[]}", "{\"a\"");
        let pretty = "{\n  \"messages\": [\n    {\"a\":1},\n    {\"a\":2";
        case(pretty, "{\n  \"messages\": [\n    {\"a\":1}\n  ]\n}", "{\"a\":2");
        case("[\n {\"a\":1}\0\0,\n {\"a\":2}\n]\n", "[\n {\"a\":1},\n {\"a\":2}\n]\n", "");
        case("[{\"a\":1}, {\"b\":\0\"}, {\"a\":2}]", "[{\"a\":1}, {\"a\":2}]", "{\"b\":\"}");
        case("[{\"a\":1}, {\"b\":\0}]", "[{\"a\":1}]", "{\"b\":}");
        case("[{\"b\":\0}, {\"a\":1}]", "[{\"a\":1}]", "{\"b\":}");
        case("[{\"a\":\"x\0y\"}, {\"a\":2}]", "[{\"a\":\"xy\"}, {\"a\":2}]", "");
        case("[{\"a\":1}]\0\0", "[{\"a\":1}]", "");
        case("[\n {\"a\":1}{\"a\":2}\n]", "[\n {\"a\":1},\n {\"a\":2}\n]", "");
        case(
            "{\"b\":\"x\0\",\"messages\":[{\"a\":1}],\"c\":\"\0\"}",
            "{\"b\":\"x\",\"messages\":[{\"a\":1}],\"c\":\"\"}",
            "",
        );
        case("[{\"a\":1},,{\"a\":2},]", "[{\"a\":1},{\"a\":2}]", ",,");
        case("[{\"a\":1} {\"b\":\0}, {\"a\":2}{\"a\":3}]", "[{\"a\":1} ,{\"a\":2},{\"a\":3}]", "{\"b\":}");
    }
}

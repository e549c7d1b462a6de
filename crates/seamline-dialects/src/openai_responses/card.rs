//! Draws words as a picture, for results that can only be pictures. The model would read an empty picture as an empty
//! screen.

mod letters;

use self::letters::{COLUMNS, ROWS};
use crate::streamed::base64;

/// The start of a data URL with a picture.
const START: &str = "data:image/png;base64,";

/// The number of letters in a line.
const LINE: usize = 64;

/// The number of letters that are drawn. The picture keeps the rest as invisible data.
const LETTERS_MAX: usize = 1_280;

/// The width and height of a dot of a letter, in pixels.
const DOT: usize = 2;

/// The width and height of a letter with the space around it, in dots.
const CELL: (usize, usize) = (COLUMNS + 1, ROWS + 3);

/// The first bytes of every PNG.
const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n'];

/// The chunk that keeps the words, and its start: a keyword, and the flags for text that is neither compressed nor
/// translated.
const KEPT: &[u8; 4] = b"iTXt";
const KEYWORD: &[u8] = b"Seamline\0\0\0\0\0";

/// The sizes of a chunk's header and of its checksum.
const HEAD: usize = 8;
const TAIL: usize = 4;

/// The size of the chunk with the dimensions.
const SIZE: usize = 13;

/// The offset of the chunk with the words.
const KEPT_AT: usize = SIGNATURE.len() + HEAD + SIZE + TAIL;

/// Draws a text and a note after it, and returns the data URL. Only the text counts as the words of the picture.
pub(super) fn drawn(text: &str, note: &str) -> String {
    let lines = lines(&format!("{text} {note}"));
    let (width, height) = (LINE * CELL.0 * DOT, (lines.len() + 1) * CELL.1 * DOT);
    let mut png = SIGNATURE.to_vec();
    let size = [&(width as u32).to_be_bytes()[..], &(height as u32).to_be_bytes(), &[1, 0, 0, 0, 0]].concat();
    chunk(&mut png, *b"IHDR", &size);
    chunk(&mut png, *KEPT, &[KEYWORD, text.as_bytes()].concat());
    chunk(&mut png, *b"IDAT", &stored(&dots(&lines, width, height)));
    chunk(&mut png, *b"IEND", &[]);
    format!("{START}{}", encoded(&png))
}

/// Reads the words of a picture that was drawn here.
pub(super) fn read(address: &str) -> Option<String> {
    let picture = address.strip_prefix(START)?;
    // As much of a picture is looked at as says whether it is one.
    let front = base64(picture.get(..(KEPT_AT + HEAD).div_ceil(3) * 4)?)?;
    let head = front.get(KEPT_AT..KEPT_AT + HEAD).filter(|head| head.ends_with(KEPT))?;
    let length = u32::from_be_bytes(head.first_chunk().copied()?) as usize;
    let end = KEPT_AT.checked_add(HEAD)?.checked_add(length)?;
    let whole = base64(picture.get(..end.div_ceil(3).checked_mul(4)?)?)?;
    let words = whole.get(KEPT_AT + HEAD..end)?.strip_prefix(KEYWORD)?;
    String::from_utf8(words.to_vec()).ok()
}

/// Breaks the visible part of a text into lines.
fn lines(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut count = 0;
    for word in text.split_ascii_whitespace() {
        if count >= LETTERS_MAX {
            lines.push("...".to_owned());
            break;
        }
        let letters: Vec<char> = word.chars().take(LETTERS_MAX - count).collect();
        count += letters.len() + 1;
        for part in letters.chunks(LINE - 2) {
            let used = lines.last().map_or(0, |line| line.chars().count());
            if used > 0 && used + 1 + part.len() > LINE - 2 {
                lines.push(String::new());
            }
            if let Some(line) = lines.last_mut() {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.extend(part);
            }
        }
    }
    lines
}

/// Draws the rows of a picture, each after a filter byte. Eight dots are a byte, and white is 1.
fn dots(lines: &[String], width: usize, height: usize) -> Vec<u8> {
    let row = width / 8 + 1;
    let mut rows = vec![0xFF_u8; row * height];
    rows.iter_mut().step_by(row).for_each(|plain| *plain = 0);
    let mut blacken = |x: usize, y: usize| {
        if let Some(eight) = rows.get_mut(y * row + 1 + x / 8) {
            *eight &= !(0x80 >> (x % 8));
        }
    };
    for (number, line) in lines.iter().enumerate() {
        for (place, letter) in line.chars().enumerate() {
            for (column, bits) in letters::columns(letter).into_iter().enumerate() {
                for dot in (0..ROWS).filter(|dot| bits >> dot & 1 == 1) {
                    let x = ((place + 1) * CELL.0 + column) * DOT;
                    let y = (number * CELL.1 + CELL.1 / 2 + dot) * DOT;
                    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                        blacken(x + dx, y + dy);
                    }
                }
            }
        }
    }
    rows
}

fn chunk(png: &mut Vec<u8>, name: [u8; 4], content: &[u8]) {
    png.extend((content.len() as u32).to_be_bytes());
    let start = png.len();
    png.extend(name);
    png.extend(content);
    let sum = crc(&png[start..]);
    png.extend(sum.to_be_bytes());
}

/// The checksum of a chunk.
fn crc(bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| if sum & 1 == 1 { 0xEDB8_8320 ^ (sum >> 1) } else { sum >> 1 };
    let sum = bytes.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step));
    !sum
}

/// Writes bytes as an uncompressed zlib stream.
fn stored(bytes: &[u8]) -> Vec<u8> {
    const BLOCK: usize = u16::MAX as usize;
    let mut out = vec![0x78, 0x01];
    let count = bytes.chunks(BLOCK).count();
    for (number, block) in bytes.chunks(BLOCK).enumerate() {
        let length = block.len() as u16;
        out.push(u8::from(number + 1 == count));
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(block);
    }
    let (low, high) = bytes.iter().fold((1_u32, 0_u32), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    out.extend((high << 16 | low).to_be_bytes());
    out
}

fn encoded(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for digit in 0..4 {
            let is_there = digit <= three.len();
            out.push(if is_there { char::from(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63]) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_read_back() {
        let long = "word ".repeat(10_000);
        for text in ["", "[synthetic] no result", "größer\n{\"a\": [1]} \u{1F600}", long.as_str(), &"x".repeat(3_000)]
        {
            assert_eq!(read(&drawn(text, "note")).as_deref(), Some(text));
        }
        // However long a text is, a picture stays small beside it.
        assert!(drawn(&long, "").len() < long.len() * 2 + 60_000);
    }

    #[test]
    fn other_pictures_say_nothing() {
        let drawn = drawn("words", "");
        let real = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==";
        for address in ["", START, real, "https://example.com/a.png", &drawn[..60], &drawn[..90], &drawn[START.len()..]]
        {
            assert_eq!(read(address), None, "{address}");
        }
    }
}

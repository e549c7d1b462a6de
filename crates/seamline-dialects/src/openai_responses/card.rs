//! Text as a picture, for tool results that must be a picture. A blank one would look like a blank screen.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use font8x8::{BASIC_FONTS, GREEK_FONTS, LATIN_FONTS, UnicodeFonts as _};
use png::{BitDepth, ColorType, Decoded, Encoder, EncodingError, Filter, StreamingDecoder};

/// The start of the address of a picture that is inside the request.
const START: &str = "data:image/png;base64,";

/// The keyword of the chunk that keeps the text.
const KEYWORD: &str = "Seamline";

/// The chunk with which the image data begins; the text comes before it.
const IMAGE_DATA: png::chunk::ChunkType = png::chunk::IDAT;

/// How many digits of Base64 are decoded at once, a multiple of four.
const PIECE: usize = 4_096;

/// How many letters a line has, with one blank at either end.
const LINE: usize = 64;

/// How many letters the picture shows. It keeps the rest of the text without showing it.
const LETTERS_MAX: usize = 1_280;

/// How many dots of the picture a dot of a letter is wide and high.
const DOT: usize = 2;

/// How many rows of dots a letter has, and how many a line has with the space around it.
const ROWS: usize = 8;
const LINE_ROWS: usize = ROWS + 2;

/// How many bytes a row of the picture has. Eight dots are a byte; a letter is two bytes wide.
const ROW_BYTES: usize = LINE * DOT;

/// The letter shown for a character that the font does not have: a box.
const UNKNOWN: [u8; ROWS] = [0x00, 0x7E, 0x42, 0x42, 0x42, 0x42, 0x7E, 0x00];

/// Draws a text with a note behind it, and returns the picture's address. [`read`] returns the text without the note.
pub(super) fn draw(text: &str, note: &str) -> String {
    // Writing to memory fails only for a text that is longer than a chunk may be, which is 2 GiB.
    let png = encode(text, &lines(&format!("{text} {note}"))).unwrap_or_default();
    format!("{START}{}", STANDARD.encode(png))
}

/// Reads the text of a picture that [`draw`] made.
pub(super) fn read(address: &str) -> Option<String> {
    let picture = address.strip_prefix(START)?;
    let mut decoder = StreamingDecoder::new();
    // A screenshot is long: only its beginning is decoded.
    for piece in picture.as_bytes().chunks(PIECE) {
        let bytes = STANDARD.decode(piece).ok()?;
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match decoder.update(rest, None).ok()? {
                (_, Decoded::ChunkBegin(_, IMAGE_DATA)) => return kept(&decoder),
                (used, _) => rest = rest.get(used..)?,
            }
        }
    }
    None
}

fn kept(decoder: &StreamingDecoder) -> Option<String> {
    let is_ours = |text: &&png::text_metadata::ITXtChunk| text.keyword == KEYWORD && !text.compressed;
    decoder.info()?.utf8_text.iter().find(is_ours)?.get_text().ok()
}

fn encode(text: &str, lines: &[String]) -> Result<Vec<u8>, EncodingError> {
    let dots = dots(lines);
    let mut png = Vec::new();
    let mut encoder = Encoder::new(&mut png, (ROW_BYTES * 8) as u32, (dots.len() / ROW_BYTES) as u32);
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::One);
    encoder.set_filter(Filter::NoFilter);
    encoder.add_itxt_chunk(KEYWORD.to_owned(), text.to_owned())?;
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&dots)?;
    writer.finish()?;
    Ok(png)
}

/// Splits a text into lines, as much of it as the picture shows.
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

/// The rows of the picture. A bit is a dot, and 1 is white.
fn dots(lines: &[String]) -> Vec<u8> {
    let mut dots = vec![0xFF_u8; (lines.len() + 1) * LINE_ROWS * DOT * ROW_BYTES];
    for (number, line) in lines.iter().enumerate() {
        let top = (number * LINE_ROWS + LINE_ROWS / 2) * DOT;
        for (place, letter) in line.chars().enumerate() {
            for (row, bits) in glyph(letter).into_iter().enumerate() {
                let [left, right] = widen(bits).to_be_bytes();
                for y in (0..DOT).map(|dot| top + row * DOT + dot) {
                    let at = y * ROW_BYTES + (place + 1) * DOT;
                    if let Some([one, other]) = dots.get_mut(at..at + DOT) {
                        *one &= !left;
                        *other &= !right;
                    }
                }
            }
        }
    }
    dots
}

/// The rows of a letter, the lowest bit of each at the left.
fn glyph(letter: char) -> [u8; ROWS] {
    BASIC_FONTS.get(letter).or_else(|| LATIN_FONTS.get(letter)).or_else(|| GREEK_FONTS.get(letter)).unwrap_or(UNKNOWN)
}

/// A row of a letter with each dot twice, the highest bit at the left.
fn widen(bits: u8) -> u16 {
    (0..8).filter(|dot| bits >> dot & 1 == 1).fold(0, |row, dot| row | 0xC000 >> (DOT * dot))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_drawn_and_read_back() {
        let long = "word ".repeat(10_000);
        for text in ["", "[synthetic] no result", "größer\n{\"a\": [1]} \u{1F600}", long.as_str(), &"x".repeat(3_000)]
        {
            assert_eq!(read(&draw(text, "note")).as_deref(), Some(text));
        }
        assert!(draw(&long, "").len() < long.len() * 2 + 5_000, "the picture stays small beside its text");
        assert!(draw("The call was aborted before the tool ran.", "").len() < 1_500);
    }

    #[test]
    fn the_picture_shows_the_words() {
        let address = draw("Il", "");
        let bytes = STANDARD.decode(address.strip_prefix(START).unwrap()).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut dots = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut dots).unwrap();
        assert_eq!((frame.width, frame.height), (1_024, 40));
        let is_black = |x: usize, y: usize| dots[y * frame.line_size + x / 8] & (0x80 >> (x % 8)) == 0;
        let row = |y: usize| -> String { (16..48).map(|x| if is_black(x, y) { '#' } else { '.' }).collect() };
        let shown: Vec<String> = (10..26).step_by(DOT).map(row).collect();
        assert_eq!(
            shown,
            [
                "..########........######........",
                "....####............####........",
                "....####............####........",
                "....####............####........",
                "....####............####........",
                "....####............####........",
                "..########........########......",
                "................................",
            ]
        );
    }

    #[test]
    fn a_picture_of_an_older_version_is_read() {
        let older = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAABAQAAAADLe9LuAAAAEmlUWHRTZWFtbGluZQAAAAAAd29yZHOYJ6v5AAAADUlEQVR4AQECAP3/AP8BAQEAYIcStQAAAABJRU5ErkJggg==";
        assert_eq!(read(older).as_deref(), Some("words"));
    }

    #[test]
    fn other_pictures_say_nothing() {
        let drawn = draw("words", "");
        let real = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==";
        for address in ["", START, real, "https://example.com/a.png", &drawn[..60], &drawn[..90], &drawn[START.len()..]]
        {
            assert_eq!(read(address), None, "{address}");
        }
    }
}

//! Applies edits to text: copies what stays and writes only what changes.

mod messages;
mod plan;

pub(crate) use messages::{MessageWriter, apply_patches};
pub(crate) use plan::{BlockPlan, MessagePlan, Placed, Plan};

use seamline_model::{Edit, Encoded, Span, Transcript};

/// Applies edits below the level of blocks, which need no dialect: those that
/// [are about bytes](Edit::is_bytes). Messages keep their order; their content must be read
/// again. If edits overlap, the first one is applied.
pub fn patch(transcript: &Transcript<'_>, edits: &[Edit]) -> Encoded {
    let mut patches: Vec<(Span, &str)> = edits
        .iter()
        .filter_map(|edit| match edit {
            Edit::Patch { span, text } => Some((*span, text.as_str())),
            Edit::DropMember { cut, .. } => Some((*cut, "")),
            _ => None,
        })
        .collect();
    patches.sort_by_key(|(span, _)| (span.start, span.end));
    let source = transcript.source;
    let mut out = Encoded {
        origins: transcript.enumerate().map(|(index, _)| Some(index)).collect(),
        landed: vec![None; edits.len()],
        ..Encoded::of(source, 0)
    };
    let whole = 0..source.body.len();
    for piece in if source.pieces.is_empty() { std::slice::from_ref(&whole) } else { source.pieces } {
        let mut at = piece.start;
        let first = patches.partition_point(|(span, _)| (span.start as usize) < piece.start);
        for (span, text) in &patches[first..] {
            let span = span.range();
            if span.start >= piece.end {
                break;
            }
            if span.start >= at && span.end <= piece.end {
                out.push(at..span.start, source.body);
                out.write(text, source.body);
                at = span.end;
            }
        }
        out.push(at..piece.end, source.body);
    }
    out
}

#[cfg(test)]
mod tests {
    use seamline_model::Source;

    use super::*;

    #[test]
    fn bytes_are_patched_in_the_body_and_in_what_was_written() {
        let pieces = [0..3, 9..14, 5..9];
        let mut transcript = Transcript::new(b"");
        transcript.source = Source { body: b"[a,bb,cc]", written: b"d,ee,", pieces: &pieces };
        let patch_at = |start, end, text: &str| Edit::Patch { span: Span::new(start, end), text: text.to_owned() };
        let cut = Span::new(10, 13);
        let edits = [
            patch_at(6, 8, "CC"),
            patch_at(1, 2, "A"),
            Edit::DropMember { cut, member: cut, lost: false },
            // A span that another edit changes already, and one that is in no piece.
            patch_at(11, 12, "E"),
            patch_at(3, 4, "B"),
        ];
        let patched = patch(&transcript, &edits);
        assert_eq!(transcript.source.joined(), b"[a,d,ee,,cc]");
        assert_eq!(patched.source(transcript.source.body).joined(), b"[A,d,,CC]");
    }
}

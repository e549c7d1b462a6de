//! Media by address and by MIME type.

use seamline_model::conversation::{Media, MediaKind, MediaSource};

/// Reads media from a URL, which may be a data URL.
pub(crate) fn linked(url: &str, kind: MediaKind) -> Media {
    let source = |source| Media::new(kind, source);
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(','));
    match data {
        Some((about, data)) => {
            let mime = about.split(';').next().filter(|mime| !mime.is_empty());
            let media = source(MediaSource::Data(data.to_owned()));
            Media { mime: mime.map(str::to_owned), kind: mime.map_or(kind, MediaKind::of_mime), ..media }
        }
        None => source(MediaSource::Url(url.to_owned())),
    }
}

/// Writes the URL of media: a data URL if the bytes are known.
pub(crate) fn data_url(media: &Media) -> Option<String> {
    match &media.source {
        MediaSource::Data(data) => Some(format!("data:{};base64,{data}", mime(media))),
        MediaSource::Url(url) => Some(url.clone()),
        MediaSource::File(..) => None,
    }
}

/// The MIME type of media, guessed where it is not known.
pub(crate) fn mime(media: &Media) -> String {
    let of_name = |name: &str| name.rsplit_once('.').and_then(|(_, end)| mime_of_extension(end));
    let named = match &media.source {
        MediaSource::Url(url) => of_name(url.split(['?', '#']).next().unwrap_or(url)),
        MediaSource::Data(_) | MediaSource::File(..) => None,
    };
    let fallback = match media.kind {
        MediaKind::Image => "image/png",
        MediaKind::Document => "application/pdf",
        MediaKind::Audio => "audio/wav",
        MediaKind::Video => "video/mp4",
    };
    let guessed = || named.or_else(|| media.name.as_deref().and_then(of_name)).unwrap_or(fallback).to_owned();
    media.mime.clone().unwrap_or_else(guessed)
}

/// The name of a file, with an extension for its type.
pub(crate) fn file_name(media: &Media) -> String {
    let name = media.name.as_deref().unwrap_or("document");
    match extension(&mime(media)) {
        Some(end) if !name.contains('.') => format!("{name}.{end}"),
        _ => name.to_owned(),
    }
}

/// MIME types and their file extensions.
const TYPES: &[(&str, &str)] = &[
    ("image/png", "png"),
    ("image/jpeg", "jpeg"),
    ("image/jpeg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("application/pdf", "pdf"),
    ("text/csv", "csv"),
    ("application/msword", "doc"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ("application/vnd.ms-excel", "xls"),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
    ("text/html", "html"),
    ("text/plain", "txt"),
    ("text/markdown", "md"),
    ("audio/wav", "wav"),
    ("audio/mpeg", "mp3"),
    ("audio/flac", "flac"),
    ("video/mp4", "mp4"),
    ("video/quicktime", "mov"),
    ("video/webm", "webm"),
    ("video/x-matroska", "mkv"),
];

/// Finds the file extension of a common MIME type.
pub(crate) fn extension(mime: &str) -> Option<&'static str> {
    TYPES.iter().find(|(known, _)| *known == mime).map(|(_, extension)| *extension)
}

/// Finds the MIME type of a file extension.
pub(crate) fn mime_of_extension(extension: &str) -> Option<&'static str> {
    let is_it = |known: &str| known.eq_ignore_ascii_case(extension);
    TYPES.iter().find(|(_, known)| is_it(known)).map(|(mime, _)| *mime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_in_an_address_are_taken_out_and_put_back() {
        let url = "data:image/jpeg;base64,/9j/4AA=";
        let media = linked(url, MediaKind::Image);
        assert_eq!(
            (media.mime.as_deref(), &media.source),
            (Some("image/jpeg"), &MediaSource::Data("/9j/4AA=".to_owned()))
        );
        assert_eq!(data_url(&media).as_deref(), Some(url));
    }

    #[test]
    fn a_type_is_guessed_from_the_end_of_an_address() {
        let media = linked("https://example.com/a.webp?size=2", MediaKind::Image);
        assert_eq!(mime(&media), "image/webp");
        assert_eq!(mime(&linked("https://example.com/a", MediaKind::Document)), "application/pdf");
    }
}

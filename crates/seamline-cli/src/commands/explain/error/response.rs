//! A response with its head, as `curl -i` prints it.

/// A response, split into head and body if it has a head.
pub(super) struct Response<'t> {
    pub(super) status: Option<u16>,
    pub(super) headers: Vec<(&'t str, &'t str)>,
    /// The body; the whole text if there is no head.
    pub(super) text: &'t str,
}

impl<'t> Response<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let mut response = Self { status: None, headers: Vec::new(), text };
        // Proxies and redirects put heads before the response's own head, which is the last.
        while let Some(next) = Self::headed(response.text) {
            response = next;
        }
        response
    }

    /// A response that starts with a head.
    fn headed(text: &'t str) -> Option<Self> {
        let mut rest = text.trim_start();
        let status = status(line(&mut rest))?;
        let mut headers = Vec::new();
        while !rest.is_empty() {
            match line(&mut rest) {
                "" => break,
                header => headers.extend(header.split_once(':').map(|(name, value)| (name.trim(), value.trim()))),
            }
        }
        Some(Self { status: Some(status), headers, text: rest })
    }
}

/// Splits the first line off a text.
fn line<'t>(rest: &mut &'t str) -> &'t str {
    let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
    *rest = after;
    line.trim_end_matches('\r')
}

/// The status of `HTTP/2 429` or `HTTP/1.1 429 Too Many Requests`.
fn status(line: &str) -> Option<u16> {
    let mut words = line.strip_prefix("HTTP/")?.split_whitespace();
    let is_version = words.next()?.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let status = words.next()?.parse().ok()?;
    (is_version && (100..600).contains(&status)).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_taken_off() {
        let text = "HTTP/2 429 \r\nRetry-After: 7\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n{\"a\":\n\n1}";
        let response = Response::of(text);
        assert_eq!((response.status, response.text), (Some(429), "{\"a\":\n\n1}"));
        assert_eq!(response.headers, [("Retry-After", "7"), ("date", "Sun, 06 Nov 1994 08:49:37 GMT")]);
    }

    #[test]
    fn the_last_of_several_heads_counts() {
        let text = "HTTP/1.1 200 Connection established\n\nHTTP/1.1 503 Service Unavailable\nretry-after-ms: 5\n";
        let response = Response::of(text);
        assert_eq!((response.status, response.text), (Some(503), ""));
        assert_eq!(response.headers, [("retry-after-ms", "5")]);
    }

    #[test]
    fn a_text_without_a_head_stays_unchanged() {
        for text in ["", "overloaded", "HTTP 429", "HTTP/1.1", "HTTP/x 429", "HTTP/2 twelve\n\nbody", "a\nHTTP/2 429"] {
            let response = Response::of(text);
            assert_eq!((response.status, response.headers.len(), response.text), (None, 0, text));
        }
    }
}

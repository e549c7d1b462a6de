//! What many programs say.

use super::Family;
use crate::kinds::{content, service, shape};
use crate::known::{broad, code, sentence};

pub(super) const FAMILY: Family = Family {
    name: "any",
    aliases: &[],
    dialects: &[],
    errors: &[
        sentence(
            "X-3",
            400,
            &content::CONTEXT_OVERFLOW,
            r"(?i)exceeds the available context size|greater than the context length|context window exceeds limit|is longer than the model's context length|`inputs` tokens \+ `max_new_tokens` must be|maximum context limit",
        ),
        // What gateways say that keep lists of words of their own.
        code("gateway words", 400, &content::CONTENT_FILTERED, r"sensitive_words_detected"),
        code("S0-42", 400, &shape::REJECTED_BODY, r"invalid_request_body"),
        // The words of a status without its number. They stand alone; prose has them too.
        broad(
            "status words",
            &service::OVERLOADED,
            r"(?i)(?:^ ?|[\x22'>]|error: )(?:5\d\d )?(?:(?:The )?service (?:is )?(?:currently |temporarily )?unavailable)\.?(?: ?$|[\x22'<])",
        ),
        broad(
            "status words",
            &service::SERVER_FAILED,
            r"(?i)(?:^ ?|[\x22'>]|error: )(?:5\d\d )?(?:internal server error|bad gateway|gateway time-?out)\.?(?: ?$|[\x22'<])",
        ),
        broad(
            "cut streams",
            &service::NETWORK_FAILED,
            r"(?i)peer closed connection without sending complete message body|incomplete chunked read|upstream connect error or disconnect/reset before headers|(?:^ ?|[\x22']|: )error decoding response body\.?(?: ?$|[\x22':])",
        ),
        broad(
            "X-2",
            &service::NETWORK_FAILED,
            r"(?i)(?:^ ?|[\x22']|: )terminated\.?(?: ?$|[\x22'])|ECONNRESET|socket hang up|connection (?:reset|closed|error)(?: by| before| unexpectedly| while|\.? ?$|\.?[\x22':,;()\[])|\btimed? ?out\b(?:[^!]|$)|deadline exceeded|fetch failed|premature close",
        ),
    ],
};

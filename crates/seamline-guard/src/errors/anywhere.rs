//! Error texts of many programs.

use super::Family;
use crate::kinds::{content, service, shape};
use crate::known::{broad, code, plain, sentence};

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
        // Gateways with their own word lists.
        code("gateway words", 400, &content::CONTENT_FILTERED, r"sensitive_words_detected"),
        code("S0-42", 400, &shape::REJECTED_BODY, r"invalid_request_body"),
        // Reason phrases without the status number.
        plain(
            "status words",
            &service::OVERLOADED,
            r"service (?:is )?(?:currently |temporarily )?unavailable|no healthy upstream",
        ),
        plain("status words", &service::SERVER_FAILED, r"internal server error|bad gateway"),
        plain("status words", &service::TIMED_OUT, r"gateway time-?out"),
        plain("status words", &service::RATE_LIMITED, r"rate limit (?:exceeded|reached)|too many requests"),
        broad(
            "cut streams",
            &service::NETWORK_FAILED,
            r"(?i)peer closed connection without sending complete message body|incomplete chunked read|upstream connect error or disconnect/reset before headers|stream error: stream ID \d+; [A-Z_]+|end of file before message length reached|connection refused \(os error \d+\)|\[Errno \d+\] connection refused|^ ?(?:error: )?connection refused\.? ?$",
        ),
        plain(
            "cut streams",
            &service::NETWORK_FAILED,
            r"error (?:decoding response body|reading a body from connection|sending request)|unexpected (?:EOF|end of file)|broken pipe|remote end closed connection|premature close",
        ),
        plain(
            "X-2",
            &service::TIMED_OUT,
            r"ETIMEDOUT|UND_ERR_\w+_TIMEOUT|tim(?:ed |e-?)out|deadline (?:exceeded|expired)|Client\.Timeout exceeded",
        ),
        plain(
            "X-2",
            &service::NETWORK_FAILED,
            r"terminated|ECONN(?:RESET|REFUSED|ABORTED)|EPIPE|E(?:NET|HOST)UNREACH|EAI_AGAIN|UND_ERR_SOCKET|socket hang up|connection (?:reset|closed|aborted|error|lost)|fetch failed|dns error|failed to lookup address information|temporary failure in name resolution|network (?:error|is unreachable)",
        ),
    ],
};

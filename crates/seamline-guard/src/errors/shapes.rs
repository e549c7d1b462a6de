//! Shapes of errors that many servers share: those of a template engine, of a JSON decoder or of a validator, and the
//! usual words about pairs. A known sentence of a provider says more, so this family comes last.

use super::{Family, anywhere};
use crate::kinds::{pairing, reasoning, service, shape};
use crate::known::{broad, sentence};

/// Matches a path into a message before the words of a validator: `messages.3.content: ` or `messages[3].content `.
macro_rules! path {
    () => {
        r"\b(?:messages|input|contents)(?:\.|\[)\d+[\w.\[\]-]*:? "
    };
}

/// Matches the place of an error in a list of errors: `"loc":["body","messages",3,"content"],"msg":"`.
macro_rules! loc {
    () => {
        r"[\x22']loc[\x22'] ?: ?[\[(] ?[\x22']body[\x22'], ?[\x22'](?:messages|input|contents)[\x22'], ?\d[^\])]{0,200}[\])], ?[\x22']msg[\x22'] ?: ?[\x22']"
    };
}

/// Matches the noun of a call: `tool_use block`, `tool calls`, `toolUse`.
macro_rules! call {
    () => {
        r"[`'\x22]?\b(?:tool|function)[ _-]?(?:calls?|uses?)\b[`'\x22]?(?: (?:blocks?|messages?|parts?|items?|turns?))?"
    };
}

/// Matches the noun of a result: `tool_result`, `function response`, `toolResult`.
macro_rules! result {
    () => {
        r"[`'\x22]?\b(?:tool|function)[ _-]?(?:(?:call|use)[ _-]?)?(?:results?|responses?|outputs?|messages?)\b[`'\x22]?"
    };
}

/// Matches the words of a validator about a wrong value.
macro_rules! wrong {
    () => {
        r"(?:Input should be|Input tag [^\n]{0,80} does not match|[Vv]alue is not a valid|str type expected|none is not an allowed value)"
    };
}

pub(super) const FAMILY: Family = Family {
    name: anywhere::FAMILY.name,
    errors: &[
        // Words about pairs.
        sentence(
            "pairs",
            400,
            &pairing::UNANSWERED_CALL,
            r"(?i)(?:tool|function)[ _-]?(?:calls?|uses?)[`'\x22]?(?: blocks?| messages?| parts?| turns?)?(?: with id)?(?:[ `'\x22]{1,2}[\w.:-]{1,140}[`'\x22]?)? must (?:each |always )?be (?:immediately |directly )?followed by (?:an? |the |its |their )?(?:matching |corresponding )?[`'\x22]?(?:tool|function)[ _-]?(?:call[ _-]?)?(?:message|result|response|output)",
        ),
        sentence(
            "pairs",
            400,
            &pairing::UNANSWERED_CALL,
            r"(?i)(?:tool|function)(?: call)? (?:results?|outputs?|responses?) (?:is|are) missing for (?:the )?(?:tool|function|call)",
        ),
        sentence(
            "pairs",
            400,
            &pairing::ORPHAN_RESULT,
            r"(?i)tool[ _-](?:message|result|response|output)s?(?: blocks?)?(?: [`'\x22]?[\w.:-]{1,140}[`'\x22]?)? (?:must|should|has to|have to|can only) (?:directly |immediately )?(?:follow|come after|be preceded by) (?:an? |the |its |their )?[`'\x22]?(?:assistant|tool[ _-]?(?:call|use))",
        ),
        sentence(
            "pairs",
            400,
            &pairing::ORPHAN_RESULT,
            r"(?i)\brole [`'\x22]?tool[`'\x22]? must (?:directly |immediately )?follow (?:an? |the )?(?:assistant )?message with [`'\x22]?tool[_ ]calls",
        ),
        sentence(
            "pairs",
            400,
            &pairing::ORPHAN_RESULT,
            r"(?i)\b(?:tool|function)[ _](?:result|response|output) (?:for|with)(?: the)? (?:call )?id[ (:`'\x22]{1,3}[\w.:-]{1,140}[)`'\x22]{0,2} (?:is |was )?not found\b",
        ),
        sentence(
            "pairs",
            400,
            &pairing::ORPHAN_RESULT,
            r"(?i)tool role,? but (?:there (?:was|is)|has) no (?:previous|preceding) (?:assistant )?message",
        ),
        sentence(
            "pairs",
            400,
            &pairing::ORPHAN_RESULT,
            r"(?i)\b(?:tool|function)[ _-]?(?:call[ _-]?|use[ _-]?)?(?:with (?:the )?)?ids?[ (:`'\x22]{1,3}[\w.:-]{1,140}[)`'\x22]{0,2} (?:is |was |were )?not found\b",
        ),
        sentence(
            "pairs",
            400,
            &pairing::ORPHAN_RESULT,
            r"(?i)\b(?:does not match any|(?:has|have|with|there (?:is|was)) no|no) (?:matching|corresponding|preceding|previous|earlier|prior) [`'\x22]?(?:tool|function)[ _-]?(?:calls?|uses?)\b|\bdoes not match any [`'\x22]?(?:tool|function)[ _-]?(?:calls?|uses?)\b",
        ),
        sentence(
            "pairs",
            400,
            &pairing::ORPHAN_RESULT,
            r"(?i)\bcall[ _]?id [`'\x22]?[\w.:-]{1,140}[`'\x22]? (?:is |was )?not found in (?:the )?(?:conversation|history|messages|input|transcript)\b",
        ),
        sentence(
            "pairs",
            400,
            &pairing::ORPHAN_RESULT,
            r"(?i)\b(?:orphan(?:ed)?|dangling|unmatched|stray) [`'\x22]?(?:tool|function)[ _-](?:call[ _-])?(?:result|output|response|message)s?\b",
        ),
        sentence(
            "pairs",
            400,
            &pairing::UNANSWERED_CALL,
            r"(?i)\b(?:orphan(?:ed)?|dangling|unanswered|unmatched) [`'\x22]?(?:tool|function)[ _-]?(?:call|use)s?\b",
        ),
        sentence(
            "pairs",
            400,
            &pairing::UNANSWERED_CALL,
            r"(?i)(?:tool|function)[ _-]?(?:calls?|uses?)\b[^\n.]{0,160} (?:was|were|is|are) not (?:immediately |directly )?followed by\b",
        ),
        sentence(
            "pairs",
            400,
            &pairing::UNANSWERED_CALL,
            r"(?i)\bmissing (?:tool|function) (?:results?|outputs?|responses?) for (?:the )?(?:following )?(?:tool|function)[ _-]?calls?|\bexpected (?:a )?tool message after (?:an? )?assistant message with tool calls",
        ),
        sentence(
            "pairs",
            400,
            &pairing::UNANSWERED_CALL,
            concat!(
                "(?i)",
                call!(),
                r"[^\n.;]{0,160} (?:has|have|had|is|are|was|were)(?: (?:no|without|missing|lacking)|n't| not)(?: (?:an?|any|its|the|have))? (?:matching |corresponding |following |associated )?",
                result!()
            ),
        ),
        sentence(
            "pairs",
            400,
            &pairing::ORPHAN_RESULT,
            concat!(
                "(?i)",
                result!(),
                r"[^\n.;]{0,160} (?:has|have|had|is|are|was|were)(?: (?:no|without|missing|lacking)|n't| not)(?: (?:an?|any|its|the|have))? (?:matching |corresponding |preceding |previous |prior |earlier |associated )(?:assistant (?:message with )?)?",
                call!()
            ),
        ),
        sentence(
            "pairs",
            400,
            &pairing::ORPHAN_RESULT,
            concat!(
                "(?i)",
                result!(),
                r"[^\n.;]{0,160} (?:do(?:es)?|did)(?:n't| not) (?:correspond to|match|belong to|refer to|reference|answer|have) (?:an?|any) (?:known |open |pending |existing |matching |corresponding |preceding |previous |prior |earlier )?(?:assistant (?:message with )?)?",
                call!()
            ),
        ),
        sentence(
            "pairs",
            400,
            &pairing::ORPHAN_RESULT,
            concat!(
                r"(?i)\b(?:tool_call_id|tool_use_id|toolUseId|call_id)\b[^\n.;]{0,150} (?:is |was )?(?:not found|missing|unknown|not (?:present|known)|does not (?:exist|appear)) (?:in|among) (?:the |any |all )?(?:previous|preceding|prior|earlier|pending|open) (?:assistant (?:message's )?)?",
                call!()
            ),
        ),
        sentence(
            "pairs",
            400,
            &pairing::UNEQUAL_RESULTS,
            concat!(
                r"(?i)\bexpect(?:ed|ing|s)? (?:exactly |at least )?\d{1,6} ",
                result!(),
                r",? (?:but |and )?(?:got|found|received|was given|were given|has|there (?:is|are|was|were))(?: only)? (?:\d{1,6}|none|zero|one)\b|\b(?:got|found|received) (?:only )?(?:\d{1,6}|none|zero|one) ",
                result!(),
                r"[^\n.;]{0,40} (?:expected|for) \d{1,6}\b"
            ),
        ),
        sentence(
            "signatures",
            400,
            &reasoning::MISSING_SIGNATURE,
            r"(?i)\bthought[ _]?signature[`'\x22]? (?:is |are |was )?(?:required|missing|mandatory|not (?:provided|present|set))|\b(?:missing|lacks|requires?|without) (?:an? |the |its )?[`'\x22]?thought[ _]?signature\b",
        ),
        // Members of messages, as decoders of Go, pydantic and Rust report them.
        sentence(
            "Go members",
            400,
            &pairing::CALL_INPUT,
            r"cannot unmarshal \w+ into Go struct field (?:[\w.]*\.(?:messages|input)[\w.]*\.arguments of type|[\w.]+ of type (?:\w+\.)?ToolCallFunctionArguments)",
        ),
        sentence(
            "Go members",
            400,
            &shape::CONTENT_FORM,
            r"cannot unmarshal \w+ into Go struct field [\w.]*\.(?:messages|input)(?:\.content)? of type string",
        ),
        sentence(
            "Go members",
            400,
            &shape::WRONG_MEMBER,
            r"cannot unmarshal \w+ into Go struct field [\w.]*\.(?:messages|input|contents)(?:\.[\w.]+)? of type",
        ),
        // The field of a setting, or of a response that a gateway cannot read: with a status 500 it may pass.
        broad("Go members", &service::WRONG_SETTING, r"cannot unmarshal \w+ into Go (?:struct field|value)"),
        broad(
            "pydantic members",
            &pairing::UNADDRESSED_RESULT,
            r"\b\d+\.(?:\w*(?:Tool|Function)\w*\.)?(?:tool_call_id|tool_use_id|call_id)\b:?\s{1,4}(?:[Ff]ield required|is (?:missing|required)\b)",
        ),
        broad(
            "pydantic members",
            &shape::MISSING_MEMBER,
            concat!(path!(), r"[Ff]ield required|", loc!(), "[Ff]ield required"),
        ),
        broad("pydantic members", &shape::WRONG_MEMBER, concat!(path!(), wrong!(), "|", loc!(), wrong!())),
        // The same, with the path after the words.
        broad(
            "pydantic members",
            &shape::WRONG_MEMBER,
            concat!(wrong!(), r"[^\n]{0,80} (?:at|in|for|of) [`'\x22]?(?:messages|input|contents)(?:\.|\[)\d"),
        ),
        broad(
            "pydantic members",
            &shape::MISSING_MEMBER,
            r"\b(?:[Ff]ield|[Vv]alue|[Mm]ember|[Pp]roperty) (?:is )?(?:required|missing) (?:at|in|for) [`'\x22]?(?:messages|input|contents)(?:\.|\[)\d",
        ),
        broad(
            "missing members",
            &pairing::UNADDRESSED_RESULT,
            r"\b(?:messages|input|contents)[\w.\[\]]*: missing field [`'\x22](?:call_id|tool_call_id|tool_use_id|id)[`'\x22]",
        ),
        broad(
            "missing members",
            &shape::MISSING_MEMBER,
            r"\b(?:messages|input|contents)[\w.\[\]]*: missing field [`'\x22]\w+[`'\x22]",
        ),
        broad(
            "roles",
            &shape::UNSUPPORTED_ROLE,
            r"\b(?:messages|input|contents)(?:\.|\[)\d+\]?\.role: unknown variant|[`'\x22](?:messages|input|contents)(?:\.|\[)\d+\]?\.role[`'\x22] does not support",
        ),
        broad(
            "serde members",
            &shape::UNSUPPORTED_ROLE,
            r"\b(?:messages|input|contents)\[\d+\]: unknown variant [`'\x22][^`'\x22\n]{0,80}[`'\x22], expected (?:one of )?(?:[`'\x22]\w{1,20}[`'\x22],? (?:or )?){0,4}[`'\x22](?:system|user|assistant)[`'\x22]",
        ),
        broad(
            "serde members",
            &shape::MISSING_CONTENT,
            r"\b(?:messages|input|contents)\[\d+\](?:\.content|\.output)?: invalid type: null",
        ),
        broad(
            "serde members",
            &shape::WRONG_MEMBER,
            r"\b(?:messages|input|contents)\[\d+\][\w.\[\]]*: (?:unknown variant [`'\x22]|invalid (?:type|value|length): |data did not match any variant)",
        ),
        broad(
            "serde members",
            &shape::WRONG_MEMBER,
            r"data did not match any variant of untagged enum \w*(?:Message|Content|Input|Item|Part)",
        ),
        broad(
            "zod members",
            &shape::WRONG_MEMBER,
            r"[\x22']path[\x22'] ?: ?\[ ?[\x22'](?:messages|input|contents)[\x22'], ?\d+[^\]\n]{0,200}\], ?[\x22']message[\x22'] ?: ?[\x22'](?:Expected|Invalid|Required)",
        ),
        // As chat templates and small servers say it, also with status 500.
        sentence(
            "roles",
            400,
            &shape::UNSUPPORTED_ROLE,
            r"(?i)\b(?:unsupported|unexpected|unknown|invalid) role\b[ :]{1,2}[`'\x22]?(?:tool|function|system|developer)\b|\brole[ :=]{1,2}[`'\x22]?(?:tool|function|system|developer)[`'\x22]? (?:is |are )?(?:not supported|unsupported|not allowed)|\bgot role:? [`'\x22]?\w+|\bUnexpected message role\b",
        ),
        broad(
            "unknown members",
            &shape::UNKNOWN_FIELD,
            r"(?:unknown|[Uu]nrecogni[sz]ed) field [`'\x22]\w+[`'\x22]|Additional properties are not allowed \([`'\x22]|Unrecognized key(?:s|\(s\))?(?: in object)?: [`'\x22]|\b(?:messages|input|contents)(?:\[|[./])\d+[\w.\[\]/]* must NOT have additional properties",
        ),
        sentence(
            "chat templates",
            500,
            &shape::NO_USER_MESSAGE,
            r"(?i)\bcannot put [\w ]{1,40} (?:in|into|before|without) (?:an? |the )?(?:first )?user (?:message|query|turn|prompt)|\bthere(?:'s| is| was) no (?:first )?user (?:message|query|turn)\b|\bno (?:first )?user (?:message|query|turn) (?:was |is )?(?:found|present|given)\b",
        ),
        sentence(
            "chat templates",
            500,
            &service::TEMPLATE_FAILED,
            r"(?i)\bthis model (?:only )?(?:supports|accepts|allows) (?:only )?(?:a )?single tool[- ]calls?\b|\bmodel (?:only )?supports (?:only )?one tool call at (?:once|a time)\b",
        ),
        // Any other complaint of a template.
        sentence(
            "Go templates",
            500,
            &service::TEMPLATE_FAILED,
            r"error (?:rendering|executing) template: template:|\btemplate: [^\n]{0,80}: executing [^\n]{0,80} at <",
        ),
        // A value that the template calls, walks or reads is missing.
        sentence(
            "Jinja templates",
            500,
            &service::TEMPLATE_FAILED,
            r"Value is not callable: \w+ at row \d|Expected iterable or object type in for loop: got \w+|'dict object' has no attribute '\w",
        ),
        sentence(
            "Jinja templates",
            500,
            &service::TEMPLATE_FAILED,
            r"(?i:jinja exception: )|\braise_exception\(['\x22]|\bjinja2\.exceptions\.\w|(?i:error rendering prompt with jinja template)|Unable to generate parser for this template|at row \d+, column \d+:[^{]{0,200}\{[%{]",
        ),
    ],
    ..Family::NONE
};

//! Methods on request bodies and on errors of providers.

use seamline::check::Checked;
use seamline::classify::causes;
use seamline::convert::ConvertOptions;
use seamline::json::GivenFailure;
use seamline::report::{ConversionReport, RepairReport, VerdictReport};
use seamline::{Finding, Options};
use serde::Serialize;

use crate::RpcError;
use crate::body::{BODY, Written, given};
use crate::message::{Outcome, json};
use crate::params::Params;
use crate::table::{Method, Param, Run, Type, may, need};

const OPTIONS: &[Param] = &[may(
    "options",
    Type::Options,
    "`dialect`, `provider`, `model`, `signatures`, `policy` (a preset, a policy file or an object), `kept`, `order`.",
)];

pub(super) const GROUPS: &[&[Method]] = &[&[
    Method {
        name: "check",
        doc: "Reports what is wrong with a request body.",
        params: &[BODY, OPTIONS],
        returns: "`dialect`, `provider`, `messages`, `calls`, `findings`, `accepted`, and `note` if there is one",
        run: Run::Pure(check),
    },
    Method {
        name: "repair",
        doc: "Repairs a request body as far as the policy allows.",
        params: &[BODY, OPTIONS],
        returns: "the report (`changed`, `sendable`, `found`, `actions`, `remaining`, `dropped`, …), and the new body \
                      under `body`, `text` or `base64`, as it was given, if it changed",
        run: Run::Pure(repair),
    },
    Method {
        name: "convert",
        doc: "Writes a request body for another provider.",
        params: &[
            BODY,
            &[need(
                "options",
                Type::Options,
                "`to`, and where needed `from`, `model`, `policy`, `reasoning` (`drop` or `text`), `kept`, `order`.",
            )],
        ],
        returns: "the report (`complete`, `lost`, `ids`, `tools`, `repairs`, `adjustments`, `remaining`, …), and the \
                      new body under `body`, `text` or `base64`",
        run: Run::Pure(convert),
    },
    Method {
        name: "classify",
        doc: "Explains an error of a provider and finds its causes in the request body.",
        params: &[
            &[need(
                "error",
                Type::Json,
                "The text of the error, or an object with `text`, `status`, `headers`, `provider`, `dialect`.",
            )],
            BODY,
            OPTIONS,
        ],
        returns: "`class` (`corruption`, `transient`, `overflow`, `filter` or `fatal`), `meaning`, `advice`, `rules`, \
                      `place`, `members`, `retry_after_ms`, `causes` (findings of the body, if one was given), …",
        run: Run::Pure(classify),
    },
    Method {
        name: "explain",
        doc: "Explains a code, such as `PAIR001`.",
        params: &[&[need("code", Type::Text, "The code or the name of a rule, or of a defect of a stream or a file.")]],
        returns: "`code`, `name`, `severity`, `documentation` (Markdown)",
        run: Run::Pure(explain),
    },
]];

fn options(params: &Params<'_>) -> Result<Options, RpcError> {
    Ok(Options::from_json(&params.value("options")?)?)
}

fn check(params: &Params<'_>) -> Outcome {
    #[derive(Serialize)]
    struct Report<'a> {
        #[serde(flatten)]
        checked: &'a Checked,
        accepted: bool,
    }
    let checked = seamline::check(&given(params)?.0, &options(params)?)?;
    json(&Report { accepted: checked.is_accepted(), checked: &checked })
}

fn repair(params: &Params<'_>) -> Outcome {
    #[derive(Serialize)]
    struct Report<'a> {
        #[serde(flatten)]
        report: RepairReport<'a>,
        #[serde(flatten)]
        body: Option<Written>,
    }
    let (body, form) = given(params)?;
    let repaired = seamline::repair(&body, &options(params)?)?;
    let body = repaired.is_changed().then(|| Written::of(&repaired.body, form));
    json(&Report { report: repaired.report(), body })
}

fn convert(params: &Params<'_>) -> Outcome {
    #[derive(Serialize)]
    struct Report<'a> {
        #[serde(flatten)]
        report: ConversionReport<'a>,
        #[serde(flatten)]
        body: Written,
    }
    let (body, form) = given(params)?;
    let converted = seamline::convert(&body, &ConvertOptions::from_json(&params.value("options")?)?)?;
    json(&Report { report: converted.report(), body: Written::of(&converted.body, form) })
}

fn classify(params: &Params<'_>) -> Outcome {
    #[derive(Serialize)]
    struct Report<'a> {
        #[serde(flatten)]
        verdict: VerdictReport<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        causes: Option<Vec<&'a Finding>>,
    }
    let failure = GivenFailure::from_json(&params.value("error")?)?;
    let verdict = seamline::classify(&failure.failure(&failure.headers()));
    let has_body = BODY.iter().any(|param| params.raw(param.name).is_some());
    let checked = if has_body { Some(seamline::check(&given(params)?.0, &options(params)?)?) } else { None };
    let causes = checked.as_ref().map(|checked| causes(&verdict, checked));
    json(&Report { verdict: VerdictReport::of(&verdict), causes })
}

fn explain(params: &Params<'_>) -> Outcome {
    #[derive(Serialize)]
    struct Report {
        code: &'static str,
        name: &'static str,
        severity: &'static str,
        documentation: String,
    }
    let code = params.needed("code")?;
    let rule = || {
        let rule = seamline::rules::rule(&code)?;
        let documentation = seamline::rules::documentation(rule);
        Some(Report { code: rule.code, name: rule.name, severity: rule.severity.as_str(), documentation })
    };
    let flaw = || {
        let flaw = seamline::stream::flaw(&code)?;
        let documentation = seamline::stream::flaw_documentation(flaw);
        Some(Report { code: flaw.code, name: flaw.name, severity: flaw.severity.as_str(), documentation })
    };
    let defect = || {
        let defect = seamline::files::defect(&code)?;
        let severity = seamline::files::defect_severity(defect).as_str();
        let documentation = seamline::files::defect_documentation(defect);
        Some(Report { code: defect.code, name: defect.name, severity, documentation })
    };
    let found = rule().or_else(flaw).or_else(defect);
    json(
        &found
            .ok_or_else(|| RpcError::failed("unknown_code", format!("no rule has the code or name `{code}`"), None))?,
    )
}

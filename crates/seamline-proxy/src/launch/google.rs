//! Gemini CLI: a variable for each API. A login with a Google account uses another API.

use super::json::parse;
use super::{Channel, Launch, Surroundings};

const GEMINI: &str = "GOOGLE_GEMINI_BASE_URL";
const VERTEX: &str = "GOOGLE_VERTEX_BASE_URL";

pub(super) fn fill(launch: &mut Launch, around: &Surroundings) {
    let settings = around.read_in_home(".gemini/settings.json").map(|text| parse(&text)).unwrap_or_default();
    let login = settings.pointer("/security/auth/selectedType").and_then(|login| login.as_str()).unwrap_or_default();
    let has_key = around.variable("GEMINI_API_KEY").is_some() || around.variable("GOOGLE_API_KEY").is_some();
    if login.starts_with("oauth") && !has_key {
        launch.notes.push(
            "Gemini CLI is logged in with a Google account, whose API the proxy does not read; hint: set \
             `GEMINI_API_KEY` to have its requests checked"
                .to_owned(),
        );
    }
    launch.redirect(Channel::Variable(GEMINI), ("gemini", ""), around.variable(GEMINI));
    let location = around.variable("GOOGLE_CLOUD_LOCATION").filter(|location| *location != "global");
    let regional = location.map(|location| format!("https://{location}-aiplatform.googleapis.com"));
    let current = around.variable(VERTEX).map(str::to_owned).or(regional);
    launch.redirect(Channel::Variable(VERTEX), ("vertex", ""), current.as_deref());
}

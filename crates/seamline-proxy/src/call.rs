//! A request to a model, until its response has ended.

use std::sync::Arc;
use std::time::SystemTime;

use seamline::stream::Ending;

use crate::facts::Facts;
use crate::identity::model_of;
use crate::report::{Finished, Reporter, ResponseFacts};

/// A request to a model whose end is reported. Without an end of its own it was cancelled.
pub(crate) struct ModelCall {
    reporter: Arc<dyn Reporter>,
    finished: Option<Finished>,
}

impl ModelCall {
    /// A request that begins; `None` where the reporter does not ask for its end.
    pub(crate) fn begin(facts: &Facts, request_model: Option<String>) -> Option<Self> {
        let dialect = facts.dialect.filter(|_| facts.reporter.wants_finished())?;
        let now = SystemTime::now();
        let finished = Finished {
            upstream: facts.upstream_name().to_owned(),
            provider: facts.upstream.as_ref().and_then(|upstream| upstream.provider.clone()),
            dialect,
            request_model,
            response: ResponseFacts::default(),
            status: None,
            error: None,
            began: now,
            ended: now,
        };
        Some(Self { reporter: Arc::clone(&facts.reporter), finished: Some(finished) })
    }

    /// Notes the model that the body names, if the URL names none.
    pub(crate) fn find_model(&mut self, body: &[u8]) {
        if let Some(finished) = self.finished.as_mut().filter(|finished| finished.request_model.is_none()) {
            finished.request_model = model_of(body);
        }
    }

    /// Notes the status of the response.
    pub(crate) fn set_status(&mut self, status: u16) {
        if let Some(finished) = &mut self.finished {
            finished.status = Some(status);
        }
    }

    /// Reports the end of the response, with an error if it did not end well.
    pub(crate) fn finish(mut self, response: ResponseFacts, error: Option<&'static str>) {
        self.report(response, error);
    }

    fn report(&mut self, response: ResponseFacts, error: Option<&'static str>) {
        let Some(finished) = self.finished.take() else { return };
        let rejected = finished.status.filter(|status| *status >= 400).map(|status| status.to_string());
        let error = rejected.or(error.map(str::to_owned));
        self.reporter.finish(&Finished { response, error, ended: SystemTime::now(), ..finished });
    }
}

impl Drop for ModelCall {
    fn drop(&mut self) {
        self.report(ResponseFacts::default(), Some("cancelled"));
    }
}

/// The type of the error that an ending is.
pub(crate) fn error_of(ending: Ending) -> Option<&'static str> {
    match ending {
        Ending::Complete | Ending::Length | Ending::CutCall | Ending::Steered | Ending::Filtered => None,
        Ending::Failed => Some("failed"),
        Ending::Truncated => Some("truncated"),
        Ending::Stalled => Some("stalled"),
        Ending::Aborted => Some("cancelled"),
    }
}

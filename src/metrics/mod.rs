//! The metrics of a running server, as Prometheus reads them: `GET /metrics` on the operators'
//! listener.
//!
//! Events are counted where they happen, by plain atomics; here it is only read, when somebody
//! asks. So a scrape costs what reading a few thousand numbers costs, and no request waits for it.
//! Every figure has a help line, and `docs/operating.md` says what to do about those that call for
//! it.
//!
//! The list of figures and the way in which they are written belong here; counting does not. It
//! must not change anything.
//!
//! Layout: `page` what there is to see, in order · `money` what of it is business · `text` how it is
//! written · `process` what the kernel knows.

mod money;
mod page;
mod process;
mod text;

use crate::gateway::services::Services;
use crate::http::listen::Traffic;
use crate::http::respond::Reply;
use crate::http::tls::Certificates;
use crate::selfcheck::SelfCheck;
use api::problem::Problem;
use hyper::Method;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use std::sync::Arc;
use std::time::SystemTime;

pub const PATH: &str = "/metrics";
/// Prometheus' text format.
const MEDIA: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The parts that the metrics are read from.
pub struct Metrics {
    services: Arc<Services>,
    selfcheck: Arc<SelfCheck>,
    traffic: [(&'static str, Arc<Traffic>); 2],
    certificates: Vec<Arc<Certificates>>,
    ended_badly: Option<SystemTime>,
    is_open: bool,
    started: SystemTime,
}

impl Metrics {
    /// The metrics of these parts, with the listeners by name. `ended_badly`: when a run before
    /// ended because it might not go on. `is_open`: nobody is asked for a token.
    pub fn new(
        services: Arc<Services>,
        selfcheck: Arc<SelfCheck>,
        traffic: [(&'static str, Arc<Traffic>); 2],
        certificates: Vec<Arc<Certificates>>,
        ended_badly: Option<SystemTime>,
        is_open: bool,
    ) -> Metrics {
        Metrics {
            services,
            selfcheck,
            traffic,
            certificates,
            ended_badly,
            is_open,
            started: SystemTime::now(),
        }
    }

    /// Whether everybody may look who reaches the listener.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// The answer to a scrape.
    pub fn answer(&self, method: &Method) -> Result<Reply, Problem> {
        match *method {
            Method::GET | Method::HEAD => Ok(Reply::new(200, MEDIA, page::write(self))
                .header(CACHE_CONTROL, HeaderValue::from_static("no-store"))),
            _ => Err(Problem::method_not_allowed("GET, HEAD".into())),
        }
    }
}

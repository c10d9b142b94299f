//! `GET /metrics` on the operators' listener, as Prometheus reads it. Events are counted where they
//! happen, by plain atomics; here it is only read, so a scrape costs what reading a few thousand
//! numbers costs, and no request waits for it. Every figure has a help line, and
//! `docs/operating.md` says what to do about those that call for it.

mod money;
mod page;
mod process;
mod text;

pub use page::standby;

use crate::gateway::services::Services;
use crate::http::listen::Traffic;
use crate::http::respond::Reply;
use crate::http::tls::Certificates;
use api::problem::Problem;
use hyper::Method;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use std::sync::Arc;
use std::time::SystemTime;

pub const PATH: &str = "/metrics";
const MEDIA: &str = "text/plain; version=0.0.4; charset=utf-8";

pub struct Metrics {
    pub(crate) services: Arc<Services>,
    pub(crate) traffic: [(&'static str, Arc<Traffic>); 2],
    pub(crate) certificates: Vec<Arc<Certificates>>,
    /// When a run before ended because it might not go on.
    pub(crate) ended_badly: Option<SystemTime>,
    /// Nobody is asked for a token.
    pub(crate) is_open: bool,
    pub(crate) started: SystemTime,
}

impl Metrics {
    pub fn answer(&self, method: &Method) -> Result<Reply, Problem> {
        match *method {
            Method::GET | Method::HEAD => Ok(Reply::new(200, MEDIA, page::write(self))
                .header(CACHE_CONTROL, HeaderValue::from_static("no-store"))),
            _ => Err(Problem::method_not_allowed("GET, HEAD".into())),
        }
    }
}

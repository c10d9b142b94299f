//! The endpoints of everybody (interface A): tenants' fees and histories of rates, and what browsers and
//! caches need: CORS for the operator's own sites, ETag, 304.
//!
//! No key is asked for, and nothing is written. It must not know what a rate or a fee is.

use crate::gateway::dispatch::Request;
use crate::gateway::services::{Prices, Services};
use crate::http::body::without_unexpected;
use crate::http::documents;
use crate::http::listen::Arrival;
use crate::http::respond::Reply;
use api::problem::Problem;
use api::public::routes::PublicRoute;
use api::public::{PublicCall, history, latest};
use domain::resources::rates::samples::{Pair, Series};
use domain::resources::rates::withdrawals::{Policy, Withdrawals};
use domain::values::ids::{Id, Mode};
use domain::values::money::Currency;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, CACHE_CONTROL, ETAG, HeaderMap,
    HeaderValue, ORIGIN, VARY,
};
use sha2::{Digest, Sha256};
use std::sync::Arc;

const VARIES: HeaderValue = HeaderValue::from_static("Origin");

/// The mode whose prices are shown: they are referential, and nothing is priced by them.
const MODE: Mode = Mode::Test;

pub struct Public {
    services: Arc<Services>,
    origins: Vec<HeaderValue>,
    withdrawals: Withdrawals,
    policy: Policy,
}

impl Public {
    pub fn new(
        services: Arc<Services>,
        origins: &[String],
        withdrawals: Withdrawals,
        policy: Policy,
    ) -> Public {
        let origins = origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok()).collect();
        Public { services, origins, withdrawals, policy }
    }

    /// Answers a browser's CORS preflight request. The answer is alike on every path; only the
    /// operator's sites are told that they may go on.
    pub fn preflight(&self, headers: &HeaderMap) -> Reply {
        let reply = Reply::empty(204)
            .header(ALLOW, HeaderValue::from_static("GET, HEAD, OPTIONS"))
            .header(VARY, VARIES);
        match headers.get(ORIGIN) {
            Some(origin) if self.origins.contains(origin) => reply
                .header(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, OPTIONS"))
                .header(
                    ACCESS_CONTROL_ALLOW_HEADERS,
                    HeaderValue::from_static("x-tenant-id, x-request-id, if-none-match"),
                )
                .header(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600")),
            _ => reply,
        }
    }

    fn policy_of(&self, headers: &HeaderMap) -> Result<Option<&Policy>, Problem> {
        let Some(named) = headers.get("x-tenant-id") else { return Ok(None) };
        let id = named.to_str().ok().and_then(Id::parse);
        let Some(tenant) = id.and_then(|id| self.services.callers.directory.tenant(id)) else {
            return Err(Problem::refused(404, "not_found", "x-tenant-id names no tenant"));
        };
        match self.withdrawals.policy(&tenant.tenant_settings.settings.withdraw_fee_policy) {
            Some(policy) => Ok(Some(policy)),
            None => Err(Problem::internal_error(format!(
                "the settings of tenant {} name a policy of fees that is not there",
                tenant.id
            ))),
        }
    }

    pub fn answer(&self, route: &PublicRoute, asked: Request<'_>) -> Result<Reply, Problem> {
        let (services, head) = (&*self.services, &asked.arrival.head);
        let named = if route.of_tenant { self.policy_of(&head.headers)? } else { None };
        let now = services.now();
        let call = PublicCall {
            query: head.uri.query(),
            now,
            latest: &|pair, filter| {
                let latest = services.prices.board.latest_of(
                    pair,
                    |series| filter.admits(series) && services.prices.is_public(series),
                    MODE,
                    now,
                );
                latest.map(|found| found.sample)
            },
            floor: &|| services.prices.market.sample(Currency::Ves, MODE, now),
            // Nothing is read for a call that is refused.
            history: &|ask| match asked.unexpected.is_empty() {
                true => read_history(&services.prices, ask),
                false => Ok(Vec::new()),
            },
            withdrawals: &self.withdrawals,
            policy: named.unwrap_or(&self.policy),
        };
        let body = without_unexpected((route.endpoint.handler)(&call), asked.unexpected.clone())?;
        Ok(fresh(route, &head.headers, body))
    }

    pub fn refused(problem: &Problem, arrival: &Arrival) -> Reply {
        let reply = Reply::public_problem(problem, &arrival.request_id);
        reply.header(CACHE_CONTROL, HeaderValue::from_static("no-store")).header(VARY, VARIES)
    }

    /// The operator's own sites may read every answer.
    pub fn for_browsers(&self, reply: Reply, arrival: &Arrival) -> Reply {
        match arrival.head.headers.get(ORIGIN).filter(|origin| self.origins.contains(origin)) {
            Some(origin) => reply.header(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone()).header(
                ACCESS_CONTROL_EXPOSE_HEADERS,
                HeaderValue::from_static("etag, x-request-id, retry-after"),
            ),
            None => reply,
        }
    }
}

const PAIRS: [Pair; 3] = [Pair::USD_VES, Pair::USDT_VES, Pair::USDT_COP];
/// Sources and sides that `docs/contract.md, 14.1` names.
const NAMES: [&str; 6] = ["p2p", "bcv", "BUY", "SELL", "FLOOR", "OFFICIAL"];

fn read_history(prices: &Prices, ask: &history::Ask) -> Result<Vec<u8>, Problem> {
    let mut lines = prices.history.lines(ask.pair, ask.filter());
    lines.retain(|line| prices.is_public(&line.series));
    // A documented pair or source without samples has an empty history; an unknown one is a 404.
    let bears = |series: &Series, name: &str| *series.source == *name || series.side.as_deref() == Some(name);
    let is_known = |name: &str| {
        NAMES.contains(&name) || prices.history.has(|series| prices.is_public(series) && bears(series, name))
    };
    if lines.is_empty() && !(PAIRS.contains(&ask.pair) && ask.names().all(is_known)) {
        return Err(latest::no_rate());
    }
    let read = || {
        let window = ask.window(prices.history.begins(&lines)?);
        let step = ask.step(window);
        let points = prices.history.history(&lines, step, window, ask.newest_first, ask.limit)?;
        Ok(history::show(ask, step, &points))
    };
    read().map_err(|error: crate::rates::RateStoreError| Problem::internal_error(error))
}

fn fresh(route: &PublicRoute, headers: &HeaderMap, body: Vec<u8>) -> Reply {
    let hash: [u8; 32] = Sha256::digest(&body).into();
    let tag = format!("\"{}\"", hex::encode(&hash[..16]));
    let is_known = documents::is_known(headers, tag.as_bytes());
    let mut reply = if is_known { Reply::empty(304) } else { Reply::json(200, body) };
    for (name, text) in [(ETAG, tag), (CACHE_CONTROL, format!("public, max-age={}", route.fresh_seconds))] {
        if let Ok(value) = HeaderValue::try_from(text) {
            reply = reply.header(name, value);
        }
    }
    reply.header(VARY, if route.of_tenant { HeaderValue::from_static("Origin, x-tenant-id") } else { VARIES })
}

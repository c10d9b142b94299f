//! R4's calls: the question before a transfer, and the notice of one. R4 proves itself by a UUID that
//! it was given, and by the address that it calls from; what a proxy says about that is not read.

use crate::gateway::notices::knows_payer;
use crate::gateway::services::Services;
use crate::http::listen::Arrival;
use crate::http::respond::Reply;
use crate::rails::r4::notice::{self, Foreign, Malformed, Said};
use crate::rails::secret::ApiSecret;
use api::problem::Problem;
use api::writer::Object;
use domain::entities::notice::Transfer;
use domain::values::venezuela::MobilePhone;
use hyper::header::AUTHORIZATION;
use ipnet::IpNet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use subtle::ConstantTimeEq;

#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The value of `Authorization`; without it all of its calls are refused.
    pub callback_uuid: Option<ApiSecret>,
    /// The networks that it calls from; none: from anywhere.
    pub callback_sources: Vec<IpNet>,
    pub commerce_phone: Option<MobilePhone>,
}

impl Settings {
    pub(super) fn admits(&self, arrival: &Arrival) -> bool {
        let peer = arrival.peer.ip().to_canonical();
        let sources = &self.callback_sources;
        let mut sent = arrival.head.headers.get_all(AUTHORIZATION).iter();
        let (Some(expected), Some(given), None) = (&self.callback_uuid, sent.next(), sent.next()) else {
            return false;
        };
        let (expected, given) =
            (expected.expose().to_ascii_lowercase(), given.as_bytes().to_ascii_lowercase());
        let is_known = bool::from(expected.as_bytes().ct_eq(&given));
        is_known && (sources.is_empty() || sources.iter().any(|source| source.contains(&peer)))
    }
}

pub(super) fn abono(status: u16, is_taken: bool) -> Reply {
    Reply::json(status, Object::new().boolean("abono", is_taken).end())
}

pub(super) fn status(status: u16, is_welcome: bool) -> Reply {
    Reply::json(status, Object::new().boolean("status", is_welcome).end())
}

/// The answer to whether a transfer would be welcome: its payer is known, or it goes to our phone. Where
/// nobody said which phone is ours, the bank knows it, and turns nobody away for us.
pub(super) async fn answer_question(
    services: &Services,
    r4: &Settings,
    body: &[u8],
) -> Result<Reply, Problem> {
    let question = notice::question(body).map_err(malformed)?;
    let is_ours = r4.commerce_phone.is_none() || r4.commerce_phone == question.commerce_phone;
    Ok(status(200, is_ours || knows_payer(services, question.document).await?))
}

/// The transfer that a notice tells of, unless the payer's money goes back.
pub(super) fn read_notice(
    services: &Services,
    r4: &Settings,
    body: &[u8],
) -> Result<Option<Transfer>, Problem> {
    let Said::Made(made) = notice::notice(body).map_err(malformed)? else { return Ok(None) };
    let why = match made.foreign(r4.commerce_phone, services.now()) {
        None => return Ok(Some(made.transfer)),
        Some(Foreign::Phone) => "it went to another phone than rails.r4.commerce_phone",
        Some(Foreign::Day) => "its day is further ahead or back than a payment may name",
    };
    tracing::warn!(why, "a notice of R4's was answered with abono false: the payer's money goes back");
    Ok(None)
}

fn malformed(Malformed(name): Malformed) -> Problem {
    Problem::invalid_json(format!("the body is not what the bank's documents say: {name}"))
}

/// Notes that a call in R4's name was refused. Anybody can be refused for what they are not: one such line a
/// minute is enough.
pub(super) fn note_refused(problem: &Problem, arrival: &Arrival) {
    static NEXT_MINUTE: AtomicU64 = AtomicU64::new(0);
    if problem.status == 401 {
        let minute = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / 60;
        if NEXT_MINUTE.fetch_max(minute + 1, Ordering::Relaxed) > minute {
            return;
        }
    }
    let (status, reason, request_id) = (problem.status, &*problem.message, arrival.request_id.as_str());
    let peer = arrival.peer.ip();
    tracing::warn!(status, reason, %peer, request_id, "a call of R4's was refused: a payer's money may go back");
}

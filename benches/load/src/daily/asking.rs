//! The requests of daily work, each kind timed by itself: one after the other over one connection, so that
//! what is seen is how long a person waits.

use super::filling::{Filled, bank_reference, document};
use crate::Outcome;
use crate::connection::Connection;
use crate::load::{histogram, microseconds};
use crate::prepare::Tenant;
use crate::server::{ADMIN_TOKEN, Server};
use std::time::Instant;

/// Requests before those that count.
const WARM_UP: u64 = 20;
/// A step between the objects that are asked for: coprime to their number, mostly, so that they come in no
/// order.
const STEP: u64 = 7_919;

/// A kind of request.
pub struct Case {
    name: &'static str,
    /// Whether an operator asks.
    is_operators: bool,
    /// The path for the `nth` object.
    path: Box<dyn Fn(u64) -> String>,
    /// What every right answer has in it.
    has: &'static str,
    objects: u64,
}

/// The times of a kind of request.
pub struct Timed {
    /// The name.
    pub name: &'static str,
    /// The median.
    pub p50_us: u64,
    /// The 99th percentile.
    pub p99_us: u64,
    /// The slowest.
    pub max_us: u64,
    /// Bytes of the last answer.
    pub bytes: u64,
}

impl Case {
    /// The kinds.
    pub fn all(filled: &Filled) -> Vec<Case> {
        let case = |name, has, path: Box<dyn Fn(u64) -> String>| Case {
            name,
            is_operators: false,
            path,
            has,
            objects: filled.pairs,
        };
        let fixed = |path: String| -> Box<dyn Fn(u64) -> String> { Box::new(move |_| path.clone()) };
        let (first, last) = filled.days.clone();
        let (ids, merchant) = (filled.ids.clone(), filled.merchant.clone());
        let day = format!("from={last}T04:00:00.000Z");
        let operators = Case {
            is_operators: true,
            ..case(
                "GET /admin/search by externalRef",
                "\"kind\":\"payment\"",
                Box::new(|nth| format!("/admin/search?q=sale-{nth}")),
            )
        };
        vec![
            case(
                "search by externalRef",
                "\"kind\":\"payment\"",
                Box::new(|nth| format!("/v1/search?q=sale-{nth}")),
            ),
            case(
                "search by id",
                "\"kind\":\"payment\"",
                Box::new(move |nth| format!("/v1/search?q={}", ids[nth as usize % ids.len().max(1)])),
            ),
            case(
                "search by bank's reference",
                "\"kind\":\"payment\"",
                Box::new(|nth| format!("/v1/search?q={}", bank_reference(nth))),
            ),
            case(
                "search by document",
                "\"kind\":\"payment\"",
                Box::new(|nth| format!("/v1/search?q={}", document(nth))),
            ),
            case(
                "search of what is not there",
                "\"items\":[]",
                Box::new(|nth| format!("/v1/search?q=nothing-{nth}")),
            ),
            operators,
            case(
                "payments?bankReference",
                "\"method\":\"PAGO_MOVIL\"",
                Box::new(|nth| format!("/v1/payments?bankReference={}", bank_reference(nth))),
            ),
            case("payments of a day, 100", "\"items\":[{", fixed(format!("/v1/payments?limit=100&{day}"))),
            case(
                "completed payments, 100",
                "\"items\":[{",
                fixed("/v1/payments?status=COMPLETED&method=PAGO_MOVIL&limit=100".to_owned()),
            ),
            case(
                "payouts?externalRef",
                "\"items\":[{",
                Box::new(|nth| format!("/v1/payouts?externalRef=payout-{nth}")),
            ),
            case(
                "payouts of a merchant, 100",
                "\"items\":[{",
                fixed(format!("/v1/payouts?merchantId={merchant}&limit=100")),
            ),
            case(
                "movements of a day, 100",
                "\"items\":[{",
                fixed(format!("/v1/balance/transactions?limit=100&{day}")),
            ),
            case(
                "a year's statement",
                "\"closing\":",
                fixed(format!("/v1/statements?currency=VES&from={first}&to={last}")),
            ),
            case(
                "a month's statement",
                "\"closing\":",
                fixed(format!("/v1/statements?currency=VES&from={}-01&to={last}", &last[..7])),
            ),
        ]
    }
}

/// Times so many requests of a kind.
pub fn time(server: &Server, tenant: &Tenant, case: Case, requests: u32) -> Outcome<Timed> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let timed = runtime.block_on(timed(server, tenant, &case, requests.into()));
    timed.map_err(|why| format!("{}: {why}: {}", case.name, server.last_words()))
}

async fn timed(server: &Server, tenant: &Tenant, case: &Case, requests: u64) -> Outcome<Timed> {
    let (address, header) = if case.is_operators {
        (server.admin, format!("authorization: Bearer {ADMIN_TOKEN}"))
    } else {
        (server.api, format!("x-api-key: {}", tenant.key))
    };
    let mut connection = Connection::open(address).await?;
    let (mut times, mut bytes) = (histogram(), 0);
    for nth in 0..WARM_UP + requests {
        let path = (case.path)(nth.wrapping_mul(STEP) % case.objects);
        let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n{header}\r\n\r\n");
        let began = Instant::now();
        let answer = connection.exchange(request.as_bytes()).await?;
        let took = began.elapsed();
        let body = String::from_utf8_lossy(answer.body);
        if answer.status != 200 || !body.contains(case.has) {
            let some: String = body.chars().take(200).collect();
            return Err(format!("{path}: {} {some}", answer.status));
        }
        bytes = answer.body.len() as u64;
        if nth >= WARM_UP {
            times.saturating_record(microseconds(took));
        }
    }
    Ok(Timed {
        name: case.name,
        p50_us: times.value_at_quantile(0.5),
        p99_us: times.value_at_quantile(0.99),
        max_us: times.max(),
        bytes,
    })
}

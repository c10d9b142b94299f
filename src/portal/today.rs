//! The head of the first page: what waits for the shop, and its sales, fees, payouts and failures of today, yesterday
//! and thirty days.

use super::{Here, may};
use crate::gateway::services::Services;
use crate::language::Language;
use crate::pages::counts::{self, COUNT_MAX};
use crate::pages::inside::{Refused, with_query};
use crate::pages::lists::money;
use crate::pages::show::{self, items, str_of};
use crate::pages::statement;
use crate::pages::view::{Block, Cell, Link, Note, Row, Tone};
use crate::store::read_budget::{ReadBudget, Stopped};
use domain::entities::means::Method;
use domain::entities::payment::{Status, facet};
use domain::entities::{chargeback, crypto_payout, payout};
use domain::platform::Scope;
use domain::values::ids::{Id, Kind};
use domain::values::time::{Date, MINUTE_MS, Timestamp, Zone};
use serde_json::Value;
use std::collections::BTreeMap;

/// Of the rows: today, yesterday, and all thirty.
const DAYS: i32 = 30;
/// Payouts that failed in as many days wait for somebody to pay them again.
const FAILED_DAYS: i32 = 7;
/// A bank answers within seconds, and a payer types the code within minutes.
const SILENT_MS: i64 = 15 * MINUTE_MS;
/// As many as a page of the API has.
const APPROVALS_MAX: usize = 100;

/// A list whose length is told: its words, what is in it, since when, and its page.
struct Waiting {
    words: [&'static str; 2],
    list: (Kind, u8),
    days: i32,
    page: String,
}

struct Counts {
    waiting: Vec<usize>,
    /// Of each method, completed and failed, by today, yesterday and all days.
    methods: BTreeMap<&'static str, [[usize; 3]; 2]>,
    /// Payments that are pending since [`SILENT_MS`].
    silent: usize,
    /// Webhook endpoints at which nothing arrives.
    dead: usize,
}

pub async fn blocks(visit: &Here<'_>, currencies: &[&'static str]) -> Result<Vec<Block>, Refused> {
    let tenant = visit.who.tenant_key;
    let now = statement::present(visit.services, tenant).await;
    let today = now.date_in(Zone::Caracas);
    let waiting = waiting(today);
    let lists: Vec<_> = waiting.iter().map(|each| (each.list, each.days)).collect();
    let endpoints = endpoints(visit).await?;
    let count = move |services: &Services, budget: &ReadBudget| -> Result<Counts, Stopped> {
        let mut counts = count(services, tenant, today, &lists, budget)?;
        let begun = now.plus_ms(-SILENT_MS).unix_ms();
        for method in [Method::C2p, Method::Vpos, Method::Debit] {
            let pending = (tenant, Kind::Payment, facet(method, Status::Pending));
            let made = counts::made(services, pending, Timestamp::EPOCH, budget)?;
            counts.silent += made.iter().filter(|at| **at < begun).count();
        }
        for id in endpoints {
            counts.dead += usize::from(counts::undelivered(services, tenant, id, budget)?.is_some());
        }
        Ok(counts)
    };
    let counts = visit.services.read_pool.read_long(visit.services, tenant, count).await?;
    let mut links = waits(visit, &waiting, &counts.waiting);
    let silent =
        visit.say("Cobros sin respuesta hace más de 15 minutos", "Payments without an answer for 15 minutes");
    let dead = visit.say("Direcciones de webhook que no reciben", "Webhook addresses that receive nothing");
    let approvals = visit.say("Aprobaciones que esperan", "Approvals that wait");
    for (label, count, most, to) in [
        (approvals, approvals_waiting(visit).await?, APPROVALS_MAX, "/portal/approvals"),
        (silent, counts.silent, COUNT_MAX, "/portal/payments?status=PENDING"),
        (dead, counts.dead, COUNT_MAX, "/portal/webhooks"),
    ] {
        let label = format!("{label}: {}", counted(visit.language, count, most));
        links.extend((count > 0).then(|| Link::new(label, to)));
    }
    let mut blocks = said(visit, links);
    // A test clock that was moved: today is another day than on the wall.
    if (now.unix_ms() - visit.services.now().unix_ms()).abs() > MINUTE_MS {
        let text = visit.say("El reloj de prueba marca", "The test clock shows");
        blocks
            .insert(0, Note::new(Tone::Plain, format!("{text} {}.", show::in_caracas(now.unix_ms()))).into());
    }
    blocks
        .push(Block::Heading(visit.say("Ventas, comisiones y pagos", "Sales, fees and payouts").to_owned()));
    blocks.push(sums(visit, now, currencies).await?);
    blocks.push(Block::Heading(visit.say("Por método", "By method").to_owned()));
    blocks.push(by_method(visit, today, &counts.methods));
    Ok(blocks)
}

/// The webhook endpoints to which events go.
async fn endpoints(visit: &Here<'_>) -> Result<Vec<Id>, Refused> {
    if !may(visit, Scope::Read) {
        return Ok(Vec::new());
    }
    let found = visit.inside.get("/v1/webhooks").await?;
    let enabled = items(&found).iter().filter(|item| str_of(item, "status") == "enabled");
    Ok(enabled.filter_map(|item| Id::parse(str_of(item, "id"))).collect())
}

/// Of a visitor who decides about them.
async fn approvals_waiting(visit: &Here<'_>) -> Result<usize, Refused> {
    if !may(visit, Scope::Keys) {
        return Ok(0);
    }
    let limit = APPROVALS_MAX.to_string();
    let asked = [("status", "awaiting_approval"), ("limit", limit.as_str())];
    let found = visit.inside.get(&with_query("/v1/approvals", &asked)).await?;
    // One more stands for those that are not counted.
    Ok(items(&found).len() + usize::from(found["nextCursor"].is_string()))
}

fn from(today: Date, days: i32) -> Timestamp {
    today.plus_days(1 - days).start_in(Zone::Caracas)
}

fn waiting(today: Date) -> Vec<Waiting> {
    let page = |list: &str, status: &str, from: &str| {
        with_query(&format!("/portal/{list}"), &[("status", status), ("from", from)])
    };
    let week = today.plus_days(1 - FAILED_DAYS).to_string();
    let of = |words, list, days, page| Waiting { words, list, days, page };
    vec![
        of(
            ["Pagos que fallaron en 7 días", "Payouts that failed in 7 days"],
            (Kind::Payout, payout::Status::Failed as u8),
            FAILED_DAYS,
            page("payouts", "failed", &week),
        ),
        of(
            ["Pagos sin respuesta del banco", "Payouts without the bank's answer"],
            (Kind::Payout, payout::Status::Pending as u8),
            i32::MAX,
            page("payouts", "pending", ""),
        ),
        of(
            ["Pagos en USDT en revisión", "USDT payouts in review"],
            (Kind::CryptoPayout, crypto_payout::Status::PendingReview as u8),
            i32::MAX,
            page("crypto-payouts", "pending_review", ""),
        ),
        of(
            ["Pagos en pesos pendientes", "Peso payouts pending"],
            (Kind::CopPayout, payout::Status::Pending as u8),
            i32::MAX,
            page("cop-payouts", "pending", ""),
        ),
        of(
            ["Contracargos abiertos", "Open chargebacks"],
            (Kind::Chargeback, chargeback::Status::Open as u8),
            i32::MAX,
            page("chargebacks", "open", ""),
        ),
    ]
}

fn count(
    services: &Services,
    tenant: u64,
    today: Date,
    lists: &[((Kind, u8), i32)],
    budget: &ReadBudget,
) -> Result<Counts, Stopped> {
    let mut waiting = Vec::with_capacity(lists.len());
    for ((kind, facet), days) in lists {
        let from = if *days == i32::MAX { Timestamp::EPOCH } else { from(today, *days) };
        waiting.push(counts::made(services, (tenant, *kind, *facet), from, budget)?.len());
    }
    let (day, before) = (from(today, 1).unix_ms(), from(today, 2).unix_ms());
    let mut methods = BTreeMap::new();
    for method in Method::ALL {
        let mut of = [[0; 3]; 2];
        for (at, status) in [Status::Completed, Status::Failed].into_iter().enumerate() {
            let (kind, facet) = match method {
                Method::Cop => (Kind::CopPayment, status as u8),
                method => (Kind::Payment, facet(method, status)),
            };
            let made = counts::made(services, (tenant, kind, facet), from(today, DAYS), budget)?;
            let today = made.iter().filter(|at| **at >= day).count();
            let yesterday = made.iter().filter(|at| (before..day).contains(at)).count();
            of[at] = [today, yesterday, made.len()];
        }
        if of != [[0; 3]; 2] {
            methods.insert(method.name(), of);
        }
    }
    Ok(Counts { waiting, methods, silent: 0, dead: 0 })
}

/// More than are counted are shown as more.
fn counted(language: Language, count: usize, most: usize) -> String {
    let more = if count > most { "+" } else { "" };
    format!("{}{more}", language.figure(&count.min(most).to_string()))
}

fn waits(visit: &Here<'_>, waiting: &[Waiting], counts: &[usize]) -> Vec<Link> {
    let some = waiting.iter().zip(counts).filter(|(_, count)| **count > 0);
    let link = |(each, count): (&Waiting, &usize)| {
        let [spanish, english] = each.words;
        Link::new(
            format!("{}: {}", visit.say(spanish, english), counted(visit.language, *count, COUNT_MAX)),
            &*each.page,
        )
    };
    some.map(link).collect()
}

fn said(visit: &Here<'_>, links: Vec<Link>) -> Vec<Block> {
    if links.is_empty() {
        return vec![
            Note::new(Tone::Good, visit.say("Nada espera por ti.", "Nothing waits for you.")).into(),
        ];
    }
    let heading = visit.say("Esperan por ti", "Waiting for you");
    vec![Block::Heading(heading.to_owned()), Block::Links(links)]
}

/// Hundredths of an amount as the API writes it, or whole pesos.
fn minor(text: &str) -> i64 {
    text.replace('.', "").parse().unwrap_or(0)
}

async fn sums(visit: &Here<'_>, now: Timestamp, currencies: &[&'static str]) -> Result<Block, Refused> {
    const SUMS: [(&[&str], [&str; 2], i64); 4] = [
        (&["payments"], ["Ventas", "Sales"], 1),
        (&["reversals", "chargebacks"], ["Reversos y contracargos", "Reversals and chargebacks"], -1),
        (&["fees", "platformFees"], ["Comisiones", "Fees"], -1),
        (&["payouts", "payoutReversals"], ["Pagos", "Payouts"], -1),
    ];
    let mut rows = Vec::new();
    for currency in currencies {
        let zone = if *currency == "COP" { Zone::Bogota } else { Zone::Caracas };
        let today = now.date_in(zone);
        let (first, last) = (today.plus_days(1 - DAYS).to_string(), today.to_string());
        let path = with_query("/v1/statements", &[("currency", *currency), ("from", &first), ("to", &last)]);
        let found = visit.inside.get(&path).await?;
        let days = found["days"].as_array().map_or(&[][..], Vec::as_slice);
        let yesterday = today.plus_days(-1).to_string();
        for (members, [spanish, english], sign) in SUMS {
            let of = |day: &Value| {
                let parts = members.iter().map(|member| minor(str_of(day, member)));
                parts.fold(0_i64, i64::saturating_add).saturating_mul(sign)
            };
            let on = |date: &str| days.iter().filter(|day| str_of(day, "date") == date).map(of).sum::<i64>();
            let all = days.iter().map(of).fold(0_i64, i64::saturating_add);
            if all == 0 && (*currency != "VES" || members[0] == "reversals") {
                continue;
            }
            let amounts = [on(&last), on(&yesterday), all];
            let amounts = amounts.map(|minor| Cell::figure(money(visit.language, minor, currency)));
            let label = Cell::text(visit.say(spanish, english));
            rows.push(Row::new([&[label][..], &amounts].concat()));
        }
    }
    let caption = ["Ventas, comisiones y pagos", "Sales, fees and payouts"];
    let table = visit.table(caption, "Qué, Hoy, Ayer, 30 días", "What, Today, Yesterday, 30 days");
    Ok(table.field("sales").rows(rows).into())
}

fn by_method(visit: &Here<'_>, today: Date, methods: &BTreeMap<&'static str, [[usize; 3]; 2]>) -> Block {
    let spans =
        [(today, today), (today.plus_days(-1), today.plus_days(-1)), (today.plus_days(1 - DAYS), today)];
    let row = |(method, of): (&&'static str, &[[usize; 3]; 2])| {
        let mut cells = vec![Cell::text(crate::pages::words::words(visit.language, method))];
        for (status, counts) in ["COMPLETED", "FAILED"].into_iter().zip(of) {
            for (count, (from, to)) in counts.iter().zip(&spans) {
                let (from, to) = (from.to_string(), to.to_string());
                let asked = [("method", *method), ("status", status), ("from", &from), ("to", &to)];
                let cell = Cell::figure(counted(visit.language, *count, COUNT_MAX));
                let to = with_query("/portal/payments", &asked);
                cells.push(if *count > 0 { cell.to(to) } else { cell });
            }
        }
        Row::new(cells)
    };
    let table = visit.table(
        ["Cobros por método", "Payments by method"],
        "Método, Cobrados hoy, Ayer, 30 días, Fallidos hoy, Ayer, 30 días",
        "Method, Completed today, Yesterday, 30 days, Failed today, Yesterday, 30 days",
    );
    table.field("methods").rows(methods.iter().map(row)).into()
}

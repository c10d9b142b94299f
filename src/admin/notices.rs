//! Notices of money that came (`docs/contract.md, 18.6`), and which of them nobody has claimed.

use super::call::{Call, CallResult, Done, Handler, approved, listed_id, run, tenant_of};
use crate::gateway::ask::{accepted, failure, timing};
use crate::gateway::notices::collected;
use crate::gateway::services::{Callers, Services};
use crate::http::respond::Trace;
use crate::store::history::{self, Unreadable};
use api::endpoint::chapter;
use api::fields::{Fields, Invalid, body, read};
use api::openapi::kinds;
use api::page::{ListOf, Page};
use api::problem::Problem;
use api::query::{self, Query};
use api::shown;
use api::writer::Object;
use domain::entities::Entity;
use domain::entities::notice::{About, CLAIMED, Notice, UNMATCHED};
use domain::index;
use domain::machine::{Command, KeyedCommand};
use domain::platform::audit::AuditEntry;
use domain::resources::notices;
use domain::values::ids::{EntityId, Id, Kind, Mode, PLATFORM, tenant_key};
use wal::Reader;

const RAILS: [&str; 2] = ["r4", "wompi"];

fn asked(query: Query<'_>, list: ListOf<'_>) -> Result<(Option<bool>, Page), Invalid> {
    query::filtered(query, list, "unmatched", kinds::boolean())
}

chapter! { "Notices", "What banks and processors said by themselves of money that came. A notice of a transfer \
    verifies one Pago Móvil payment of whatever account; a transaction of Wompi is listed if no payment is \
    known by it.", {
        "Notice" = notice_schema();
        "NoticeGift" = body(read_gift);
        "NoticePage" = page("Notice");
    }
    LIST = run!(list), "List what banks said by themselves" => {
        command "notice list", "List transfers that banks reported, newest first", "--unmatched true";
        list asked;
        answers 200, "NoticePage", "Newest first; with `unmatched=true` those that nobody claimed";
    };
    GIVE = run!(give), "Say whose a transfer is whose reference was guessed at" => {
        command "notice give", "Say whose a transfer is whose reference was guessed at",
            "--tenant-id 01930a4b-5c6d-7e8f-9012-3456789a0002 --note \"receipt seen\"";
        about "After 20 wrong references for a phone, bank and day nobody's payment is verified by its \
            transfers until it is known whose they are. The account's next payment with the whole reference is \
            verified then, and nobody else's.";
        body "NoticeGift";
        example "the buyer showed the bank's receipt",
            r#"{"tenantId":"01975a2e-7c00-7000-8000-000000000000","note":"receipt seen, ticket 4711"}"#;
        answers 200, "Notice", "The notice";
        refuses 409, &["notice_claimed"];
    };
}

async fn list(call: Call) -> CallResult {
    let (unmatched, page) = call.listed("notices", asked)?;
    let is_unmatched = unmatched == Some(true);
    let facets: &[u8] = if is_unmatched { &[UNMATCHED] } else { &[UNMATCHED, CLAIMED] };
    let parts = facets.iter().map(|facet| index::list(PLATFORM, Kind::Notice, *facet)).collect();
    let show = move |services: &Services, position: &[u8]| {
        let reader = services.engine.reader();
        let found = history::entity(reader, PLATFORM, EntityId::notice(listed_id(position)?))?;
        let Some(Entity::Notice(notice)) = found.as_deref() else { return Ok(None) };
        let payment = payment_of(reader, notice)?;
        let is_meant = !(is_unmatched && payment.is_some());
        Ok(is_meant.then(|| show(notice, payment, &services.callers)))
    };
    call.walk(parts, (None, None), (page, usize::MAX), show).await
}

fn read_gift(mut fields: Fields<'_>) -> Result<(Id, String), Invalid> {
    Ok(read!(fields {
        required tenant = "tenantId", kinds::id();
        required note = "note", kinds::prose(1..=500);
    } => (tenant, note.into_owned())))
}

async fn give(call: Call) -> CallResult {
    let (tenant, note) = read_gift(call.body.fields()?)?;
    let id = call.id()?;
    let owner = call.services.callers.directory.tenant(tenant);
    let owner = owner.ok_or_else(|| Problem::invalid_field("tenantId", "is no tenant's"))?;
    match history::entity(call.services.engine.reader(), PLATFORM, EntityId::notice(id))?.as_deref() {
        Some(Entity::Notice(_)) => {}
        _ => return Err(Problem::not_found()),
    }
    approved!(call.waits_about(Some(owner.id)));
    let after = Object::new().plain("tenantId", owner.id).text("note", &note).end();
    let audit = call
        .sign_about(Some(owner.id), Some(id.to_string()))
        .map(|entry| Box::new(AuditEntry { after: String::from_utf8(after).ok(), ..*entry }));
    let give = notices::Command::Give { tenant: tenant_key(owner.number, Mode::Live) };
    let command = KeyedCommand::from(Command::from(give)).audited(audit);
    let (engine, entity) = (&call.services.engine, EntityId::notice(id));
    let asked = engine.ask_entity(PLATFORM, entity, false, command, None, None).await;
    let settled = accepted(asked.map_err(failure)?)?;
    match settled.entity.as_deref() {
        Some(Entity::Notice(notice)) => {
            let payment = payment_of(engine.reader(), notice)?;
            Ok(Done::ok(show(notice, payment, &call.services.callers))
                .traced(Trace { seq: settled.seq, timing: Some(timing(settled.timing)) }))
        }
        _ => Err(Problem::not_found()),
    }
}

/// The payment that a notice is matched with, and its tenant in its mode: the one that claimed it, or that
/// is known by its transaction by now.
fn payment_of(reader: &Reader, notice: &Notice) -> Result<Option<(u64, Id)>, Unreadable> {
    Ok(match &notice.about {
        About::Transfer(_) => notice.claim.map(|claim| (claim.tenant, claim.payment)),
        About::Transaction { id, reference } => collected(reader, reference.as_deref())?
            .filter(|(_, payment)| payment.is_transaction(id))
            .map(|(tenant, payment)| (tenant, payment.id)),
    })
}

shown! {
    fn show(notice: &Notice, payment: Option<(u64, Id)>, callers: &Callers), notice_schema, 512 [
        let (rail, reference, transaction, transfer) = match &notice.about {
            About::Transfer(transfer) => (RAILS[0], Some(&transfer.reference), None, Some(transfer)),
            About::Transaction { id, reference } => (RAILS[1], reference.as_ref(), Some(id), None),
        };
        let tenant = |of: u64| tenant_of(callers, of);
    ] {
        plain "noticeId" = notice.id, uuid();
        plain "rail" = rail, one_of(RAILS);
        maybe text "reference" = reference,
            text().about("The bank's, as it wrote it; of a transaction the one that it was made under.");
        maybe text "transactionId" = transaction, text().about("Wompi's id of a transaction.");
        maybe plain "bankCode" = transfer.map(|transfer| transfer.bank), text();
        maybe plain "phone" = transfer.map(|transfer| transfer.phone.masked()),
            text().about("The payer's, masked.");
        maybe plain "amountVes" = transfer.map(|transfer| transfer.amount), text();
        maybe plain "paidAt" = transfer.map(|transfer| transfer.paid_at), instant();
        plain "receivedAt" = notice.created_at, instant();
        maybe plain "paymentId" = payment.map(|(_, payment)| payment),
            uuid().about("The payment that it verified.");
        maybe plain "tenantId" = payment.and_then(|(of, _)| tenant(of)),
            uuid().about("Whose payment that is.");
        maybe plain "givenTo" = notice.given_to.and_then(tenant),
            uuid().about("Whose the transfer is, as an operator said.");
    }
}

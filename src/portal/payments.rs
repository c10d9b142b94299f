//! Payments: the list, one with its timeline, and giving it back.

use super::rehearsal::{self, Rehearsed};
use super::{Here, Made, after, first, may};
use crate::pages::confirm::Confirm;
use crate::pages::inside::{Refused, segment, with_query};
use crate::pages::show::{self, str_of};
use crate::pages::site::Shown;
use crate::pages::statement;
use crate::pages::timeline;
use crate::pages::view::{self, Block, Link, Note, Page, Tone};
use crate::store::history;
use api::problem::Problem;
use domain::entities::Entity;
use domain::platform::Scope;
use domain::resources::cop_payments::refund;
use domain::resources::payments::reversal;
use domain::values::ids::{EntityId, Id};
use serde_json::{Value, json};

#[rustfmt::skip]
const FACTS: [&str; 36] = [
    "externalRef", "attempt", "method", "usdAmount", "vesAmount", "bcvRate", "feeVes", "netVes", "amountUsdt",
    "amountCop", "feeCop", "netCop", "merchantId", "applicationFeePercent", "applicationFeeVes", "sellerNetVes",
    "debtorBankCode", "debtorId", "debtorCellPhone", "cardLast4", "cardBrand", "bankReference", "txHash", "operationId",
    "description", "checkoutSessionId", "reference", "failureCode", "cancelReason", "reversalRef", "reversalType",
    "createdAt", "completedAt", "availableAt", "reversedAt", "paymentId",
];

async fn find(visit: &Here<'_>, id: &str) -> Result<Value, Refused> {
    first(visit, &["/v1/payments", "/v1/cop/payments"], id).await
}

pub async fn one(visit: &Here<'_>) -> Made {
    let (language, id) = (visit.language, visit.id());
    let payment = find(visit, id).await?;
    let status = str_of(&payment, "status");
    let timeline =
        timeline::of(visit.services, visit.who.tenant_key, str_of(&payment, "paymentId"), language, None)
            .await?;
    let mut facts = visit.facts(&payment, &FACTS);
    for fact in facts.iter_mut().filter(|fact| fact.field == "attempt") {
        let others = payment["externalRef"].as_str().map(|name| [("externalRef", name)]);
        fact.cell.href = others.map(|others| with_query("/portal/payments", &others));
    }
    let live = [
        Block::Facts(facts),
        Block::Heading(visit.say("Qué pasó", "What happened").to_owned()),
        Block::Timeline(timeline.steps),
    ];
    let name = payment["externalRef"].as_str().or(payment["reference"].as_str()).unwrap_or_default();
    let title = format!("{} {name}", visit.say("Cobro", "Payment"));
    let at = format!("/portal/payments/{}", segment(id));
    let mut page = Page::new("payment", title.trim()).at(at).status(status).maybe(visit.done());
    page = page.with(show::headline(language, &payment));
    if matches!(status, "COMPLETED" | "REVERSED") {
        page = page.with(vec![receipt_link(visit, id)]);
    }
    if may(visit, Scope::Collect) && may_go_back(visit, id).await? {
        if was_refused(visit, id)? {
            page = page.with(not_given_back(visit));
        }
        page = page.with(form_of_return(visit, is_in_pesos(&payment)));
    }
    let page = page.live(&live, &visit.writing())?;
    let may_send = may(visit, Scope::Manage);
    Ok(page.with_all(
        may_send.then(|| timeline::resends(visit, ("payments", id), &timeline.events)).into_iter().flatten(),
    ))
}

fn receipt_link(visit: &Here<'_>, id: &str) -> Link {
    Link::new(visit.say("Comprobante", "Receipt"), format!("/portal/payments/{}/receipt", segment(id)))
        .action("receipt")
}

/// GET /portal/payments/:id/receipt: the page that the API has for the payer.
pub async fn receipt(visit: &Here<'_>) -> Result<Shown, Problem> {
    let path = format!("/v1/payments/{}/receipt", segment(visit.id()));
    let path = with_query(&path, &[("lang", visit.language.code())]);
    match visit.inside.download(&path, "text/html").await {
        Ok(receipt) => Ok(Shown::Raw(receipt)),
        Err(refused) => visit.shown(Err(refused)),
    }
}

fn is_in_pesos(payment: &Value) -> bool {
    payment.get("amountCop").is_some()
}

/// Whether the rules let the tenant ask now for the payment's money to go back.
async fn may_go_back(visit: &Here<'_>, id: &str) -> Result<bool, Problem> {
    let Some(id) = Id::parse(id) else { return Ok(false) };
    let (services, tenant) = (visit.services, visit.who.tenant_key);
    let now = statement::present(services, tenant).await;
    for whose in [EntityId::payment(id), EntityId::cop_payment(id)] {
        match history::entity(services.engine.reader(), tenant, whose)?.as_deref() {
            Some(Entity::Payment(payment)) => return Ok(reversal::barred(payment, now).is_none()),
            Some(Entity::CopPayment(payment)) => return Ok(refund::barred(payment, now).is_none()),
            _ => {}
        }
    }
    Ok(false)
}

/// Whether the bank was asked for the money already, and refused.
fn was_refused(visit: &Here<'_>, id: &str) -> Result<bool, Problem> {
    let Some(id) = Id::parse(id) else { return Ok(false) };
    let found = history::entity(visit.services.engine.reader(), visit.who.tenant_key, EntityId::payment(id))?;
    Ok(matches!(found.as_deref(), Some(Entity::Payment(payment)) if payment.reversals > 0))
}

fn not_given_back(visit: &Here<'_>) -> Note {
    Note::new(
        Tone::Warning,
        visit.say(
            "El banco ya rechazó el reverso de este cobro, y puede volver a rechazarlo. El dinero sigue en tu saldo: \
             también le puedes pagar un vuelto al comprador, por la API (POST /v1/payments/change).",
            "The bank has refused the reversal of this payment already, and may do so again. The money is still in your \
             balance: you can also pay the buyer change, through the API (POST /v1/payments/change).",
        ),
    )
}

fn form_of_return(visit: &Here<'_>, in_pesos: bool) -> view::Form {
    let (label, about) = if in_pesos {
        (
            visit.say("Reintegrar", "Refund"),
            visit.say(
                "Reintegra todo el monto al comprador por el procesador. No se puede deshacer.",
                "Refunds the whole amount to the buyer through the processor. It cannot be undone.",
            ),
        )
    } else {
        (
            visit.say("Reversar", "Reverse"),
            visit.say(
                "Devuelve todo el monto al pagador por su banco. No se puede deshacer.",
                "Returns the whole amount to the payer through the bank. It cannot be undone.",
            ),
        )
    };
    view::Form::new(format!("/portal/payments/{}/reverse", segment(visit.id())), "reverse", label)
        .about(about)
        .inline()
        .tone(Tone::Bad)
}

/// To whom how much would go back, and what it would leave.
async fn return_asked(visit: &Here<'_>, in_pesos: bool, rehearsed: &Rehearsed) -> Shown {
    const WOULD_GO: [&str; 9] = [
        "vesAmount",
        "amountCop",
        "usdAmount",
        "debtorId",
        "debtorCellPhone",
        "debtorBankCode",
        "externalRef",
        "description",
        "completedAt",
    ];
    // A key that may collect and not read is asked all the same.
    let payment = find(visit, visit.id()).await.unwrap_or_default();
    let (verb, amount, consequence) = if in_pesos {
        (
            visit.say("Reintegrar", "Refund"),
            show::headline(visit.language, &payment).amount,
            visit.say(
                "El comprador recibe todo el monto por el procesador. No se puede deshacer.",
                "The buyer gets the whole amount through the processor. It cannot be undone.",
            ),
        )
    } else {
        (
            visit.say("Reversar", "Reverse"),
            show::headline(visit.language, &payment).amount,
            visit.say(
                "El pagador recibe todo el monto por su banco. No se puede deshacer.",
                "The payer gets the whole amount through the bank. It cannot be undone.",
            ),
        )
    };
    let label = if payment.is_null() { verb.to_owned() } else { format!("{verb} {amount}") };
    visit.confirmation(Confirm {
        page: ("payment", visit.say("Devolver el cobro", "Return the payment").to_owned()),
        facts: visit.facts(&payment, &WOULD_GO),
        consequence: consequence.to_owned(),
        figures: rehearsed
            .blocks(visit.language)
            .into_iter()
            .chain(rehearsed.movements(visit.language))
            .collect(),
        label,
        back: format!("/portal/payments/{}", segment(visit.id())),
    })
}

pub async fn reverse(visit: &Here<'_>) -> Result<Shown, Problem> {
    let id = segment(visit.id());
    let in_pesos = find(visit, visit.id()).await.is_ok_and(|payment| is_in_pesos(&payment));
    let (path, done) = if in_pesos {
        (format!("/v1/cop/payments/{id}/refund"), "refunded")
    } else {
        (format!("/v1/payments/{id}/reverse"), "reversed")
    };
    if !visit.is_confirmed() {
        let money = if in_pesos { &rehearsal::PESOS } else { &rehearsal::BOLIVARES };
        let once = visit.form.text("once");
        return match Rehearsed::in_money(visit, money, &path, &json!({}), once).await {
            Ok(rehearsed) => Ok(return_asked(visit, in_pesos, &rehearsed).await),
            Err(refused) => visit.failed(one(visit).await, &refused),
        };
    }
    let outcome = visit.post(&path, &json!({})).await;
    let here = format!("/portal/payments/{id}");
    let then = |answer: &Value| after(answer, &here, |_| Shown::See(format!("{here}?done={done}")));
    visit.acted(outcome, then, one(visit)).await
}

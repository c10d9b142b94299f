//! Payments and payouts of all tenants: finding them, what happened to one, and what may be done now.

use super::at_bank::{self, AnswerFrom, AtBank};
use super::{Here, Made, advice, after, may, path};
use crate::admin;
use crate::gateway::services::Services;
use crate::pages::confirm::Confirm;
use crate::pages::find::{self, Finds};
use crate::pages::inside::{ApiResult, with_query};
use crate::pages::show::{self, str_of};
use crate::pages::site::Shown;
use crate::pages::timeline;
use crate::pages::view::{self, Block, Cell, Input, Page, Tone};
use crate::pages::words::words;
use api::operators::masked;
use api::problem::Problem;
use domain::entities::Entity;
use domain::entities::means::Method;
use domain::entities::payment::Status;
use domain::events::EventKind;
use domain::platform::operators::Role;
use domain::values::ids::{Id, Mode};
use serde_json::{Value, json};
use std::sync::Arc;

#[rustfmt::skip]
const PAYMENT: [&str; 27] = [
    "tenantId", "mode", "externalRef", "attempt", "method", "usdAmount", "vesAmount", "bcvRate", "feeVes",
    "netVes", "amountCop", "debtorBankCode", "debtorId", "debtorCellPhone", "cardLast4", "bankReference", "operationId",
    "checkoutSessionId", "reference", "failureCode", "wrongCodes", "cancelReason", "reversalRef", "createdAt",
    "completedAt", "reversedAt", "paymentId",
];
#[rustfmt::skip]
const PAYOUT: [&str; 28] = [
    "tenantId", "mode", "kind", "externalRef", "monto", "amountCop", "amountUsdt", "networkFeeUsdt", "totalUsdt", "feeVes",
    "concepto", "merchantId", "bankCode", "destination", "bank", "accountType", "accountNumber", "holderName",
    "documentType", "documentNumber", "network", "address", "reference", "txHash", "failureCode", "operationId",
    "createdAt", "payoutId",
];
const SEARCHED: [(&str, &str, &str); 4] = [
    ("payment", "/admin/payments", "paymentId"),
    ("payout", "/admin/payouts", "payoutId"),
    ("cop_payout", "/admin/cop-payouts", "id"),
    ("crypto_payout", "/admin/crypto/payouts", "id"),
];

pub async fn search(visit: &Here<'_>) -> Made {
    let finds = Finds {
        search: "/admin/search",
        lists: &SEARCHED,
        place,
        named: Vec::new(),
        more: &["tenantId", "mode"],
    };
    find::page(visit, finds).await
}

fn place(kind: &str, id: &str) -> Option<String> {
    let page = match kind {
        "payment" => "payments",
        "payout" | "cop_payout" | "crypto_payout" => "payouts",
        "tenant" => "tenants",
        _ => return None,
    };
    Some(format!("/console/{page}/{id}"))
}

async fn find(services: &Arc<Services>, id: Id) -> Result<Option<(u64, Arc<Entity>)>, Problem> {
    admin::among_all(services, timeline::ids(id).into()).await
}

pub fn shown(services: &Arc<Services>, tenant: u64, entity: &Entity) -> Value {
    let body = match entity {
        Entity::Payout(payout) => api::payouts::show(payout),
        Entity::CopPayout(payout) => {
            masked(&String::from_utf8_lossy(&api::cop_payments::payouts::show(payout))).into_bytes()
        }
        Entity::CryptoPayout(payout) => api::crypto::show(payout),
        Entity::Chargeback(chargeback) => api::chargebacks::show(chargeback),
        other => api::payments::show_entity(other).unwrap_or_default(),
    };
    serde_json::from_slice(&admin::owned(&services.callers, tenant, body)).unwrap_or_default()
}

pub async fn payment(visit: &Here<'_>) -> Made {
    of_payment(visit, visit.id(), false).await
}

pub async fn unmask_payment(visit: &Here<'_>) -> Result<Shown, Problem> {
    visit.shown(of_payment(visit, visit.id(), true).await)
}

pub async fn of_payment(visit: &Here<'_>, id: &str, is_unmasked: bool) -> Made {
    let parsed = Id::parse(id).ok_or_else(Problem::not_found)?;
    let asked =
        with_query(&path("/admin/payments", id, ""), &[("unmask", if is_unmasked { "true" } else { "" })]);
    let payment = visit.inside.get(&asked).await?;
    let (tenant, entity) = find(visit.services, parsed).await?.ok_or_else(Problem::not_found)?;
    let to = |act: &str| path("/console/payments", id, act);
    let forms = |at_bank: Option<&AtBank>| {
        let mut forms = Vec::new();
        if may(visit, Role::Support) && !is_unmasked {
            let form = view::Form::new(to("unmask"), "unmask", visit.say("Ver al pagador", "Show the payer"))
                .inline()
                .tone(Tone::Quiet);
            forms.push(
                form.about(visit.say("Verlo queda en la auditoría.", "The audit records that you saw it.")),
            );
        }
        if may(visit, Role::Support) && may_be_canceled(&entity, at_bank) {
            let label = visit.say("Cancelar el cobro", "Cancel the payment");
            forms.push(view::Form::new(to("cancel"), "cancel", label).inline().tone(Tone::Bad));
        }
        let is_completed = str_of(&payment, "status") == "COMPLETED";
        if may(visit, Role::Treasury) && is_completed && payment["cardLast4"].is_string() {
            forms.push(chargeback_form(visit, id));
        }
        forms
    };
    story(visit, ("payments", id), (tenant, &entity), &payment, forms).await
}

async fn story(
    visit: &Here<'_>,
    (place, id): (&'static str, &str),
    (tenant, entity): (u64, &Entity),
    shown: &Value,
    forms: impl FnOnce(Option<&AtBank>) -> Vec<view::Form> + Send,
) -> Made {
    let is_payment = place == "payments";
    let (name, title, members) = if is_payment {
        ("payment", visit.say("Cobro", "Payment"), &PAYMENT[..])
    } else {
        ("payout", visit.say("Pago", "Payout"), &PAYOUT[..])
    };
    let at_bank = at_bank::of(visit.services, tenant, entity).await;
    let timeline = timeline::of(visit.services, tenant, id, visit.language, Some("/console/records")).await?;
    let title = format!("{title} {}", str_of(shown, "externalRef"));
    let page = Page::new(name, title).at(path(&format!("/console/{place}"), id, ""));
    let mut page = page.status(str_of(shown, "status")).maybe(visit.done());
    page.blocks.extend(advice::on(visit, is_payment, shown, at_bank.as_ref()));
    let mut headline = show::headline(visit.language, shown);
    if str_of(shown, "mode") == Mode::Test.name() {
        headline.state.mark = words(visit.language, Mode::Test.name()).to_owned();
    }
    page.blocks.insert(0, headline.into());
    page = page.maybe(resolve_form(visit, (place, id), at_bank.as_ref()));
    page.blocks.extend(forms(at_bank.as_ref()).into_iter().map(Block::Form));
    page = page.with(visit.facts(shown, members));
    page.blocks.extend(resends(visit, (place, id), &timeline.events));
    let page = page.heading(visit.say("Qué pasó", "What happened"));
    Ok(page.live(&[Block::Timeline(timeline.steps)], &visit.writing())?)
}

/// Of an intent that no bank has yet, and of pesos for which the buyer is waited for.
fn may_be_canceled(entity: &Entity, at_bank: Option<&AtBank>) -> bool {
    match entity {
        Entity::Payment(payment) => {
            payment.method() == Method::C2p && payment.status == Status::Pending && at_bank.is_none()
        }
        Entity::CopPayment(payment) => {
            payment.status == Status::Pending
                && at_bank.is_none_or(|at_bank| at_bank.standing != AnswerFrom::Unaskable)
        }
        _ => false,
    }
}

/// Whoever pays pesos sees to whom by a form, as each look is in the audit.
pub fn show_receiver(visit: &Here<'_>, id: &str) -> view::Form {
    let label = visit.say("Ver a quién se paga", "Show whom it pays");
    view::Form::new(path("/console/payouts", id, "unmask"), "unmask", label)
        .inline()
        .tone(Tone::Quiet)
        .about(visit.say("Verlo queda en la auditoría.", "The audit records that you saw it."))
}

pub async fn payout(visit: &Here<'_>) -> Made {
    of_payout(visit, visit.id(), false).await
}

pub async fn unmask_payout(visit: &Here<'_>) -> Result<Shown, Problem> {
    visit.shown(of_payout(visit, visit.id(), true).await)
}

pub async fn of_payout(visit: &Here<'_>, id: &str, is_unmasked: bool) -> Made {
    let parsed = Id::parse(id).ok_or_else(Problem::not_found)?;
    let (tenant, entity) = find(visit.services, parsed).await?.ok_or_else(Problem::not_found)?;
    if matches!(&*entity, Entity::Payment(_) | Entity::CopPayment(_)) {
        return Err(Problem::not_found().into());
    }
    let payout = if is_unmasked {
        visit.who.must_be(Role::Treasury)?;
        visit.inside.get(&path("/admin/cop-payouts", id, "")).await?
    } else {
        shown(visit.services, tenant, &entity)
    };
    let sees = matches!(&*entity, Entity::CopPayout(_)) && !is_unmasked && may(visit, Role::Treasury);
    let forms = |_: Option<&AtBank>| sees.then(|| show_receiver(visit, id)).into_iter().collect();
    story(visit, ("payouts", id), (tenant, &entity), &payout, forms).await
}

fn resolve_form(visit: &Here<'_>, (page, id): (&str, &str), at_bank: Option<&AtBank>) -> Option<view::Form> {
    let at_bank = at_bank.filter(|at_bank| at_bank.standing != AnswerFrom::Queued)?;
    let title = visit.say("Si el banco ya dijo qué pasó", "If the bank has said what happened");
    let form = at_bank::resolve_form(visit, &at_bank.operation.id.to_string()).title(title);
    may(visit, Role::Treasury).then(|| form.hidden("page", page).hidden("id", id))
}

fn resends(visit: &Here<'_>, (page, id): (&str, &str), events: &[(Id, EventKind)]) -> Vec<Block> {
    if !may(visit, Role::Support) {
        return Vec::new();
    }
    timeline::resends(visit, (page, id), events)
}

fn chargeback_form(visit: &Here<'_>, id: &str) -> view::Form {
    let reasons = [
        ("fraud", visit.say("Otro usó la tarjeta", "Somebody else used the card")),
        ("not_recognized", visit.say("No reconoce la compra", "Not recognized")),
        ("not_received", visit.say("No recibió", "Not received")),
        ("duplicate", visit.say("Cobrado dos veces", "Charged twice")),
        ("other", visit.say("Otro", "Other")),
    ];
    let label = visit.say("Anotar el contracargo", "Record the chargeback");
    view::Form::new(path("/console/payments", id, "chargeback"), "open-chargeback", label)
        .title(visit.say("El banco quitó el dinero", "The bank took the money back"))
        .input(Input::choice("reason", visit.say("Motivo", "Reason"), reasons, ""))
        .input(
            Input::new("amountVes", visit.say("Monto (Bs)", "Amount (Bs)"))
                .hint(visit.say("Vacío: lo que queda del cobro.", "Empty: what is left of the payment."))
                .optional(),
        )
        .tone(Tone::Bad)
}

pub async fn open_chargeback(visit: &Here<'_>) -> Result<Shown, Problem> {
    let outcome = match visit.inside.get(&path("/admin/payments", visit.id(), "")).await {
        Ok(found) => {
            let mut body = visit.form.filled_members(&["amountVes"]);
            if let Some(typed) = visit.form.filled("amountVes") {
                body["amountVes"] = visit.language.typed(typed, 2).into();
            }
            (body["paymentId"], body["reason"]) = (visit.id().into(), visit.form.text("reason").into());
            let to = path("/admin/tenants", str_of(&found, "tenantId"), "chargebacks");
            if !visit.is_confirmed() {
                let title = visit.say("Anotar el contracargo", "Record the chargeback");
                let consequence = visit.say(
                    "El monto y la comisión del contracargo salen del saldo del comercio ahora. Si se gana, vuelven.",
                    "The amount and the chargeback's fee leave the tenant's balance now. If it is won, they return.",
                );
                let confirm = about(visit, &found, title, consequence);
                return super::asked(visit, (hyper::Method::POST, &to, Some(&body)), confirm, payment(visit))
                    .await;
            }
            visit.post(&to, &body).await
        }
        Err(refused) => Err(refused),
    };
    done_with(visit, outcome).await
}

pub async fn cancel(visit: &Here<'_>) -> Result<Shown, Problem> {
    let to = path("/admin/payments", visit.id(), "cancel");
    if visit.is_confirmed() {
        return done_with(visit, visit.post(&to, &json!({})).await).await;
    }
    let found = match visit.inside.get(&path("/admin/payments", visit.id(), "")).await {
        Ok(found) => found,
        Err(refused) => return visit.failed(payment(visit).await, &refused),
    };
    let consequence = visit.say(
        "El pagador ya no puede pagarlo, y el comercio recibe el evento. No se le cobró nada.",
        "Its payer can pay it no more, and the tenant gets the event. Nothing was charged.",
    );
    let confirm = about(visit, &found, visit.say("Cancelar el cobro", "Cancel the payment"), consequence);
    super::asked(visit, (hyper::Method::POST, &to, Some(&json!({}))), confirm, payment(visit)).await
}

/// Whose payment, and of how much.
fn about(visit: &Here<'_>, payment: &Value, title: &str, consequence: &str) -> Confirm {
    const ABOUT: [&str; 9] = [
        "tenantId",
        "mode",
        "vesAmount",
        "amountCop",
        "usdAmount",
        "externalRef",
        "debtorId",
        "cardLast4",
        "createdAt",
    ];
    Confirm {
        page: ("payment", title.to_owned()),
        facts: visit.facts(payment, &ABOUT),
        consequence: consequence.to_owned(),
        figures: Vec::new(),
        label: title.to_owned(),
        back: path("/console/payments", visit.id(), ""),
    }
}

async fn done_with(visit: &Here<'_>, outcome: ApiResult) -> Result<Shown, Problem> {
    let to = path("/console/payments", visit.id(), "");
    visit.acted(outcome, |answer| after(&to, answer), payment(visit)).await
}

/// The page of what a form was about, if it says; the queues have such forms too.
pub fn page_of(visit: &Here<'_>) -> String {
    match visit.form.text("page") {
        page @ ("payments" | "payouts") => path(&format!("/console/{page}"), visit.form.text("id"), ""),
        _ => super::home_of(visit),
    }
}

pub async fn resend(visit: &Here<'_>) -> Result<Shown, Problem> {
    let outcome = visit.post(&path("/admin/events", visit.id(), "resend"), &json!({})).await;
    match outcome {
        Ok(answer) => Ok(after(&page_of(visit), &answer)),
        Err(refused) => visit.failed(Err(refused.clone()), &refused),
    }
}

pub fn cell_to(page: &str, id: &str) -> Cell {
    Cell::code(id).to(format!("/console/{page}/{id}"))
}

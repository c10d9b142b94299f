//! Batches of payouts, of credits to phones, of credits to accounts: reading them item by item, and
//! showing the outcome of each (`docs/contract.md, 7.9, 7.10`).

use super::CHAPTER;
use crate::answer::{Facts, Rendered};
use crate::endpoint::{Context, Handler, endpoints, run, shown};
use crate::fields::{Fields, Invalid, kind, read};
use crate::openapi::operation::Operation;
use crate::openapi::{kinds, schema, values};
use crate::payouts::{self, Form, read_new};
use crate::problem::{BadField, Problem};
use crate::refusals;
use crate::respond::Reply;
use crate::value::{Bad, Value};
use crate::writer::Object;
use domain::codec;
use domain::entities::Entity;
use domain::entities::batch::{Asked, Batch, ItemEnd};
use domain::refusal::Refusal;
use domain::resources::banks::Catalogue;
use domain::resources::payouts::batch::{CanonicalItem, NewBatch, NewItem};
use domain::resources::payouts::{NewPayout, Receiver};
use domain::values::ids::Id;
use domain::values::text::{ExternalRef, REFERENCE_CHARACTERS_MAX};
use std::collections::HashMap;
use std::sync::Arc;

pub const ITEMS_MAX: usize = 1_000;
/// The approximate size of a batch's item in an answer, in bytes.
const ITEM_BYTES: usize = 384;

fn pays_many(operation: Operation) -> Operation {
    operation
        .about(
            "Each item is a payout of its own with its own reference; an item that is bad or refused is \
             answered in its place and does not stop the others. The same batch again answers the same items \
             as they are now.",
        )
        .answers(201, "PayoutBatch", "What became of each item")
        .answers(200, "PayoutBatch", "The batch that is there under this reference")
        .waits_for_approval()
        .refuses(409, &["external_ref_conflict"])
        .refuses(503, &["rail_not_configured"])
}

endpoints! { CHAPTER;
    CREATE = run!(pay, Form::Merchant { alone: false }), "Pay many merchants" => {
        with pays_many;
        body "MerchantPayoutBatch";
        example "two merchants",
            r#"{"externalRef":"batch-1","items":[{"merchantId":"01975a2e-7c00-7000-8000-0000000000aa",
            "monto":"100.00","concepto":"liquidacion",
            "externalRef":"batch-1-a"},{"merchantId":"01975a2e-7c00-7000-8000-0000000000ab",
            "monto":"55.10","concepto":"liquidacion","externalRef":"batch-1-b"}]}"#;
    } shows created;
    DISBURSE = run!(pay, Form::Credit), "Pay many phones" => {
        with pays_many;
        body "PhoneCreditBatch";
        example "one phone",
            r#"{"externalRef":"batch-2","items":[{"banco":"0134","telefono":"04141234567",
            "cedula":"V12345678","monto":"50.00","concepto":"premio","externalRef":"batch-2-a"}]}"#;
    } shows created;
    PAY_ACCOUNTS = run!(pay, Form::Account), "Pay many bank accounts" => {
        with pays_many;
        body "AccountCreditBatch";
        example "one account",
            r#"{"externalRef":"batch-3","items":[{"cuenta":"01340001681234567890","cedula":"V12345678",
            "nombre":"Ana Perez","monto":"50.00","concepto":"nomina","externalRef":"batch-3-a"}]}"#;
    } shows created;
    SHOW_ONE = run!(show_one), "Read a batch" => { answers 200, "PayoutBatch", "Its items as they are now"; };
}

async fn show_one(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("batchId")?;
    cx.server()?.batch(id).await
}

async fn pay(cx: &mut Context<'_>, form: Form) -> Result<Reply, Problem> {
    let item = |value: Value<'_>| read_item(value, form, cx.env.new_id(), cx.banks);
    let (external_ref, items) = read(Fields::parse(&cx.body)?, form, item)?;
    let batch = NewBatch {
        id: cx.env.new_id(),
        external_ref,
        mark: mark(&items, &|parts: &[&[u8]]| cx.env.mark(parts), |_, new| canonical(new, method_of(new))),
        items,
        known: HashMap::new(),
        explain,
    };
    cx.server()?.pay_batch(Box::new(batch)).await
}

/// Reads a batch: its reference, and what `item` makes of each payout.
pub(super) fn read<'a, T>(
    mut fields: Fields<'a>,
    form: Form,
    item: impl Fn(Value<'a>) -> T,
) -> Result<(ExternalRef, Vec<T>), Invalid> {
    let item = || kind(|value: Value<'a>| Ok(item(value)), || schema::named(form.schema()));
    Ok(read!(fields {
        required external_ref = "externalRef", kinds::external_ref();
        required items = "items", kinds::list(1..=ITEMS_MAX, item);
    } => (external_ref, items)))
}

/// The keyed hash of items; `sound` gives the bytes of those that can be read, by their places.
fn mark(
    items: &[NewItem],
    keyed_hash: &dyn Fn(&[&[u8]]) -> [u8; 16],
    mut sound: impl FnMut(usize, &NewPayout) -> Vec<u8>,
) -> [u8; 16] {
    let bytes = |(place, item): (usize, &NewItem)| match item {
        NewItem::Sound(new) => sound(place, new),
        NewItem::Bad { canonical, .. } => canonical.clone(),
    };
    let parts: Vec<Vec<u8>> = items.iter().enumerate().map(bytes).collect();
    keyed_hash(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// The mark that a repeated batch would have if each default were spelt out, or left out, as in the
/// first: if it equals the first one's mark, both mean the same. `payout` finds the payouts of that
/// batch, `default_method` a merchant's method that is used when none is named.
pub fn mark_as_first_written(
    again: &NewBatch,
    first: &Batch,
    keyed_hash: &dyn Fn(&[&[u8]]) -> [u8; 16],
    mut payout: impl FnMut(Id) -> Option<Arc<Entity>>,
    mut default_method: impl FnMut(Id) -> Option<Id>,
) -> [u8; 16] {
    mark(&again.items, keyed_hash, |place, new| {
        let method = method_of(new);
        let Some(ItemEnd::Payout(id)) = first.items.get(place) else { return canonical(new, method) };
        let found = payout(*id);
        let Some(Entity::Payout(paid)) = found.as_deref() else { return canonical(new, method) };
        // A payout that is older than the batch does not tell how the batch wrote it.
        let is_of_batch = paid.batch == Some(first.id);
        let method = match (&new.receiver, method) {
            (Receiver::Merchant { merchant, .. }, None)
                if is_of_batch && paid.method_named && paid.method == default_method(*merchant) =>
            {
                paid.method
            }
            (Receiver::Merchant { .. }, named)
                if is_of_batch && !paid.method_named && paid.method == named =>
            {
                None
            }
            (_, named) => named,
        };
        canonical(new, method)
    })
}

const fn method_of(new: &NewPayout) -> Option<Id> {
    if let Receiver::Merchant { method, .. } = &new.receiver { *method } else { None }
}

fn explain(refusal: &Refusal) -> (&'static str, String) {
    let problem = refusals::problem(refusal);
    (problem.code, problem.message.into_owned())
}

fn read_item(value: Value<'_>, form: Form, id: Id, banks: &Catalogue) -> NewItem {
    match Fields::of(value).and_then(|fields| Ok(read_new(fields, form, id, banks)?)) {
        Ok(new) => NewItem::Sound(new),
        Err(bad) => NewItem::Bad {
            external_ref: reference_of(value),
            error: in_words(bad),
            canonical: value.canonical(),
        },
    }
}

/// The faults of an item of a batch of payouts to merchants, as far as it has them itself; none of one
/// that can be asked for.
pub fn item_faults(item: &str, banks: &Catalogue) -> Vec<BadField> {
    let Ok(fields) = Fields::parse(item.as_bytes()) else { return Vec::new() };
    // The id is part of no payout: nothing is asked for.
    let read = read_new(fields, Form::Merchant { alone: false }, Id::from_bytes([0; 16]), banks);
    read.err().map(|invalid| invalid.fields().to_vec()).unwrap_or_default()
}

/// Bytes that are the same for the same item however it is written, if it named this method.
fn canonical(new: &NewPayout, method: Option<Id>) -> Vec<u8> {
    let receiver = match &new.receiver {
        Receiver::Merchant { merchant, method: _, from_balance } => {
            Receiver::Merchant { merchant: *merchant, method, from_balance: *from_balance }
        }
        receiver => receiver.clone(),
    };
    let (external_ref, amount, concept) = (new.external_ref.clone(), new.amount, new.concept.clone());
    let mut bytes = codec::encode_newest(&CanonicalItem { external_ref, receiver, amount, concept });
    // A version of its own: these are only ever written and compared.
    bytes[0] = 1;
    bytes
}

/// The reference of an item that cannot be read as a whole.
fn reference_of(value: Value<'_>) -> Option<String> {
    let mut fields = Fields::of(value).ok()?;
    let reference = fields.optional("externalRef", kinds::text());
    reference.peek_some().map(|text| text.trim().chars().take(REFERENCE_CHARACTERS_MAX).collect())
}

fn in_words(bad: Bad) -> String {
    match bad {
        Bad::Said(message) => format!("the item {message}"),
        Bad::Inside(fields) => {
            fields.iter().map(|bad| format!("{} {}", bad.field, bad.message)).collect::<Vec<_>>().join("; ")
        }
    }
}

/// The answer as far as the record itself tells: its new payouts are pending. The payouts of a batch that
/// is known are in no record that is at hand: whoever answers reads them.
pub fn created(facts: &Facts<'_>) -> Option<Rendered> {
    let written = facts.record?.entities.iter().map(|written| &written.state);
    let payouts: HashMap<Id, &Arc<Entity>> =
        written.chain(facts.related).map(|entity| (entity.id().id, entity)).collect();
    let body = show(facts.the()?, facts.livemode, |id| payouts.get(&id).map(|entity| Arc::clone(entity)));
    Some((201, body))
}

/// A batch, as JSON; `payout` finds its payouts.
pub fn show(batch: &Batch, livemode: bool, mut payout: impl FnMut(Id) -> Option<Arc<Entity>>) -> Vec<u8> {
    let items = batch.items.iter().map(|place| match place {
        ItemEnd::Payout(id) => match payout(*id).as_deref() {
            Some(Entity::Payout(payout)) => payouts::show(payout),
            _ => Object::new().plain("payoutId", id).end(),
        },
        ItemEnd::Refused { external_ref, code, error, asked } => {
            show_refused(external_ref.as_deref(), code, error, asked.as_ref())
        }
    });
    let body = Object::with_capacity(ITEM_BYTES * (batch.items.len() + 1))
        .plain("batchId", batch.id)
        .text("externalRef", &*batch.external_ref);
    body.list("items", items).boolean("livemode", livemode).end()
}

shown! {
    /// An item that was refused: the members of every item, of which it has those that were asked for, and why.
    fn show_refused(external_ref: Option<&str>, code: &str, error: &str, asked: Option<&Asked>), refused_schema, ITEM_BYTES {
        maybe plain "payoutId" = None::<Id>, values::uuid().about("Null: it is no payout.");
        constant "status" = "failed";
        maybe plain "reference" = None::<Id>, schema::text();
        plain "failureCode" = code,
            schema::text().about("The code with which a single payout would have been refused. Its reference stays free.");
        maybe text "externalRef" = external_ref, schema::text();
        maybe plain "merchantId" = asked.and_then(|asked| asked.merchant), values::uuid();
        maybe plain "payoutMethodId" = asked.and_then(|asked| asked.method), values::uuid();
        maybe plain "merchantName" = None::<Id>, schema::text();
        maybe plain "monto" = asked.map(|asked| asked.amount), values::ves();
        maybe text "concepto" = asked.map(|asked| asked.concept.as_str()), schema::text();
        maybe plain "bankCode" = None::<Id>, values::bank_code();
        maybe plain "destination" = None::<Id>, schema::text();
        maybe plain "operationId" = None::<Id>, values::uuid();
        maybe plain "createdAt" = None::<Id>, values::instant();
        maybe plain "settledAt" = None::<Id>, values::instant();
        text "error" = error, schema::text();
    }
}

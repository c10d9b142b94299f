//! Batches of payouts: one record debits every item that may be paid, in order, against the balance
//! that the items before left. Each item becomes a payout of its own; a refused item is answered in
//! its place, and its reference stays free (`docs/contract.md, 7.9`).

use super::{NewPayout, Receiver, afford, debit, prepare, same};
use crate::cause::Cause;
use crate::codec::stored;
use crate::decision::{Draft, Ruled, Ruling, Turn, repeated};
use crate::entities::Entity;
use crate::entities::batch::{Asked, Batch, ItemEnd};
use crate::entities::mandate_approval::{Member, Subject};
use crate::entities::payout::{Destination, Payout};
use crate::kept::KeepRef;
use crate::ledger::book::Book;
use crate::rail::{Effect, Service};
use crate::record::Written;
use crate::refusal::Refusal;
use crate::values::ids::Id;
use crate::values::money::{Currency, Ves};
use crate::values::text::ExternalRef;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

stored! {
    /// What a payout of a batch asks for: of these bytes, the same however it was written, the batch keeps a keyed
    /// hash, by which the same batch is recognised later. They are only ever written.
    pub struct CanonicalItem {
        0 pub external_ref: ExternalRef,
        1 pub receiver: Receiver,
        2 pub amount: Ves,
        3 pub concept: String,
    }
}

impl Asked {
    fn of(item: &NewPayout) -> Asked {
        let (merchant, method) = match item.receiver {
            Receiver::Merchant { merchant, method, .. } => (Some(merchant), method),
            _ => (None, None),
        };
        Asked { merchant, method, amount: item.amount, concept: item.concept.clone() }
    }
}

#[derive(Clone)]
pub enum NewItem {
    Sound(NewPayout),
    Bad {
        external_ref: Option<String>,
        error: String,
        /// The canonical bytes of the item, the same however it is written.
        canonical: Vec<u8>,
    },
}

#[derive(Clone)]
pub struct NewBatch {
    pub id: Id,
    pub external_ref: ExternalRef,
    pub mark: [u8; 16],
    pub items: Vec<NewItem>,
    pub known: HashMap<ExternalRef, Arc<Entity>>,
    /// The function of the API that gives the code and the message of a refusal.
    pub explain: fn(&Refusal) -> (&'static str, String),
}

impl NewBatch {
    /// What a batch asks for, for the time that it waits for an approval.
    pub fn subject(&self) -> Subject {
        Subject::named("batch", &self.external_ref, vec![Member::of("items", &self.mark)])
    }

    /// Where the account's own data lead each item now.
    pub fn leads_to(&self, book: &Book) -> Vec<Option<Destination>> {
        let of = |item: &NewItem| match item {
            NewItem::Sound(payout) => payout.receiver.leads_to(book),
            NewItem::Bad { .. } => None,
        };
        self.items.iter().map(of).collect()
    }

    /// The references of the items, sorted and without repeats: they are reserved in this order.
    pub fn references(&self) -> BTreeSet<ExternalRef> {
        let sound = |item: &NewItem| {
            if let NewItem::Sound(payout) = item { Some(payout.external_ref.clone()) } else { None }
        };
        self.items.iter().filter_map(sound).collect()
    }
}

pub enum Command {
    /// A request for a batch; the entity is the batch with its reference, if there is one.
    Pay(Box<NewBatch>),
    /// The final answer to the request for a batch, for its Idempotency-Key.
    Answered { kept: Arc<KeepRef>, status: u16, body: Vec<u8> },
}

pub fn decide(book: &Book, batch: Option<&Batch>, command: Command, turn: &Turn<'_>) -> Ruled {
    match (command, batch) {
        (Command::Pay(new), None) => create(book, *new, turn),
        (Command::Pay(new), Some(batch)) => repeated(batch.id, [("items", batch.mark != new.mark)]),
        // When all items have ended or the caller's time is over.
        (Command::Answered { kept, status, body }, Some(_)) => {
            let mut draft = Draft::new(Cause::BatchAnswered);
            draft.replaces_kept = Some(kept);
            draft.answer = Some((status, body));
            Ok(Ruling::write(draft))
        }
        (Command::Answered { .. }, None) => Err(Refusal::NotFound),
    }
}

/// Debits the items that may be paid, and has the bank pay them. It is one call: its sum decides whether somebody has
/// to approve it.
fn create(book: &Book, new: NewBatch, turn: &Turn) -> Ruled {
    turn.terms(Service::Payouts, None).may_queue()?;
    let of_item = &Turn { approved: Some(i64::MAX), ..turn.clone() };
    if turn.threshold(Currency::Ves).is_some() {
        let (draft, _) = debit_all(book, new.clone(), i64::MAX, of_item);
        let sum = draft.record.spent.iter().map(|spending| spending.minor).sum();
        turn.needs_no_approval((Currency::Ves, sum))?;
    }
    let (draft, effects) = debit_all(book, new, book.spendable(Currency::Ves), of_item);
    Ok(Ruling::write_then(draft, effects))
}

/// The record of the items that `left` suffices for, with the orders to the bank.
fn debit_all(book: &Book, new: NewBatch, mut left: i64, turn: &Turn<'_>) -> (Draft, Vec<Effect>) {
    let NewBatch { id, external_ref, mark, items, known: mut payouts, explain } = new;
    let mut draft = Draft::new(Cause::BatchCreated);
    let mut effects = Vec::new();
    let mut places = Vec::with_capacity(items.len());
    for item in items {
        let item = match item {
            NewItem::Sound(item) => item,
            NewItem::Bad { external_ref, error, canonical: _ } => {
                let code = "invalid_data".to_owned();
                places.push(ItemEnd::Refused { external_ref, code, error, asked: None });
                continue;
            }
        };
        let (reference, asked) = (item.external_ref.clone(), Asked::of(&item));
        let decided = match payouts.get(&reference).map(|known| &**known) {
            Some(Entity::Payout(payout)) => same(book, payout, &item).map(|()| payout.id),
            _ => prepare(book, item, &draft.record.spent, turn).and_then(|payout| {
                left = afford(&payout, left)?;
                let id_of = payout.id;
                effects.push(debit(&mut draft, Payout { batch: Some(id), ..payout }, turn));
                let written = draft.record.entities.last();
                payouts.extend(written.map(|written| (reference.clone(), Arc::clone(&written.state))));
                Ok(id_of)
            }),
        };
        places.push(decided.map_or_else(
            |refusal| {
                let (code, error) = explain(&refusal);
                let (external_ref, code) = (Some(reference.to_string()), code.to_owned());
                ItemEnd::Refused { external_ref, code, error, asked: Some(asked) }
            },
            ItemEnd::Payout,
        ));
    }
    let batch =
        Batch { id, external_ref, mark, items: places, livemode: turn.livemode, created_at: turn.now };
    // The first is the one that the command was for.
    draft.record.entities.insert(0, Written { state: Arc::new(batch.into()), indexed: None });
    draft.related = payouts.into_values().collect();
    (draft, effects)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::payouts::{PhoneHolder, Receiver};
    use crate::values::time::Timestamp;
    use crate::values::venezuela::{BankCode, IdentityDocument, MobilePhone};

    fn item(n: u16, reference: &str, minor: i64) -> NewItem {
        let to = PhoneHolder {
            bank: BankCode::parse("0134").expect("a bank"),
            phone: MobilePhone::parse("04147654321").expect("a phone"),
            identity: IdentityDocument::parse("V87654321").expect("an identity"),
        };
        let external_ref = ExternalRef::parse(reference).expect("a reference");
        NewItem::Sound(NewPayout {
            id: Id::derived(1, u64::from(n), 0),
            external_ref,
            receiver: Receiver::Credit(to),
            amount: Ves::from_minor(minor),
            concept: "x".to_owned(),
        })
    }

    fn batch(items: Vec<NewItem>) -> NewBatch {
        let explain = |refusal: &Refusal| {
            (
                if matches!(refusal, Refusal::InsufficientBalance { .. }) { "poor" } else { "conflict" },
                String::new(),
            )
        };
        let external_ref = ExternalRef::parse("b").expect("a reference");
        NewBatch {
            id: Id::derived(1, 0, 0),
            external_ref,
            mark: [0; 16],
            items,
            known: HashMap::new(),
            explain,
        }
    }

    fn decide(money: i64, items: Vec<NewItem>) -> (Vec<Option<String>>, Draft, usize) {
        let mut book = Book::default();
        book.accounts.entry(Currency::Ves).or_default().net = money;
        let turn = Turn::at(Timestamp::from_unix_ms(1));
        let ruling = create(&book, batch(items), &turn).expect("decided");
        assert_eq!(ruling.refusal, None);
        let Ruling { record: draft, effects, .. } = ruling;
        let draft = draft.expect("a record");
        let Entity::Batch(batch) = &*draft.record.entities[0].state else { panic!("the batch comes first") };
        let codes = batch
            .items
            .iter()
            .map(|place| if let ItemEnd::Refused { code, .. } = place { Some(code.clone()) } else { None })
            .collect();
        (codes, draft, effects.len())
    }

    #[test]
    fn what_fits_is_debited_in_order() {
        let poor = Some("poor".to_owned());
        let (codes, draft, sent) =
            decide(100, vec![item(1, "a", 60), item(2, "b", 50), item(3, "c", 40), item(4, "d", 1)]);
        assert_eq!(codes, [None, poor.clone(), None, poor]);
        assert_eq!(
            (
                sent,
                draft.record.entities.len(),
                draft.record.postings.iter().map(|posting| posting.minor).sum::<i64>()
            ),
            (2, 3, 0)
        );
    }

    #[test]
    fn twins_are_one_payout_and_a_refused_reference_is_free() {
        let (codes, draft, sent) =
            decide(100, vec![item(1, "a", 200), item(2, "a", 60), item(3, "a", 60), item(4, "a", 61)]);
        assert_eq!(codes, [Some("poor".to_owned()), None, None, Some("conflict".to_owned())]);
        assert_eq!((sent, draft.record.entities.len()), (1, 2));
    }

    #[test]
    fn nothing_is_debited_from_less_than_nothing() {
        let (codes, draft, sent) = decide(
            -1,
            vec![
                item(1, "a", 1),
                NewItem::Bad {
                    external_ref: None,
                    error: "the item must be an object".to_owned(),
                    canonical: Vec::new(),
                },
            ],
        );
        assert_eq!(codes, [Some("poor".to_owned()), Some("invalid_data".to_owned())]);
        assert_eq!((sent, draft.record.entities.len(), draft.record.postings.len()), (0, 1, 0));
    }
}

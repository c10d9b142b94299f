//! Batches of payouts: one record debits every item that may be paid, in order, against the balance as the items before left it. Each item is a payout of its own with a fate of
//! its own; what is refused is answered in its place and its reference stays free (`contract.md`, sections 7 and 17).

use super::{NewPayout, Payout, afford, conflict, debit, prepare};
use crate::domain::book::Book;
use crate::domain::decision::{Draft, Outcome, Turn};
use crate::domain::external_ref::ExternalRef;
use crate::domain::ids::Id;
use crate::domain::kept::KeepRef;
use crate::domain::record::{Cause, Entity};
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use bincode::{Decode, Encode};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// What became of an item.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Place {
    /// It is this payout, which may be older than the batch.
    Payout(Id),
    /// It was refused, and is no payout.
    Refused {
        /// Its reference, as far as it had one.
        external_ref: Option<String>,
        /// Why, for programs.
        code: String,
        /// Why, for people.
        error: String,
    },
}

/// A batch.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Batch {
    /// Its name.
    pub id: Id,
    /// The tenant's reference.
    pub external_ref: ExternalRef,
    /// A keyed hash of what was asked, by which the same is recognised.
    pub mark: [u8; 16],
    /// What became of the items, in their order.
    pub items: Vec<Place>,
    /// Test batches move no real money.
    pub livemode: bool,
    /// When it was decided.
    pub created_at: Timestamp,
}

/// An item as it is asked for.
pub enum NewItem {
    /// It can be read.
    Sound(NewPayout),
    /// It cannot.
    Bad {
        /// Its reference, as far as it has one.
        external_ref: Option<String>,
        /// What is wrong with it.
        error: String,
    },
}

/// What is asked.
pub struct NewBatch {
    /// Its name.
    pub id: Id,
    /// The tenant's reference.
    pub external_ref: ExternalRef,
    /// A keyed hash of what is asked.
    pub mark: [u8; 16],
    /// The items.
    pub items: Vec<NewItem>,
    /// The payouts whose references are known.
    pub known: HashMap<ExternalRef, Arc<Entity>>,
    /// The code and the words of a refusal: given by the API.
    pub explain: fn(&Refusal) -> (&'static str, String),
}

impl NewBatch {
    /// The references of its items, sorted, each once: in this order they are reserved.
    pub fn references(&self) -> BTreeSet<ExternalRef> {
        let sound = |item: &NewItem| if let NewItem::Sound(payout) = item { Some(payout.external_ref.clone()) } else { None };
        self.items.iter().filter_map(sound).collect()
    }
}

/// The reference of the batch is known.
pub fn repeat(batch: &Batch, again: &NewBatch) -> Outcome {
    if batch.mark == again.mark {
        return Outcome::unchanged();
    }
    Outcome::refuse(Refusal::ExternalRefConflict { existing: batch.id, differs: vec!["items"] })
}

/// Debits what may be paid, and has the bank pay it.
pub fn create(book: &Book, new: NewBatch, turn: &Turn) -> Outcome {
    if !turn.has_rail {
        return Outcome::refuse(Refusal::RailNotConfigured);
    }
    let NewBatch { id, external_ref, mark, items, known: mut payouts, explain } = new;
    let mut draft = Draft::new(Cause::BatchCreated);
    let mut effects = Vec::new();
    let mut left = book.available_ves();
    let mut places = Vec::with_capacity(items.len());
    for item in items {
        places.push(match item {
            NewItem::Bad { external_ref, error } => Place::Refused { external_ref, code: "invalid_data".to_owned(), error },
            NewItem::Sound(item) => {
                let reference = item.external_ref.clone();
                let decided = match payouts.get(&reference).map(|known| &**known) {
                    Some(Entity::Payout(payout)) => conflict(payout, &item).map_or(Ok((payout.id, None)), Err),
                    _ => prepare(book, item, turn).and_then(|payout| {
                        left = afford(&payout, left)?;
                        Ok((payout.id, Some(Payout { batch: Some(id), ..payout })))
                    }),
                };
                match decided {
                    Ok((payout, new)) => {
                        if let Some(new) = new {
                            effects.push(debit(&mut draft, new, turn));
                            payouts.extend(draft.entities.last().map(|written| (reference, Arc::clone(&written.state))));
                        }
                        Place::Payout(payout)
                    }
                    Err(refusal) => {
                        let (code, error) = explain(&refusal);
                        Place::Refused { external_ref: Some(reference.as_str().to_owned()), code: code.to_owned(), error }
                    }
                }
            }
        });
    }
    let batch = Batch { id, external_ref, mark, items: places, livemode: turn.livemode, created_at: turn.now };
    draft.create_first(Entity::Batch(batch));
    draft.related = payouts.into_values().collect();
    Outcome::write_then(draft, effects)
}

/// The items have come to their end, or it is not waited for any longer: this is what the request was answered, and its key keeps it.
pub fn answered(kept: Arc<KeepRef>, status: u16, body: Vec<u8>) -> Outcome {
    let mut draft = Draft::new(Cause::BatchAnswered);
    draft.replace_kept(Some(kept));
    draft.answer = Some((status, body));
    Outcome::write(draft)
}

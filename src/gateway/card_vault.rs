//! Cards that wait in memory for their one charge, each under the name that its token has
//! (`docs/contract.md, 12.12`). They are on no disk and in no log; their memory is zeroed when they
//! are spent, when their time is over, and when the server ends. A restart loses them.
//!
//! A charge borrows its card. What is certain not to have reached a bank gives it back; everything
//! else, also a charge of which nobody knows what became, has spent it.
//!
//! The rule for whom a token is good belongs to `src/api/payments/card_tokens.rs`.

use crate::gateway::names::random_id;
use api::problem::Problem;
use domain::values::card::Card;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

pub const LASTS: Duration = Duration::from_secs(15 * 60);
const HELD_MAX: usize = 10_000;
/// Cards of one account in one mode that wait at once: buyers of one shop leave the others room.
const HELD_PER_TENANT_MAX: usize = 1_000;
const RETRY_AFTER_SECONDS: u32 = 30;

pub type Name = [u8; 16];

#[derive(Default)]
pub struct CardVault(Mutex<HashMap<Name, VaultedCard>>);

struct VaultedCard {
    tenant: u64,
    card: Arc<Card>,
    until: Instant,
    lent: Option<Arc<Notify>>,
}

/// A card that a charge has borrowed. Dropping it spends the card.
pub struct Lent {
    vault: Arc<CardVault>,
    name: Name,
    pub card: Arc<Card>,
    is_back: bool,
}

impl CardVault {
    /// Puts a card of a tenant key in, for [`LASTS`]; 429 when that key has too many, 503 when all
    /// together have.
    pub fn put(self: &Arc<CardVault>, tenant: u64, card: Arc<Card>) -> Result<Name, Problem> {
        // 122 random bits: a token is no secret of the account's, but nobody guesses one.
        let name = *random_id().as_bytes();
        let until = Instant::now() + LASTS;
        let mut held = self.held();
        if held.len() >= HELD_MAX {
            return Err(Problem::overloaded(RETRY_AFTER_SECONDS));
        }
        if held.values().filter(|waiting| waiting.tenant == tenant).count() >= HELD_PER_TENANT_MAX {
            return Err(Problem::too_often(
                "too many cards of this shop wait for their charge, so nothing was kept",
                RETRY_AFTER_SECONDS,
            ));
        }
        held.insert(name, VaultedCard { tenant, card, until, lent: None });
        drop(held);
        let vault = Arc::downgrade(self);
        tokio::spawn(async move {
            sleep_until(until).await;
            if let Some(vault) = vault.upgrade() {
                vault.spend(&name);
            }
        });
        Ok(name)
    }

    /// Lends a card, after waiting for the charge that has it: one of however many ask at once gets
    /// it, and the next one if it comes back. `None` when it is spent or its time is over.
    pub async fn lend(self: &Arc<CardVault>, name: &Name) -> Option<Lent> {
        loop {
            let lent = {
                let mut held = self.held();
                let waiting = held.get_mut(name).filter(|waiting| Instant::now() < waiting.until)?;
                match &waiting.lent {
                    // The waiter is registered before the lock is let go, so that no notice is missed.
                    Some(lent) => Arc::clone(lent).notified_owned(),
                    None => {
                        waiting.lent = Some(Arc::new(Notify::new()));
                        let card = Arc::clone(&waiting.card);
                        return Some(Lent { vault: Arc::clone(self), name: *name, card, is_back: false });
                    }
                }
            };
            lent.await;
        }
    }

    /// Whoever waits for it learns that it is gone.
    fn spend(&self, name: &Name) {
        if let Some(VaultedCard { lent: Some(lent), .. }) = self.held().remove(name) {
            lent.notify_waiters();
        }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Name, VaultedCard>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lent {
    /// Gives the card back: no bank has had it, and the next charge may.
    pub fn give_back(mut self) {
        self.is_back = true;
        let lent = self.vault.held().get_mut(&self.name).and_then(|waiting| waiting.lent.take());
        if let Some(lent) = lent {
            lent.notify_waiters();
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if !self.is_back {
            self.vault.spend(&self.name);
        }
    }
}

pub fn gone() -> Problem {
    Problem::refused(
        410,
        "card_token_gone",
        "the card's token was used, is older than 15 minutes, or was made before the server started, so nothing was charged; have the buyer enter the card again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::values::card::{Cvv, Expiry, Number};
    use domain::values::venezuela::IdentityDocument;

    fn card() -> Arc<Card> {
        Arc::new(Card {
            number: Number::parse("4111111111111111").expect("a number"),
            expiry: Expiry { year: 2030, month: 12 },
            cvv: Cvv::parse("123").expect("a code"),
            holder_name: "Ana Perez".to_owned(),
            holder_id: IdentityDocument::parse("V12345678").expect("a document"),
        })
    }

    #[tokio::test(start_paused = true)]
    async fn a_card_is_there_once_and_for_a_quarter_of_an_hour() {
        let vault = Arc::new(CardVault::default());
        let (once, late) = (vault.put(2, card()).expect("room"), vault.put(2, card()).expect("room"));
        drop(vault.lend(&once).await.expect("it is there"));
        assert!(vault.lend(&once).await.is_none(), "what became of it is not known: it is spent");
        tokio::time::advance(LASTS).await;
        assert!(vault.lend(&late).await.is_none());
        let forgotten = vault.put(2, card()).expect("room");
        tokio::time::sleep(LASTS + Duration::from_secs(1)).await;
        let is_empty = vault.held().is_empty();
        assert!(is_empty && vault.lend(&forgotten).await.is_none(), "nobody had to ask for it");
    }

    #[tokio::test(start_paused = true)]
    async fn a_card_that_comes_back_is_lent_to_the_next_and_counts_all_the_while() {
        let vault = Arc::new(CardVault::default());
        let name = vault.put(2, card()).expect("room");
        let first = vault.lend(&name).await.expect("it is there");
        let next = |vault: &Arc<CardVault>| {
            let vault = Arc::clone(vault);
            tokio::spawn(async move { vault.lend(&name).await })
        };
        let (second, third) = (next(&vault), next(&vault));
        tokio::task::yield_now().await;
        assert_eq!(vault.held().len(), 1, "a card that is lent has its place");
        assert!(!second.is_finished() && !third.is_finished(), "they wait for what becomes of it");
        first.give_back();
        tokio::task::yield_now().await;
        assert!(second.is_finished(), "the first that waits has it");
        let second = second.await.expect("no panic").expect("a card");
        assert_eq!(second.card.number.last_four(), 1111);
        assert!(!third.is_finished());
        drop(second);
        assert!(third.await.expect("no panic").is_none(), "spent");
        assert!(vault.held().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_of_a_card_goes_on_while_it_is_lent() {
        let vault = Arc::new(CardVault::default());
        let name = vault.put(2, card()).expect("room");
        let lent = vault.lend(&name).await.expect("it is there");
        let waiting = tokio::spawn({
            let vault = Arc::clone(&vault);
            async move { vault.lend(&name).await.is_none() }
        });
        tokio::time::sleep(LASTS + Duration::from_secs(1)).await;
        assert!(waiting.await.expect("no panic"), "who waits is told");
        lent.give_back();
        assert!(vault.lend(&name).await.is_none() && vault.held().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn one_account_has_so_many_and_the_others_have_room() {
        let vault = Arc::new(CardVault::default());
        let mut names = (0..HELD_PER_TENANT_MAX).map(|_| vault.put(2, card()).expect("room"));
        let first = names.next().expect("a name");
        assert_eq!(names.count(), HELD_PER_TENANT_MAX - 1);
        let refused = vault.put(2, card()).expect_err("its share");
        assert_eq!((refused.status, refused.code), (429, "rate_limited"));
        assert!(vault.put(3, card()).is_ok(), "another account has room");
        assert!(vault.lend(&first).await.is_some());
        assert!(vault.put(2, card()).is_ok(), "there is a place again");
    }
}

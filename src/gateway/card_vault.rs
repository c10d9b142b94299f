//! Cards that wait in memory for their one charge, each under the name that its token has
//! (`docs/contract.md, 12.12`). They are on no disk and in no log; their memory is zeroed when they
//! are taken, when their time is over, and when the server ends. A restart loses them.
//!
//! Which token is good for whom belongs to `src/api/payments/card_tokens.rs`.

use crate::gateway::ids::random_id;
use api::problem::Problem;
use domain::values::card::Card;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The time for which a card waits.
pub const LASTS: Duration = Duration::from_secs(15 * 60);
/// Cards that wait at once, of all accounts.
const HELD_MAX: usize = 10_000;
/// Cards of one account in one mode that wait at once: buyers of one shop leave the others room.
const HELD_PER_TENANT_MAX: usize = 1_000;
/// Seconds after which somebody who found no room may ask again.
const RETRY_AFTER_SECONDS: u32 = 30;

/// The name of a card that waits.
pub type Name = [u8; 16];

/// The cards that wait.
#[derive(Default)]
pub struct CardVault(Mutex<Held>);

#[derive(Default)]
struct Held {
    cards: HashMap<Name, Waiting>,
    /// The number of cards by tenant key, of those that have any.
    counts: HashMap<u64, usize>,
}

struct Waiting {
    tenant: u64,
    card: Box<Card>,
    until: Instant,
}

impl CardVault {
    /// Puts a card of a tenant key in, for [`LASTS`]; 429 when that key has too many, 503 when all
    /// together have.
    pub fn put(self: &Arc<CardVault>, tenant: u64, card: Box<Card>) -> Result<Name, Problem> {
        // 122 random bits: a token is no secret of the account's, but nobody guesses one.
        let name = *random_id().as_bytes();
        let until = Instant::now() + LASTS;
        self.held().put(name, Waiting { tenant, card, until })?;
        let vault = Arc::downgrade(self);
        tokio::spawn(async move {
            sleep_until(until).await;
            if let Some(vault) = vault.upgrade() {
                vault.held().remove(&name);
            }
        });
        Ok(name)
    }

    /// Takes a card out: one of however many ask at once gets it.
    pub fn take(&self, name: &Name) -> Option<Box<Card>> {
        let waiting = self.held().remove(name)?;
        (Instant::now() < waiting.until).then_some(waiting.card)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn put(&mut self, name: Name, waiting: Waiting) -> Result<(), Problem> {
        if self.cards.len() >= HELD_MAX {
            return Err(Problem::overloaded(RETRY_AFTER_SECONDS));
        }
        let count = self.counts.entry(waiting.tenant).or_default();
        if *count >= HELD_PER_TENANT_MAX {
            return Err(Problem::too_often(
                "too many cards of this shop wait for their charge; nothing was kept",
                RETRY_AFTER_SECONDS,
            ));
        }
        *count += 1;
        self.cards.insert(name, waiting);
        Ok(())
    }

    fn remove(&mut self, name: &Name) -> Option<Waiting> {
        let waiting = self.cards.remove(name)?;
        if let Some(count) = self.counts.get_mut(&waiting.tenant) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&waiting.tenant);
            }
        }
        Some(waiting)
    }
}

/// The problem of a token whose card is not there any more.
pub fn gone() -> Problem {
    Problem::refused(
        410,
        "card_token_gone",
        "the card's token was used, is older than 15 minutes, or was made before the server started; nothing was charged, have the buyer enter the card again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::values::card::{Cvv, Expiry, Number};
    use domain::values::identity::IdentityDocument;

    fn card() -> Box<Card> {
        Box::new(Card {
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
        assert!(vault.take(&once).is_some() && vault.take(&once).is_none());
        tokio::time::advance(LASTS).await;
        assert!(vault.take(&late).is_none());
        let forgotten = vault.put(2, card()).expect("room");
        tokio::time::sleep(LASTS + Duration::from_secs(1)).await;
        assert!(
            vault.held().cards.is_empty() && vault.take(&forgotten).is_none(),
            "nobody had to ask for it"
        );
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
        assert!(vault.take(&first).is_some());
        assert!(vault.put(2, card()).is_ok(), "there is a place again");
    }
}

//! Limits of what people without a key may do in the checkout.
//!
//! Whoever has a link can open sessions, and whoever has a session can have a payer's bank or
//! processor send messages. What a link or a phone can take is shared by all who come; before it
//! every client has a smaller bucket of its own, so that no single one uses up what is shared.
//! Addresses of sessions and links can be guessed at: what is not there is counted per client, and what is
//! there is shown to all.

use crate::gateway::limits::Throttle;
use crate::http::listen::Arrival;
use crate::network::{Client, TrustedProxies};
use api::problem::Problem;
use domain::entities::session::Session;
use domain::values::colombia::ColombianPhone;
use domain::values::ids::Id;
use domain::values::venezuela::MobilePhone;
use std::time::Duration;

/// The time after which another is let through, and how many in a row.
type Bound = (Duration, u32);

/// Sessions that one client opens of a link: an office that comes to buy at once.
const SESSIONS: Bound = (Duration::from_secs(1), 50);
/// For all clients of a link: twenty a second are more than a shop sells, and little to the log.
const SHARED_SESSIONS: Bound = (Duration::from_millis(50), 10 * SESSIONS.1);
/// Messages that a session has sent, or a client to a phone: a buyer who corrects bank, document and phone more than
/// once comes through; a payer who is plagued with messages gets ten in ten minutes and no more.
const MESSAGES: Bound = (Duration::from_secs(60), 10);
const SHARED_MESSAGES: Bound = (Duration::from_secs(20), 3 * MESSAGES.1);
/// Cards and transfers that may be tried, of a session and by a client at one shop: who has mistyped comes through,
/// and who tries numbers out does not get far.
const GUESSES: Bound = (Duration::from_secs(60), 10);
/// Attempts in pesos of a session: each is an order to the processor.
const STARTS: Bound = (Duration::from_secs(60), 10);
/// Those of a client at one shop: many buyers share the address of their telephone company.
const CLIENT_STARTS: Bound = (Duration::from_secs(6), 60);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phone {
    Venezuelan(MobilePhone),
    Colombian(ColombianPhone),
}

pub struct Limits {
    proxies: TrustedProxies,
    misses: Throttle<Client>,
    sessions: Throttle<(Client, Id)>,
    shared_sessions: Throttle<Id>,
    messages: Throttle<Id>,
    guesses: Throttle<Id>,
    guessers: Throttle<(Client, u64)>,
    starts: Throttle<Id>,
    starters: Throttle<(Client, u64)>,
    payers: Throttle<(Client, Id, Phone)>,
    shared_payers: Throttle<(Id, Phone)>,
}

fn throttle<K: Copy + Eq + std::hash::Hash>((every, burst): Bound) -> Throttle<K> {
    Throttle::every(every, burst)
}

impl Limits {
    /// `misses_per_minute` 0 is no limit of misses.
    pub fn new(proxies: TrustedProxies, misses_per_minute: u32, misses_burst: u32) -> Limits {
        Limits {
            proxies,
            misses: Throttle::every(
                Duration::from_secs(60).checked_div(misses_per_minute).unwrap_or_default(),
                misses_burst,
            ),
            sessions: throttle(SESSIONS),
            shared_sessions: throttle(SHARED_SESSIONS),
            messages: throttle(MESSAGES),
            guesses: throttle(GUESSES),
            guessers: throttle(GUESSES),
            starts: throttle(STARTS),
            starters: throttle(CLIENT_STARTS),
            payers: throttle(MESSAGES),
            shared_payers: throttle(SHARED_MESSAGES),
        }
    }

    pub fn client(&self, arrival: &Arrival) -> Client {
        self.proxies.client(arrival.peer.ip(), &arrival.head.headers)
    }

    /// Returns what a client looked for, or a 404, which is counted; 429 in its place for a client that has
    /// asked for too many addresses that lead nowhere. What is there is never refused: many share the
    /// address of their telephone company, ids cannot be guessed, and slugs are public.
    pub fn looked<T>(&self, client: Client, found: Result<Option<T>, Problem>) -> Result<T, Problem> {
        let refused =
            |seconds| Problem::too_often("too many addresses were asked for that lead nowhere", seconds);
        match found? {
            Some(found) => Ok(found),
            None => {
                self.misses.check(client).map_err(refused)?;
                Err(Problem::not_found())
            }
        }
    }

    pub fn open(&self, client: Client, link: Id) -> Result<(), Problem> {
        let why = "too many sessions were opened of this payment link, so none was opened";
        let refused = |seconds| Problem::too_often(why, seconds);
        self.sessions.check((client, link)).and_then(|()| self.shared_sessions.check(link)).map_err(refused)
    }

    /// Counts a card or a transfer that is tried in a session of a shop; 429 if it is one over the
    /// limit. Sessions of a link are had for nothing, so the client is counted too.
    pub fn guess(&self, client: Client, shop: u64, session: Id) -> Result<(), Problem> {
        let refused = |seconds| {
            Problem::too_often("too many were tried in this checkout, so nothing was charged", seconds)
        };
        self.guessers.check((client, shop)).and_then(|()| self.guesses.check(session)).map_err(refused)
    }

    pub fn start(&self, client: Client, shop: u64, session: Id) -> Result<(), Problem> {
        let why = "too many payments in pesos were begun in this checkout, so none was begun";
        let refused = |seconds| Problem::too_often(why, seconds);
        self.starters.check((client, shop)).and_then(|()| self.starts.check(session)).map_err(refused)
    }

    pub fn message(&self, client: Client, session: &Session, payer: Phone) -> Result<(), Problem> {
        let link = session.bought.as_ref().map(|bought| bought.link);
        let by_client = link.map_or(Ok(()), |link| self.payers.check((client, link, payer)));
        let by_session = || self.messages.check(session.id);
        let shared = || link.map_or(Ok(()), |link| self.shared_payers.check((link, payer)));
        let refused = |seconds| {
            Problem::too_often("too many codes were asked for in this checkout, so none was sent", seconds)
        };
        by_client.and_then(|()| by_session()).and_then(|()| shared()).map_err(refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_client_uses_up_what_is_shared() {
        for (own, shared) in [(SESSIONS, SHARED_SESSIONS), (MESSAGES, SHARED_MESSAGES)] {
            assert!(own.1 < shared.1 && own.0 > shared.0);
        }
    }
}

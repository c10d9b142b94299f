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

/// Sessions that one client opens of a link in a row: an office that comes to buy at once.
const SESSIONS_BURST: u32 = 50;
const SESSIONS_EVERY: Duration = Duration::from_secs(1);
/// Sessions that a link opens in a row, for all clients.
const SHARED_SESSIONS_BURST: u32 = 10 * SESSIONS_BURST;
/// The time after which another may be opened by anybody: twenty a second are more than a shop
/// sells, and little to the log.
const SHARED_SESSIONS_EVERY: Duration = Duration::from_millis(50);
/// Messages that a session has sent in a row, or a client to a phone: a buyer who corrects bank,
/// document and phone more than once comes through.
const MESSAGES_BURST: u32 = 10;
/// The time after which another message may be sent, when the burst is used up: a payer who is
/// plagued with messages gets ten in ten minutes and no more.
const MESSAGES_EVERY: Duration = Duration::from_secs(60);
/// Messages that all clients together have sent to a phone through a link in a row.
const SHARED_MESSAGES_BURST: u32 = 3 * MESSAGES_BURST;
const SHARED_MESSAGES_EVERY: Duration = Duration::from_secs(20);
/// Cards and transfers that may be tried in a row, of a session and by a client at one shop: who has
/// mistyped comes through, and who tries numbers out does not get far.
const GUESSES_BURST: u32 = 10;
const GUESSES_EVERY: Duration = Duration::from_secs(60);
/// Attempts in pesos that may begin in a row in a session: each is an order to the processor.
const STARTS_BURST: u32 = 10;
const STARTS_EVERY: Duration = Duration::from_secs(60);
/// Attempts in pesos that a client may begin in a row at one shop: many buyers share the address of
/// their telephone company.
const CLIENT_STARTS_BURST: u32 = 60;
const CLIENT_STARTS_EVERY: Duration = Duration::from_secs(6);
/// The time in which a client may miss `misses_per_minute` times.
const MINUTE: Duration = Duration::from_secs(60);

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

impl Limits {
    /// `misses_per_minute` 0 is no limit of misses.
    pub fn new(proxies: TrustedProxies, misses_per_minute: u32, misses_burst: u32) -> Limits {
        Limits {
            proxies,
            misses: Throttle::every(MINUTE.checked_div(misses_per_minute).unwrap_or_default(), misses_burst),
            sessions: Throttle::every(SESSIONS_EVERY, SESSIONS_BURST),
            shared_sessions: Throttle::every(SHARED_SESSIONS_EVERY, SHARED_SESSIONS_BURST),
            messages: Throttle::every(MESSAGES_EVERY, MESSAGES_BURST),
            guesses: Throttle::every(GUESSES_EVERY, GUESSES_BURST),
            guessers: Throttle::every(GUESSES_EVERY, GUESSES_BURST),
            starts: Throttle::every(STARTS_EVERY, STARTS_BURST),
            starters: Throttle::every(CLIENT_STARTS_EVERY, CLIENT_STARTS_BURST),
            payers: Throttle::every(MESSAGES_EVERY, MESSAGES_BURST),
            shared_payers: Throttle::every(SHARED_MESSAGES_EVERY, SHARED_MESSAGES_BURST),
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
        let refused = |seconds| {
            Problem::too_often(
                "too many sessions were opened of this payment link, so none was opened",
                seconds,
            )
        };
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
        let refused = |seconds| {
            Problem::too_often(
                "too many payments in pesos were begun in this checkout, so none was begun",
                seconds,
            )
        };
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
        for (own, own_every, shared, shared_every) in [
            (SESSIONS_BURST, SESSIONS_EVERY, SHARED_SESSIONS_BURST, SHARED_SESSIONS_EVERY),
            (MESSAGES_BURST, MESSAGES_EVERY, SHARED_MESSAGES_BURST, SHARED_MESSAGES_EVERY),
        ] {
            assert!(own < shared && own_every > shared_every);
        }
    }
}

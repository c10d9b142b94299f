//! How often buyers may do what costs others something. Whoever has a link can open sessions, and whoever has a session can have a payer's bank send codes; no key stands before either,
//! so each link and each session has a bound of its own. Sessions of a link are as many as anybody wants: of those a payer's phone has one too.

use crate::api::problem::Problem;
use crate::domain::checkout::Session;
use crate::domain::ids::Id;
use crate::domain::phone::MobilePhone;
use crate::server::throttle::Throttle;
use std::time::Duration;

/// Sessions that a link opens in a row: a crowd that comes to buy at once.
const SESSIONS_BURST: u32 = 100;
/// And then one in so long: twenty a second are more than a shop sells, and little to the log.
const SESSIONS_EVERY: Duration = Duration::from_millis(50);
/// Codes that a session has banks send in a row: a buyer who corrects bank, document and phone more than once comes through.
const CODES_BURST: u32 = 10;
/// And then one in so long: ten in ten minutes, of which a payer who is plagued with them sees no more.
const CODES_EVERY: Duration = Duration::from_secs(60);

/// The bounds of all links and sessions.
pub struct Limits {
    sessions: Throttle<Id>,
    codes: Throttle<Id>,
    payers: Throttle<(Id, MobilePhone)>,
}

impl Limits {
    /// Nothing has been done yet.
    pub fn new() -> Limits {
        Limits {
            sessions: Throttle::every(SESSIONS_EVERY, SESSIONS_BURST),
            codes: Throttle::every(CODES_EVERY, CODES_BURST),
            payers: Throttle::every(CODES_EVERY, CODES_BURST),
        }
    }

    /// One more session of a link.
    pub fn open(&self, link: Id) -> Result<(), Problem> {
        self.sessions.check(link).map_err(|seconds| Problem::too_often("too many sessions were opened of this payment link; none was opened", seconds))
    }

    /// One more code for a payer of a session.
    pub fn request(&self, session: &Session, payer: MobilePhone) -> Result<(), Problem> {
        let by_session = self.codes.check(session.id);
        let by_payer = || session.bought.as_ref().map_or(Ok(()), |bought| self.payers.check((bought.link, payer)));
        by_session.and_then(|()| by_payer()).map_err(|seconds| Problem::too_often("too many codes were asked for in this checkout; none was sent", seconds))
    }
}

//! The endpoints of banks and processors, which call us unasked (`docs/contract.md, 18.6`): beside
//! tenants, without an API key. A path is there if its rail is configured.
//!
//! The proofs and the words of a caller are in `r4.rs` and `wompi.rs`. It must not know how a
//! payment finds its notice.
//!
//! A bank's own call belongs here. Calls that we make to a bank do not: those are in `src/rails/`.

mod r4;
mod wompi;

use crate::gateway::ask::look_now;
use crate::gateway::dispatch::Request;
use crate::gateway::notices;
use crate::gateway::services::Services;
use crate::gateway::tenant_request::in_a_task;
use crate::http::listen::Arrival;
use crate::http::respond::{self, Reply};
use crate::rails::secret::ApiSecret;
use api::problem::Problem;
use api::refusals::problem;
use api::writer::Object;
use domain::entities::notice::About;
use domain::refusal::Refusal;
use hyper::header::RETRY_AFTER;
pub use r4::Settings as R4Settings;
use std::sync::Arc;
pub use wompi::notice_event;

const BODY_BYTES_MAX: usize = 64 << 10;
const COPY_RETRY_SECONDS: u32 = 60;

#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub r4: Option<R4Settings>,
    pub wompi_events_secret: Option<ApiSecret>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RailCall {
    Question,
    Notice,
    Event,
}

pub const ROWS: [(&str, RailCall); 4] = [
    ("/rails/r4/R4consulta", RailCall::Question),
    ("/rails/r4/R4notifica", RailCall::Notice),
    ("/rails/r4/MBconsulta", RailCall::Notice),
    ("/rails/wompi/events", RailCall::Event),
];

pub struct RailCalls {
    services: Arc<Services>,
    settings: Settings,
}

impl RailCalls {
    pub fn new(services: Arc<Services>, settings: Settings) -> RailCalls {
        RailCalls { services, settings }
    }

    /// The paths of the rails that are configured; all are sent to by POST.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, RailCall)> {
        ROWS.into_iter().filter(|(_, call)| match call {
            RailCall::Question | RailCall::Notice => self.settings.r4.is_some(),
            RailCall::Event => self.settings.wompi_events_secret.is_some(),
        })
    }

    /// R4 is known by its head, Wompi by its body: to find out that an event is forged takes the whole
    /// of it, which its greatest length and the client's share bound. Nobody is turned away for what
    /// others forged from the same address.
    pub fn authenticate(&self, call: RailCall, arrival: &Arrival) -> Result<(), Problem> {
        match (call, &self.settings.r4) {
            (RailCall::Event, _) => Ok(()),
            (RailCall::Question | RailCall::Notice, Some(r4)) if r4.admits(arrival) => Ok(()),
            (RailCall::Question | RailCall::Notice, _) => {
                Err(Problem::unauthorized("the header authorization, or the address, is not the bank's"))
            }
        }
    }

    pub async fn answer(&self, call: RailCall, asked: &mut Request<'_>) -> Result<Reply, Problem> {
        // What is told to a restored copy never comes to the server that took over: the bank tries again.
        if !self.services.rails.outbound.is_open() {
            return Err(problem(&Refusal::RailUnavailable { retry_after_seconds: COPY_RETRY_SECONDS }));
        }
        asked.inbound.cap(BODY_BYTES_MAX);
        // Whatever type a bank gives it: what it says is read, or not.
        let body = asked.inbound.of_any_type(&asked.arrival.head.headers).await?;
        match (call, &self.settings.r4, &self.settings.wompi_events_secret) {
            (RailCall::Question, Some(r4), _) => r4::answer_question(&self.services, r4, &body).await,
            (RailCall::Notice, Some(r4), _) => {
                let transfer = r4::read_notice(&self.services, r4, &body)?;
                let is_taken = transfer.is_some();
                if let Some(transfer) = transfer {
                    self.keep(About::Transfer(transfer)).await?;
                }
                Ok(r4::abono(200, is_taken))
            }
            (RailCall::Event, _, Some(secret)) => {
                let (payment, about) = wompi::read_event(&self.services, secret, &body).await?;
                if let Some(about) = about {
                    self.keep(about).await?;
                }
                if let Some((tenant, payment)) = payment {
                    look_now(&self.services, tenant, payment);
                }
                Ok(Reply::json(200, Object::new().boolean("received", true).end()))
            }
            (RailCall::Question | RailCall::Notice, None, _) | (RailCall::Event, _, None) => {
                Err(Problem::not_found())
            }
        }
    }

    /// In a task of its own: a caller who goes away must not leave a notice that nobody looks for.
    async fn keep(&self, about: About) -> Result<(), Problem> {
        let services = Arc::clone(&self.services);
        in_a_task(async move { notices::receive(&services, about).await }).await
    }

    /// R4 reads one member, whatever has happened.
    pub fn refused(call: RailCall, problem: &Problem, arrival: &Arrival) -> Reply {
        let reply = match call {
            RailCall::Notice => r4::abono(problem.status, false),
            RailCall::Question => r4::status(problem.status, false),
            RailCall::Event => return Reply::problem(problem, &arrival.request_id),
        };
        respond::log(problem, &arrival.request_id);
        r4::note_refused(problem, arrival);
        match problem.retry_after {
            Some(seconds) => reply.header(RETRY_AFTER, seconds.get().into()),
            None => reply,
        }
    }
}

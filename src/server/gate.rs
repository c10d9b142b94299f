//! The startup gate: holds a listener that is bound before its handlers exist; until then the process
//! lives and is not ready.

use super::{Server, is_for_visitors};
use crate::cluster::front::StandbyFront;
use crate::http::body::Inbound;
use crate::http::listen::{Answer, Arrival};
use crate::http::respond::Reply;
use api::problem::Problem;
use api::writer::Object;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

/// Seconds after which to try again while the log is replayed.
const RETRY_SECONDS: u32 = 1;

/// Leads to the server once it is open.
pub struct StartupGate {
    inside: OnceLock<Server>,
    /// The answers while another machine leads.
    standby: OnceLock<StandbyFront>,
    why_closed: RwLock<&'static str>,
    /// Whether another machine may lead meanwhile: then a request is not this one's to do.
    is_node: AtomicBool,
}

impl StartupGate {
    /// A closed gate.
    pub fn new() -> StartupGate {
        StartupGate {
            inside: OnceLock::new(),
            standby: OnceLock::new(),
            why_closed: RwLock::new("recovering: the log is being replayed"),
            is_node: AtomicBool::new(false),
        }
    }

    /// Has the gate answer for a node of a cluster that opens its log.
    pub fn start_node(&self) {
        self.explain("starting: this node opens its log, and then follows the cluster");
        self.is_node.store(true, Ordering::Release);
    }

    /// The problem of a request that came before the gate was open.
    fn closed(&self) -> Problem {
        if self.is_node.load(Ordering::Acquire) {
            Problem::no_leader()
        } else {
            Problem::overloaded(RETRY_SECONDS)
        }
    }

    /// Sets the reason why the gate is closed.
    pub fn explain(&self, why: &'static str) {
        *self.why_closed.write().unwrap_or_else(PoisonError::into_inner) = why;
    }

    /// Has a standby answer until the gate is open.
    pub fn stand_by(&self, front: StandbyFront) {
        let _ = self.standby.set(front);
    }

    /// Opens the gate, once.
    pub fn open(&self, inside: Server) {
        assert!(self.inside.set(inside).is_ok(), "a startup gate is opened once");
    }
}

impl Answer for StartupGate {
    async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Reply {
        if let Some(front) = self.standby.get()
            && let Some(reply) = front.own(arrival)
        {
            return reply;
        }
        match self.inside.get() {
            Some(inside) => inside.answer(arrival, body).await,
            None if let Some(front) = self.standby.get() => front.answer(arrival, body).await,
            None if arrival.head.uri.path() == "/healthz" => {
                Reply::json(200, Object::new().plain("status", "ok").end())
            }
            None if arrival.head.uri.path() == "/readyz" => {
                let why = *self.why_closed.read().unwrap_or_else(PoisonError::into_inner);
                Reply::json(503, Object::new().plain("status", "unavailable").plain("reason", why).end())
            }
            None if is_for_visitors(arrival.head.uri.path()) => {
                Reply::public_problem(&self.closed(), &arrival.request_id)
            }
            None => Reply::problem(&self.closed(), &arrival.request_id),
        }
    }
}

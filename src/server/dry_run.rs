//! Calls that are only rehearsed: the same endpoint, over services whose engine works on clones of the books and
//! writes nothing. What it left there is the answer.

use super::table::Endpoint;
use super::{Caller, Server};
use crate::admin::AdminApi;
use crate::gateway::dispatch::Request;
use crate::gateway::services::{Services, defect};
use crate::http::respond::Reply;
use crate::outbox::Outbox;
use crate::outbox::rehearsed::Rehearsed as Effects;
use crate::webhooks::Tenants;
use actors::Rehearsal;
use api::dry_run::{Happened, NAME, NO_BALANCE, Rehearsed, VALUES, show, show_order};
use api::problem::Problem;
use domain::codec;
use domain::machine::Domain;
use domain::record::Record;
use domain::values::ids::{PLATFORM, is_live};
use domain::values::time::Timestamp;
use std::ops::ControlFlow;
use std::sync::Arc;
use wal::BEFORE_REHEARSED;

const NO_TRY: &str = "is not for this call in live mode: a rehearsed try would cost none";

struct Stage {
    services: Arc<Services>,
    // The last, so that the engine ends when nothing needs it any more.
    _engine: Rehearsal<Domain>,
}

impl Stage {
    fn over(real: &Services) -> Stage {
        let rails = Arc::new(real.rails.rehearsing());
        let outbox = Arc::new(Outbox::new(
            Arc::clone(&rails),
            real.prices.market.clone(),
            Arc::clone(&real.webhooks),
            Arc::clone(&real.observed.business),
            real.engine.clock.clone(),
        ));
        let engine = real.engine.rehearse(Arc::new(Effects::new(Arc::clone(&rails), Arc::clone(&outbox))));
        let services = Arc::new(real.rehearsing(engine.clone(), rails));
        outbox.attach(&services);
        Stage { services, _engine: engine }
    }

    /// What was written, with the account that it is of: a call of an operator may be about any.
    fn records(&self) -> Result<Vec<(u64, Record, Timestamp)>, Problem> {
        let reader = self.services.engine.reader();
        let mut records = Vec::new();
        for stored in reader.records(BEFORE_REHEARSED + 1, None) {
            let stored = stored.map_err(Problem::internal_error)?;
            let record = codec::decode(&stored.payload).map_err(Problem::internal_error)?;
            records.push((stored.tenant, record, Timestamp::from_unix_ms(stored.time_ms)));
        }
        Ok(records)
    }

    fn orders(&self) -> Vec<Vec<u8>> {
        let rehearsed = self.services.rails.rehearsed();
        rehearsed.iter().map(|one| show_order(one.rail, one.kind, one.minor, one.currency)).collect()
    }

    /// The account that a call of an operator is about.
    fn account(&self, records: &[(u64, Record, Timestamp)]) -> Option<u64> {
        let moves = |record: &Record| !(record.postings.is_empty() && record.events.is_empty());
        let about = records.iter().find(|(tenant, record, _)| *tenant != PLATFORM && moves(record));
        about.map(|(tenant, ..)| *tenant)
    }

    async fn show(&self, caller: Option<u64>, reply: Reply) -> Result<Reply, Problem> {
        let records = self.records()?;
        let mut happened = Happened { orders: self.orders(), ..Happened::default() };
        let tenant = caller.or_else(|| self.account(&records));
        let known = tenant.and_then(|tenant| Some((tenant, self.services.mode_of(tenant)?)));
        let Some((tenant, of)) = known else {
            return Ok(Reply::json(200, show(reply.status, &reply.body, NO_BALANCE, happened)));
        };
        let own = records.into_iter().filter(|(of, ..)| *of == tenant);
        let records: Vec<(Record, Timestamp)> = own.map(|(_, record, time)| (record, time)).collect();
        let (book, now) = self.services.book(tenant).await?;
        let rehearsed = Rehearsed { of, book: &book, now, records: &records };
        happened.movements = rehearsed.movements();
        happened.holds = rehearsed.holds();
        happened.events = rehearsed.events();
        Ok(Reply::json(200, show(reply.status, &reply.body, &rehearsed.balance(), happened)))
    }
}

impl Server {
    /// The endpoint gets the call as it gets every other. What its row asks of a request was asked before.
    pub(super) async fn rehearsed(
        &self,
        endpoint: &Endpoint,
        caller: Caller,
        mut request: Request<'_>,
    ) -> Result<Reply, Problem> {
        let (stage, arrival) = (Stage::over(&self.services), request.arrival);
        let is_unclear = request.unexpected.iter().any(|bad| bad.field == NAME);
        let services = Arc::clone(&stage.services);
        let (tenant, audience, replied) = match (endpoint, caller) {
            (Endpoint::Tenant(route), Caller::Tenant(caller))
                if route.is_try && is_live(caller.tenant_key) =>
            {
                return Err(Problem::invalid_field(NAME, NO_TRY));
            }
            (Endpoint::Tenant(route), Caller::Tenant(caller)) => {
                let (tenant, gateway) = (caller.tenant_key, self.audiences.tenants.over(services));
                let replied = match gateway.prepare(route, caller, &mut request).await {
                    Ok(ControlFlow::Break(reply)) => Ok(reply),
                    Ok(ControlFlow::Continue(work)) => {
                        gateway.perform(work, Some(arrival), arrival.head.uri.query()).await
                    }
                    Err(problem) => Err(problem),
                };
                (Some(tenant), super::Audience::Tenant, replied)
            }
            (Endpoint::Operator(route), Caller::Operator(operator)) => {
                let operators = AdminApi::new(services);
                (None, super::Audience::Operator, operators.answer(route, operator, request).await)
            }
            _ => return Err(defect("an endpoint that cannot be rehearsed")),
        };
        let reply = match replied {
            Err(problem) if is_unclear && problem.fields.iter().any(|bad| bad.field == NAME) => {
                return Err(problem);
            }
            _ if is_unclear => return Err(Problem::invalid_field(NAME, VALUES)),
            // The body of the call itself was not taken.
            Err(problem) if matches!(problem.status, 413 | 415 | 429) => return Err(problem),
            Err(problem) => self.refused(audience, problem, arrival),
            Ok(reply) => reply,
        };
        stage.show(tenant, reply).await
    }
}

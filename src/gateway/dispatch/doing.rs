//! Does what a plan says: asks the engine, or looks into what is written.

mod charges;
mod own;
mod work;

use super::{Performer, Planned};
use crate::gateway::answer::{Shows, reply};
use crate::gateway::ask;
use crate::gateway::ask::failure;
use crate::gateway::batches;
use crate::gateway::idempotency::KeyUse;
use crate::gateway::limits::WorkSlot;
use crate::gateway::otp;
use crate::gateway::reservations::NameHeld;
use crate::gateway::services::Services;
use crate::http::respond::{Reply, RequestId};
use crate::store::history;
use crate::store::read_budget::{ReadBudget, Stopped};
use crate::store::stored::{self, Stored};
use actors::{CommandReply, Guard};
use api::plan::{Caller, Condition, Plan};
use api::problem::Problem;
use api::records::{Answered, Read, Unread};
use domain::commands::{Command, KeyedCommand};
use domain::index::Space;
use domain::kept::KeepRef;
use domain::machine::Domain;
use domain::platform::is_live;
use domain::resources::payments;
use domain::values::ids::EntityId;

/// The parts of a request that its plan needs.
struct Doing<'a> {
    caller: &'a Caller,
    request_id: &'a RequestId,
    used: Option<KeyUse>,
    shows: Shows,
    /// The work slot, held until the first record is durable or, of a read, until the answer.
    slot: Option<WorkSlot>,
}

impl Performer {
    /// Does what the handler wants done.
    pub(super) async fn carry_out(&self, work: Planned, request_id: &RequestId) -> Result<Reply, Problem> {
        let Planned { plan, caller, used, shows, slot, export: _, pass: _ } = work;
        let mut doing = Doing { caller: &caller, request_id, used, shows, slot };
        let (tenant, engine) = (caller.tenant_key, &self.services.engine);
        let answer = |outcome| reply(&self.services, tenant, shows, outcome, request_id);
        let plan = match plan {
            Plan::If(condition, plan) => {
                self.check(condition, &mut doing).await?;
                *plan
            }
            plan => plan,
        };
        match plan {
            Plan::Answer(status, body) => Ok(Reply::json(status, body)),
            Plan::Book(ask) => {
                let (command, _slot, held) = doing.command(ask);
                let outcome = engine.ask_book(tenant, command, held).await;
                answer(outcome)
            }
            Plan::Entity(id, ask) => {
                let (command, slot, held) = doing.command(ask);
                let mut outcome = engine.ask_entity(tenant, id, false, command, slot, held).await;
                others_done(&mut outcome).await;
                answer(outcome)
            }
            Plan::Create { space, name, id, mut ask } => {
                let held_name = self.hold_name(space, &name, &mut doing).await;
                let known = history::named(engine.reader(), tenant, space, &name)?;
                if let Command::Payments(payments::Command::RequestC2p(new)) = &mut ask {
                    new.is_known = known.is_some();
                    if is_live(tenant) {
                        // A bank takes its time, so the work slot is given back first.
                        doing.slot = None;
                        Box::pin(otp::before_next_intent(&self.services, tenant, new, known)).await?;
                    }
                }
                let (command, slot, held) = doing.command(ask);
                let until_record: Guard = Box::new((held_name, slot));
                let (id, new) =
                    known.map_or((id, true), |known| (EntityId { kind: id.kind, id: known }, false));
                let outcome = engine.ask_entity(tenant, id, new, command, Some(until_record), held).await;
                answer(outcome)
            }
            Plan::New(id, mut ask) => {
                if let Command::Otps(payments::otp::Command::Request(new)) = &mut ask
                    && is_live(tenant)
                {
                    doing.slot = None;
                    Box::pin(otp::before_debit(&self.services, tenant, new)).await?;
                }
                let (command, slot, held) = doing.command(ask);
                let outcome = engine.ask_entity(tenant, id, true, command, slot, held).await;
                answer(outcome)
            }
            // Boxed: each connection has room for its longest future, and most of the time of a
            // small one goes into moving it.
            plan => Box::pin(self.carry_out_rest(plan, doing)).await,
        }
    }

    /// Reserves a name. Who has to wait for it gives its work slot back: a bank may be asked under the
    /// name, and repeats would keep the tenant's other requests from working. It takes none again, since
    /// who waits for a slot under a name stands in the way of those who wait for the name in a slot.
    async fn hold_name(&self, space: Space, name: &str, doing: &mut Doing<'_>) -> NameHeld {
        let (reservations, tenant) = (&self.services.names.reservations, doing.caller.tenant_key);
        match reservations.try_hold_name(tenant, space, name) {
            Some(held) => held,
            None => {
                doing.slot = None;
                // Boxed: every request has room for this future, and few wait.
                Box::pin(reservations.hold_name(tenant, space, name)).await
            }
        }
    }

    /// Carries out the plans that are rarer, or longer.
    async fn carry_out_rest(&self, plan: Plan, mut doing: Doing<'_>) -> Result<Reply, Problem> {
        let (tenant, shows, request_id) = (doing.caller.tenant_key, doing.shows, doing.request_id);
        let engine = &self.services.engine;
        let reader = engine.reader();
        let mut is_crowd = false;
        if plan.goes_through_records() {
            doing.slot = None;
            let share = self.services.shares.of(tenant);
            doing.slot = self.services.shares.page(&share).await?;
            is_crowd = doing.slot.as_ref().is_some_and(WorkSlot::has_waited);
        }
        match plan {
            Plan::If(..)
            | Plan::Answer(..)
            | Plan::Book(..)
            | Plan::Entity(..)
            | Plan::Create { .. }
            | Plan::New(..) => Err(ask::defect("a plan came a way that is not its own")),
            Plan::Read(read) => self.look_up(tenant, is_crowd, read).await,
            Plan::View(query, show) => {
                let view = engine.view(tenant, query).await.map_err(failure)?;
                Ok(Reply::json(200, show(view, doing.caller.livemode())?))
            }
            Plan::Found(find, ask) => {
                let id = find(&Stored::of(reader, tenant)).map_err(stored::problem)?;
                let (command, slot, held) = doing.command(ask);
                let outcome = engine.ask_entity(tenant, id, false, command, slot, held).await;
                reply(&self.services, tenant, shows, outcome, request_id)
            }
            Plan::Work(work) => self.carry_out_work(work, is_crowd, doing).await,
        }
    }

    /// Checks a condition of a plan, such as that an entity exists; the problem if it does not
    /// hold.
    async fn check(&self, condition: Condition, doing: &mut Doing<'_>) -> Result<(), Problem> {
        let tenant = doing.caller.tenant_key;
        match condition {
            Condition::Known(id) => match history::entity(self.services.engine.reader(), tenant, id)? {
                Some(_) => Ok(()),
                None => Err(Problem::not_found()),
            },
            Condition::MayReach(url) => {
                // A name's look-up takes as long as its name server, so the work slot is given back
                // first.
                doing.slot = None;
                Box::pin(self.services.webhooks.aim(tenant, &url))
                    .await
                    .map_err(|why| Problem::invalid_field("url", why))
            }
        }
    }

    /// Reads what is durable.
    async fn look_up(&self, tenant: u64, is_crowd: bool, read: Read) -> Result<Reply, Problem> {
        let reader = self.services.engine.reader();
        let answered = match read {
            Read::Few(read) => read(&Stored::of(reader, tenant)),
            Read::FewNow(read) => {
                let now = self.clock(tenant).await?;
                read(&Stored::of(reader, tenant).at(now))
            }
            Read::Many(read) => {
                self.read(tenant, is_crowd, move |services, budget| {
                    within_budget(read(&Stored::of(services.engine.reader(), tenant).within(budget)))
                })
                .await?
            }
            Read::ManyNow(read) => {
                let now = self.clock(tenant).await?;
                self.read(tenant, is_crowd, move |services, budget| {
                    let stored = Stored::of(services.engine.reader(), tenant).at(now);
                    within_budget(read(&stored.within(budget)))
                })
                .await?
            }
        };
        Ok(Reply::json(200, answered.map_err(stored::problem)?))
    }

    /// Reads what may be long. Beside others, those of a tenant that asks for many at once are all
    /// read where no request waits behind them.
    async fn read<T: Send + 'static>(
        &self,
        tenant: u64,
        is_crowd: bool,
        read: impl Fn(&Services, &ReadBudget) -> Result<T, Stopped> + Send + 'static,
    ) -> Result<T, Problem> {
        let (services, pool) = (&self.services, &self.services.read_pool);
        if is_crowd {
            pool.read_long(services, tenant, read).await
        } else {
            pool.read(services, tenant, read).await
        }
    }
}

impl Doing<'_> {
    /// The command, the guard until its first record, and the guard until it is answered.
    fn command(self, ask: Command) -> (KeyedCommand, Option<Guard>, Option<Guard>) {
        let (keep, slot, held) = self.keep();
        (KeyedCommand::from(ask).keeping(keep), slot, held)
    }

    /// The answer to be kept and its key, the guard until the first record, and the guard until the
    /// request is answered.
    fn keep(self) -> (Option<KeepRef>, Option<Guard>, Option<Guard>) {
        let slot = self.slot.map(|slot| Box::new(slot) as Guard);
        let Some(used) = self.used else { return (None, slot, None) };
        let (keep, held) = used.keep();
        (Some(keep), slot, Some(held))
    }
}

/// Separates a read that was stopped, by its budget or by the disk, from one with an answer.
fn within_budget(answered: Answered) -> Result<Answered, Stopped> {
    match answered {
        Err(Unread::Stopped(stopped)) => Err(stopped.into()),
        answered => Ok(answered),
    }
}

/// The answer to a read: 200 with the body, or 404 if there is none.
fn found(body: Option<Vec<u8>>) -> Result<Reply, Problem> {
    body.map(|body| Reply::json(200, body)).ok_or_else(Problem::not_found)
}

/// Waits for a short time for the follow-up effects of a record: a caller who completes a payment
/// sees the conversion that follows by itself.
async fn others_done(outcome: &mut CommandReply<Domain>) {
    if let Ok(settled) = outcome
        && let Some(mut performed) = settled.performed.take()
    {
        // A timeout is no failure: the effect is durable, and goes on by itself.
        let _ = Box::pin(tokio::time::timeout(batches::PATIENCE, performed.wait())).await;
    }
}

//! The effects of records that are only rehearsed: no bank is called and no endpoint woken. In test mode the
//! simulated bank decides without writing it down; in live mode every order is still on its way.

use super::{Outbox, Outcome, at_once};
use crate::rails::registry::Registry;
use actors::Effects;
use domain::machine::{Command, Domain};
use domain::rail::{Effect, How, Order, RailAnswer, RailReply};
use domain::record::Record;
use domain::values::ids::is_live;
use std::sync::Arc;

pub struct Rehearsed {
    rails: Arc<Registry>,
    /// With these rails.
    outbox: Arc<Outbox>,
}

impl Rehearsed {
    pub fn new(rails: Arc<Registry>, outbox: Arc<Outbox>) -> Rehearsed {
        Rehearsed { rails, outbox }
    }
}

impl Effects<Domain> for Rehearsed {
    fn perform(&self, tenant: u64, effect: Effect) -> Outcome {
        if effect.how != How::Ask {
            self.rails.note(tenant, &effect.order);
        }
        if !is_live(tenant) || matches!(effect.order, Order::PriceUsdt { .. }) {
            return self.outbox.perform(tenant, effect);
        }
        // As lanes say it of an order that waits for its turn.
        let answer = if effect.how == How::Offer { RailAnswer::NotSent } else { RailAnswer::Waiting };
        at_once(Command::RailReply(RailReply::plain(effect.operation, effect.how, answer)))
    }

    fn durable(&self, _tenant: u64, _record: &Record) {}
}

//! Messages to an entity.

use crate::machine::Rules;
use crate::protocol::book::Firing;
use crate::protocol::reply::{Guard, ReplyTo};
use crate::protocol::step::Step;
use std::time::Instant;

pub(crate) enum EntityMessage<R: Rules> {
    /// `fresh` as in [`Ask`](crate::protocol::book::Ask).
    Ask {
        command: R::Command,
        fresh: bool,
        step: Option<Step>,
        asked: Instant,
        reply_to: ReplyTo<R>,
    },
    Due {
        command: R::Command,
        firing: Box<Firing<R>>,
    },
    /// Of the record of another command.
    Perform {
        effect: R::Effect,
        step: Option<Step>,
        until_done: Guard,
    },
    /// Of an effect that was not done at once.
    Result {
        command: R::Command,
        step: Option<Step>,
        effect: u64,
    },
    /// The effect takes longer than its caller is kept waiting.
    Late {
        effect: u64,
    },
    /// The effect broke off; the entity's deadline will take care of it.
    Lost {
        effect: u64,
    },
}

//! Commands to webhook endpoints, and the rule that answers each.

use super::{
    EventRef, NewWebhook, Progress, Webhook, WebhookChange, change, delete, progress, register, resend,
    rotate_secret,
};
use crate::decision::{Ruling, Turn};
use crate::ledger::book::Book;
use crate::refusal::Refusal;

/// A command to a webhook endpoint.
pub enum Command {
    /// A request for a new endpoint.
    Register(Box<NewWebhook>),
    /// A request to change an endpoint.
    Change(Box<WebhookChange>),
    /// A request for the next secret, beside which the last signs for so many seconds.
    RotateSecret(u32),
    /// A request to delete the endpoint.
    Delete,
    /// The progress of its deliveries.
    Progress(Box<Progress>),
    /// A request to deliver this event again.
    Resend(EventRef),
}

/// The ruling on a command.
pub fn decide(book: &Book, webhook: Option<&Webhook>, command: Command, turn: &Turn<'_>) -> Ruling {
    match (command, webhook) {
        (Command::Register(new), None) => register(book, *new, turn),
        (Command::Change(ask), Some(webhook)) => change(book, webhook, *ask),
        (Command::RotateSecret(overlap_seconds), Some(webhook)) => {
            rotate_secret(webhook, overlap_seconds, turn)
        }
        (Command::Delete, Some(webhook)) => delete(webhook),
        (Command::Progress(made), Some(webhook)) => progress(book, webhook, *made, turn),
        (Command::Resend(event), Some(webhook)) => resend(webhook, event, turn),
        (Command::Register(_), Some(_))
        | (
            Command::Change(_)
            | Command::RotateSecret(_)
            | Command::Delete
            | Command::Progress(_)
            | Command::Resend(_),
            None,
        ) => Ruling::refuse(Refusal::NotFound),
    }
}

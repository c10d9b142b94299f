//! Commands to webhook endpoints, and the rule that answers each.

use super::{NewWebhook, Progress, WebhookChange, change, delete, progress, register, resend, rotate_secret};
use crate::decision::{Ruling, Turn};
use crate::entities::webhook::{EventRef, Webhook};
use crate::ledger::book::Book;
use crate::refusal::Refusal;

pub enum Command {
    Register(Box<NewWebhook>),
    Change(Box<WebhookChange>),
    /// A request for the next secret, beside which the last signs for so many seconds.
    RotateSecret(u32),
    Delete,
    Progress(Box<Progress>),
    Resend(EventRef),
}

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

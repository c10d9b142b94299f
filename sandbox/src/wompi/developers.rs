//! Calls of developers that only Wompi has: being the buyer, renewing acceptance tokens, sending an
//! event again.

use super::answers;
use super::books::{Entry, Status};
use super::{Wompi, now_ms};
use crate::http::{Answer, Request};
use serde::Deserialize;
use serde_json::json;

/// `POST /sandbox/settle`: the outcome of a transaction that nobody has decided.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settle {
    id: Option<String>,
    reference: Option<String>,
    status: Status,
    /// Whether one that is decided is decided again: a processor that changes its mind.
    #[serde(default)]
    again: bool,
}

/// `POST /sandbox/events`: the event of a transaction, once more.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SendEvent {
    id: String,
    /// The status in the event, also if the transaction has another.
    status: Option<Status>,
}

fn read<T: serde::de::DeserializeOwned>(request: &Request) -> Result<T, Answer> {
    let body = request.json().map_err(|problem| Answer::problem(400, problem))?;
    serde_json::from_value(body).map_err(|error| Answer::problem(400, error.to_string()))
}

impl Wompi {
    /// Settles a transaction as the buyer would: paid, declined, or failed for no known reason.
    pub(super) async fn settle(&self, request: &Request) -> Answer {
        let asked: Settle = match read(request) {
            Ok(asked) => asked,
            Err(answer) => return answer,
        };
        let from_ms = now_ms();
        let decided = self
            .books
            .with(move |books| {
                let ledger = books.ledger();
                let by_id = asked.id.as_deref().and_then(|id| ledger.by_id(id));
                let by_reference =
                    asked.reference.as_deref().and_then(|reference| ledger.by_reference(reference));
                let transaction = by_id.or(by_reference).ok_or((404, "there is no such transaction"))?;
                if transaction.decided.is_some() && !asked.again {
                    return Err((409, "it is decided; \"again\": true decides it once more"));
                }
                let id = transaction.created.id.clone();
                books.enter(Entry::Decided { id: id.clone(), status: asked.status, from_ms });
                Ok(books.ledger().by_id(&id).cloned().expect("a transaction of the books"))
            })
            .await;
        match decided {
            Ok(transaction) => {
                self.schedule_event(&transaction);
                answers::data(200, self.shown(&transaction))
            }
            Err((status, text)) => Answer::problem(status, text),
        }
    }

    /// Refuses the acceptance tokens of before from now on.
    pub(super) async fn renew_tokens(&self) -> Answer {
        let generation = self
            .books
            .with(|books| {
                books.enter(Entry::TokensRenewed);
                books.ledger().tokens_generation
            })
            .await;
        Answer::new(200, json!({"renewed": generation}))
    }

    /// Sends an event now.
    pub(super) async fn send_event_again(&self, request: &Request) -> Answer {
        let asked: SendEvent = match read(request) {
            Ok(asked) => asked,
            Err(answer) => return answer,
        };
        let transaction = match self.transaction(&asked.id).await {
            Ok(transaction) => transaction,
            Err(answer) => return answer,
        };
        let Some(site) = self.site.get().and_then(std::sync::Weak::upgrade) else {
            return Answer::problem(409, "the sandbox is stopping");
        };
        let status = asked.status.unwrap_or_else(|| transaction.status(now_ms()));
        let arrived = self.send_event(&site, &asked.id, status).await;
        Answer::new(200, json!({"arrived": arrived}))
    }
}

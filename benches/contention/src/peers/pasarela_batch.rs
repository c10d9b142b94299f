//! A request for as many debits as a batch may have.

use super::pasarela::{ABOUT, Kept, Paid, Server, Way, credit};
use crate::loader::{Answer, Caller, Soon};
use crate::peer::About;
use serde::Deserialize;

/// Items of a batch: as many as there may be.
const ITEMS: usize = 1_000;

/// Debits by batches.
pub struct Batches;

struct BatchCaller(Kept);

#[derive(Deserialize)]
struct Batch<'a> {
    #[serde(borrow)]
    items: Vec<Paid<'a>>,
}

impl Way for Batches {
    fn about(&self) -> About {
        About {
            title: "Pasarela, batches of 1,000",
            per_call: ITEMS,
            how: "POST /v1/payments/credit/disburse with 1,000 items, each with an answer of its own",
            ..ABOUT
        }
    }

    fn caller(&self, server: &Server, _nth: usize) -> Box<dyn Caller> {
        Box::new(BatchCaller(Kept::new(server)))
    }
}

impl Caller for BatchCaller {
    fn debit<'a>(&'a mut self, ids: &'a [u64], minor: i64) -> Soon<'a, Vec<Answer>> {
        Box::pin(async move {
            // The same debits again are the same batch.
            let Some(first) = ids.first() else { return Vec::new() };
            let items: Vec<String> = ids.iter().map(|id| credit(*id, minor)).collect();
            let body =
                format!(r#"{{"externalRef":"lab-{first}-{}","items":[{}]}}"#, ids.len(), items.join(","));
            let read = |body: &[u8]| {
                let batch: Batch<'_> = serde_json::from_slice(body).ok()?;
                Some(batch.items.iter().map(Paid::answer).collect())
            };
            self.0.ask("POST", "/v1/payments/credit/disburse", &body, read).await.unwrap_or_default()
        })
    }

    fn balance(&mut self) -> Soon<'_, Option<i64>> {
        Box::pin(self.0.balance())
    }
}

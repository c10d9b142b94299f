//! A request for each debit.

use super::pasarela::{ABOUT, Kept, Paid, Server, Way, credit};
use crate::loader::{Answer, Caller, Soon};
use crate::peer::About;

/// Debits by single calls.
pub struct Single;

struct SingleCaller(Kept);

impl Way for Single {
    fn about(&self) -> About {
        About { title: "Pasarela, single calls", how: "POST /v1/payments/credit", ..ABOUT }
    }

    fn caller(&self, server: &Server, _nth: usize) -> Box<dyn Caller> {
        Box::new(SingleCaller(Kept::new(server)))
    }
}

impl Caller for SingleCaller {
    fn debit<'a>(&'a mut self, ids: &'a [u64], minor: i64) -> Soon<'a, Vec<Answer>> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(ids.len());
            for id in ids {
                let read = |body: &[u8]| serde_json::from_slice::<Paid>(body).ok().map(|paid| paid.answer());
                let answer = self.0.ask("POST", "/v1/payments/credit", &credit(*id, minor), read).await;
                answers.push(answer.unwrap_or(Answer::Unknown));
            }
            answers
        })
    }

    fn balance(&mut self) -> Soon<'_, Option<i64>> {
        Box::pin(self.0.balance())
    }
}

//! Whether Wompi is there, knows our merchant and takes our private key
//! (`docs/contract.md, 21.10`). The secrets that sign have no call that only tries them.

use super::Wompi;
use super::acceptance::Acceptance;
use super::wire::Transaction;
use crate::rails::checking::Finding;
use crate::rails::http::HttpAnswer;
use std::time::Instant;
use uuid::Uuid;

const MERCHANT: &str = "merchant";
const KEY: &str = "key";

impl Wompi {
    pub(super) async fn tried(&self) -> Vec<Finding> {
        let began = Instant::now();
        let answer = match self.exchange(self.merchant(), self.deadline()).await.answer() {
            Ok(answer) => answer,
            Err(failure) => return vec![Finding::unreached(&self.settings.base_url, failure)],
        };
        let reach = Finding::fine("reach", format!("answers within {} ms", began.elapsed().as_millis()));
        let (clock, merchant) = (Finding::clock(&self.client), merchant(&answer));
        // Nothing is under a reference that nobody had: only whether the key is taken shows.
        let key = match self.exchange(self.under(Uuid::now_v7()), self.deadline()).await.answer() {
            Ok(answer) => private_key(&answer),
            Err(failure) => Finding::wrong(KEY, failure.text()),
        };
        vec![reach, clock, merchant, key]
    }
}

fn merchant(answer: &HttpAnswer) -> Finding {
    match answer.status {
        200..=299 if Acceptance::read(&answer.body).is_some() => {
            Finding::fine(MERCHANT, "known, with the tokens of the terms")
        }
        status @ 200..=299 => Finding::wrong(
            MERCHANT,
            format!("the tokens of the terms are not in its answer (status {status})"),
        ),
        status => {
            Finding::wrong(MERCHANT, format!("not known (status {status}): look at public_key and base_url"))
        }
    }
}

fn private_key(answer: &HttpAnswer) -> Finding {
    match answer.status {
        200..=299 if Transaction::read_list(&answer.body).is_some() => {
            Finding::fine(KEY, "private_key is taken")
        }
        status @ (401 | 403) => Finding::wrong(KEY, format!("private_key is not taken (status {status})")),
        status => Finding::wrong(KEY, format!("the list of transactions cannot be read (status {status})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rails::checking::Verdict;

    fn answer(status: u16, body: &str) -> HttpAnswer {
        HttpAnswer { status, body: body.as_bytes().to_vec() }
    }

    #[test]
    fn the_merchant_has_to_be_known_with_its_tokens() {
        let known = concat!(
            r#"{"data":{"presigned_acceptance":{"acceptance_token":"a"},"#,
            r#""presigned_personal_data_auth":{"acceptance_token":"b"}}}"#,
        );
        assert_eq!(merchant(&answer(200, known)).verdict, Verdict::Fine);
        for (status, body) in [(200, "{}"), (404, known), (401, "{}"), (500, "")] {
            assert_eq!(merchant(&answer(status, body)).verdict, Verdict::Wrong, "{status}");
        }
    }

    #[test]
    fn an_empty_list_shows_that_the_key_is_taken() {
        assert_eq!(private_key(&answer(200, r#"{"data":[]}"#)).verdict, Verdict::Fine);
        for (status, body) in [(401, "{}"), (403, "{}"), (200, "<html>"), (500, r#"{"data":[]}"#)] {
            assert_eq!(private_key(&answer(status, body)).verdict, Verdict::Wrong, "{status}");
        }
    }
}

//! Whether R4 is there, takes our signature, keeps our time and has a BCV rate, all by MBbcv
//! (`docs/contract.md, 21.3`).

use super::R4;
use super::client::today;
use super::quotation::DAYS_BACK;
use super::wire::Reply;
use crate::rails::checking::{Finding, Verdict};
use crate::rails::http::HttpAnswer;
use crate::rails::live::BankWord;
use std::time::Instant;

const CURRENCY: &str = "USD";
const RATE: &str = "MBbcv";

impl R4 {
    pub(super) async fn tried(&self) -> Vec<Finding> {
        let today = today();
        let began = Instant::now();
        let first = match self.quoted(CURRENCY, today).await {
            Ok(answer) => answer,
            Err(failure) => return vec![Finding::unreached(&self.settings.base_url, failure)],
        };
        let took = began.elapsed().as_millis();
        let reach = Finding::fine("reach", format!("answers within {took} ms"));
        let signature = signature(&first);
        let is_taken = signature.verdict == Verdict::Fine;
        let mut findings = vec![reach, Finding::clock(&self.client), signature];
        if is_taken {
            findings.push(match self.newest(CURRENCY, today, Some(first)).await {
                Ok(Some(found)) => {
                    Finding::fine(RATE, format!("{CURRENCY} {} of {}", found.rate.0, found.value_date))
                }
                Ok(None) => {
                    let days = DAYS_BACK + 1;
                    Finding::wrong(RATE, format!("it has no rate of {CURRENCY} of the last {days} days"))
                }
                Err(why) => Finding::wrong(RATE, why),
            });
        }
        findings
    }
}

fn signature(answer: &HttpAnswer) -> Finding {
    const SIGNATURE: &str = "signature";
    let status = answer.status;
    let code = Reply::read(&answer.body).map(|reply| BankWord::new(&reply.code, "").code);
    let says = match &code {
        Some(code) => format!("status {status}, code {code}"),
        None => format!("status {status}, without a code"),
    };
    match (status, code.as_deref()) {
        (401 | 403, _) | (_, Some("08")) => Finding::wrong(
            SIGNATURE,
            format!("not taken ({says}): look at commerce_token and signature_case"),
        ),
        (500.., _) => Finding::wrong(
            SIGNATURE,
            format!(
                "the bank has a failure of its own ({says}): try again later, and ask the bank if it stays so"
            ),
        ),
        (300..=399, _) | (_, None) => Finding::wrong(
            SIGNATURE,
            format!("this is not an answer of R4's ({says}): look at base_url and path_family"),
        ),
        (_, Some(_)) => Finding::fine(SIGNATURE, format!("taken ({says})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_whether_the_caller_was_taken_for_us() {
        for (status, body, verdict) in [
            (200, r#"{"code":"00","tipocambio":1}"#, Verdict::Fine),
            (200, r#"{"code":"01","message":"COTIZACION NO ENCONTRADA"}"#, Verdict::Fine),
            (404, r#"{"code":"01"}"#, Verdict::Fine),
            (401, r#"{"code":"08"}"#, Verdict::Wrong),
            (200, r#"{"code":"08"}"#, Verdict::Wrong),
            (401, r#"{"code":"15"}"#, Verdict::Wrong),
            (401, "", Verdict::Wrong),
            (404, "<html>", Verdict::Wrong),
            (302, r#"{"code":"00"}"#, Verdict::Wrong),
            (503, r#"{"code":"00"}"#, Verdict::Wrong),
        ] {
            let answer = HttpAnswer { status, body: body.as_bytes().to_vec() };
            assert_eq!(signature(&answer).verdict, verdict, "{status} {body}");
            // A failure of the bank's own is no reason to look at our settings.
            assert_eq!(
                signature(&answer).text.contains("base_url"),
                matches!(status, 404 | 302) && verdict == Verdict::Wrong
            );
        }
    }
}

//! Statements: the days of a currency, with a plot and as a file.

use super::{Here, Made};
use crate::pages::inside::{segment, with_query};
use crate::pages::show;
use crate::pages::site::Shown;
use crate::pages::statement;
use crate::pages::view::{Note, Page, Tone};
use api::problem::Problem;

async fn asked(visit: &Here<'_>) -> (statement::Asked, String) {
    let now = statement::present(visit.services, visit.who.tenant_key).await;
    let asked = statement::Asked::read(&visit.query, visit.language, now);
    let path = match visit.query.filled("merchantId") {
        Some(merchant) => format!("/v1/merchants/{}/statements", segment(merchant)),
        None => "/v1/statements".to_owned(),
    };
    let path = with_query(&path, &asked.parameters());
    (asked, path)
}

async fn page(visit: &Here<'_>) -> Made {
    let (asked, path) = asked(visit).await;
    let merchant = visit.query.text("merchantId");
    let mut page = Page::new("statements", visit.say("Estado de cuenta", "Statement"));
    page.blocks.push(asked.form("/portal/statements", &[("merchantId", merchant)]).into());
    if let Some(fault) = asked.fault() {
        return Ok(page.failed(400, Note::new(Tone::Bad, fault)));
    }
    match visit.inside.get(&path).await {
        Ok(found) => {
            page.blocks.extend(statement::blocks(visit.language, &found));
            let download = with_query("/portal/statements", &[("format", "csv"), ("merchantId", merchant)]);
            page.blocks.push(asked.download(&download).into());
            Ok(page)
        }
        Err(refused) => Ok(page.failed(refused.status, show::refusal(visit.language, &refused))),
    }
}

pub async fn answer(visit: &Here<'_>) -> Result<Shown, Problem> {
    if visit.query.get("format") == Some("csv") {
        return match visit.inside.download(&asked(visit).await.1, "text/csv").await {
            Ok(file) => Ok(Shown::Raw(file)),
            Err(refused) => visit.shown(Err(refused)),
        };
    }
    visit.shown(page(visit).await)
}

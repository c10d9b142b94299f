//! Statements: the days of a currency, with a plot and as a file.

use super::{Here, Made, Portal};
use crate::http::listen::Answer;
use crate::http::respond::Reply;
use crate::pages::inside::{segment, with_query};
use crate::pages::show;
use crate::pages::statement;
use crate::pages::view::{Note, Page, Tone};

async fn asked<G: Answer>(portal: &Portal<G>, visit: &Here<'_, G>) -> (statement::Asked, String) {
    let now = statement::present(&portal.services, visit.who.tenant_key).await;
    let asked = statement::Asked::read(&visit.query, visit.language, now);
    let path = match visit.query.filled("merchantId") {
        Some(merchant) => format!("/v1/merchants/{}/statements", segment(merchant)),
        None => "/v1/statements".to_owned(),
    };
    let path = with_query(&path, &asked.parameters());
    (asked, path)
}

/// GET /portal/statements
pub async fn page<G: Answer>(portal: &Portal<G>, visit: &Here<'_, G>) -> Made {
    let (asked, path) = asked(portal, visit).await;
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

/// GET /portal/statements?format=csv
pub async fn download<G: Answer>(portal: &Portal<G>, visit: &Here<'_, G>) -> Reply {
    visit.inside.download(&asked(portal, visit).await.1, "text/csv").await
}

//! Statements: the days of a currency, with a plot and as a file.

use super::Here;
use crate::pages::inside::segment;
use crate::pages::site::Shown;
use crate::pages::statement::{self, Whose};
use crate::pages::view;
use api::problem::Problem;

pub async fn answer(visit: &Here<'_>) -> Result<Shown, Problem> {
    let merchant = visit.query.text("merchantId");
    let api = match merchant {
        "" => "/v1/statements".to_owned(),
        merchant => format!("/v1/merchants/{}/statements", segment(merchant)),
    };
    let now = statement::present(visit.services, visit.who.tenant_key).await;
    let (here, title) = ("/portal/statements", ["Estado de cuenta", "Statement"]);
    let whose = Whose { now, api, here, title, kept: ("merchantId", merchant) };
    let more = |form: view::Form| match merchant {
        "" => form,
        merchant => form.hidden("merchantId", merchant),
    };
    statement::answer(visit, whose, more).await
}

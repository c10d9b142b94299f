//! What a tenant does to its own account on the pages of the portal: rows like any other, which only pages
//! can call and no description names.

use super::read_rotation;
use crate::endpoint::{Context, Endpoint, endpoint, run};
use crate::fields::Fields;
use crate::openapi::operation::summary;
use crate::problem::Problem;
use crate::respond::Reply;

pub const ROTATE_KEY: Endpoint =
    endpoint("", run!(rotate), || summary("Replace the caller's key")).shows(super::show_made);
pub const ASK_LIVE: Endpoint = endpoint("", run!(ask_live), || summary("Ask for live mode"));

async fn rotate(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let overlap = read_rotation(Fields::parse_optional(&cx.body)?)?;
    cx.server()?.rotate_own_key(overlap).await
}

async fn ask_live(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    cx.no_body()?;
    cx.server()?.ask_live().await
}

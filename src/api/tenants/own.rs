//! What a tenant does to its own account on the pages of the portal: rows like any other, which only pages
//! can call and no description names.

use super::read_rotation;
use crate::fields::Fields;
use crate::openapi::operation::summary;
use crate::plan::{Call, Plan, Work};
use crate::problem::Problem;
use crate::routes::{Endpoint, endpoint};

/// POST /v1/pages/keys/rotate: a new key in the place of the caller's own.
pub const ROTATE_KEY: Endpoint =
    endpoint("", rotate, || summary("Replace the caller's key")).shows(super::show_made);
/// POST /v1/pages/live: the operator is asked for live mode.
pub const ASK_LIVE: Endpoint = endpoint("", ask_live, || summary("Ask for live mode"));

fn rotate(call: &Call<'_>) -> Result<Plan, Problem> {
    let overlap = read_rotation(Fields::parse_optional(call.body)?)?;
    Ok(Plan::Work(Work::RotateOwnKey { overlap, peer: None }))
}

fn ask_live(call: &Call<'_>) -> Result<Plan, Problem> {
    Fields::parse_optional(call.body)?.finish()?;
    Ok(Plan::Work(Work::AskLive { peer: None }))
}

//! The cluster, as its leader shows it, and the planned switch to another node. What a standby
//! answers to the same calls is in `cluster/front.rs`.

use super::call::{Call, CallResult, Done};
use crate::cluster::{Cluster, HandOverRefused, front};
use crate::gateway::ask;
use api::fields::{Bad, Fields, Got, Invalid};
use api::kind::kind;
use api::openapi::schema;
use api::problem::Problem;
use api::value::Value;
use api::writer::Object;
use domain::platform::PlatformAsk;
use wal::cluster::is_node_name;

/// The problem of a hand-over that could not be done.
impl From<HandOverRefused> for Problem {
    fn from(refused: HandOverRefused) -> Problem {
        match refused {
            HandOverRefused::UnknownNode => Problem::invalid_field("to", "must be the name of a node"),
            HandOverRefused::NotCandidate(why) => Problem::not_a_candidate(why),
            HandOverRefused::NotLeader => Problem::no_leader(),
            HandOverRefused::Unknown => Problem::storage_unavailable(),
        }
    }
}

/// The node of a cluster; one machine alone has nothing here.
fn node(call: &Call) -> Result<Cluster, Problem> {
    call.services.cluster.clone().ok_or_else(Problem::not_found)
}

fn read_node(text: &str) -> Result<String, Bad> {
    if is_node_name(text) { Ok(text.to_owned()) } else { Err(Bad::from("must be the name of a node")) }
}

/// Reads the node that is to lead.
pub(super) fn read_leader(mut fields: Fields<'_>) -> Result<String, Invalid> {
    let node = kind(
        |value: Value<'_>| value.text_as(read_node),
        || schema::text().pattern("^[A-Za-z0-9._-]{1,63}$").about("The node."),
    );
    let to: Got<String> = fields.required("to", node);
    let sound = fields.finish()?;
    Ok(to.get(&sound))
}

/// GET /admin/cluster
pub async fn read(call: Call) -> CallResult {
    Ok(Done::ok(front::show(&node(&call)?.view())))
}

/// POST /admin/cluster/hand-over
pub async fn hand_over(call: Call) -> CallResult {
    let cluster = node(&call)?;
    let to = read_leader(call.body.fields()?)?;
    let mut held = None;
    if !cluster.consider(&to).await? {
        // Written down before: afterwards this node can write nothing. So no answer is kept for a key, under
        // which the new leader answers the same: it leads already.
        call.signature.targets(to.clone());
        ask::platform(&call.services, PlatformAsk::Acted, None, call.sign()).await?;
        held = Some(call.pending_key.take());
    }
    let done = cluster.hand_over(&to).await?;
    drop(held);
    Ok(Done::ok(Object::new().text("leader", &done.leader).number("epoch", done.epoch).end()))
}

//! The cluster, as its leader shows it, and the planned switch to another node. What a standby
//! answers to the same calls is in `cluster/front.rs`.

use super::call::{Call, Done, Outcome};
use crate::cluster::{Cluster, HandOverRefused, front};
use crate::gateway::ask;
use api::fields::Bad;
use api::problem::Problem;
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

/// GET /admin/cluster
pub async fn read(call: Call) -> Outcome {
    Ok(Done::ok(front::show(&node(&call)?.view())))
}

/// POST /admin/cluster/hand-over
pub async fn hand_over(call: Call) -> Outcome {
    let cluster = node(&call)?;
    let mut fields = call.body.fields()?;
    let to = fields.required("to", |value| value.text_as(read_node));
    let sound = fields.finish()?;
    let to = to.get(&sound);
    let is_leader = cluster.consider(&to).await?;
    if !is_leader {
        // Written down before: afterwards this node can write nothing.
        call.signature.targets(to.clone());
        ask::platform(&call.services, PlatformAsk::Acted, None, call.sign()).await?;
    }
    let done = cluster.hand_over(&to).await?;
    Ok(Done::ok(Object::new().text("leader", &done.leader).number("epoch", done.epoch).end()))
}

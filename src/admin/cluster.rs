//! The cluster, as its leader shows it, and the planned switch to another node. What a standby
//! answers to the same calls is in `cluster/front.rs`.

use super::call::{Call, CallResult, Done, Handler, run};
use crate::cluster::{Cluster, front};
use crate::gateway::ask;
use api::endpoint::chapter;
use api::fields::{Fields, Invalid, Kind as _, body, kind, read};
use api::openapi::operation::Fills;
use api::openapi::{kinds, schema, values};
use api::problem::Problem;
use api::value::Value;
use api::writer::Object;
use domain::resources::tenants::PlatformAsk;
use wal::cluster::is_node_name;

fn node(call: &Call) -> Result<Cluster, Problem> {
    call.services.cluster.clone().ok_or_else(Problem::not_found)
}

/// The node, and the partition.
fn read_leader(mut fields: Fields<'_>) -> Result<(String, u8), Invalid> {
    let node = kind(
        |value: Value<'_>| {
            let name = |text: &str| is_node_name(text).then(|| text.to_owned());
            value.text_as(|text| name(text).ok_or("must be the name of a node"))
        },
        || schema::text().pattern("^[A-Za-z0-9._-]{1,63}$").about("The node."),
    );
    Ok(read!(fields {
        required to = "to", node;
        optional partition = "partition", kinds::integer(0..=63).about("The log; 0 if it is missing.");
    } => (to, partition.and_then(|partition| u8::try_from(partition).ok()).unwrap_or(0))))
}

chapter! { "Server", "", {
        "NewLeader" = body(read_leader);
        "ClusterView" = front::view_schema();
        "ClusterNode" = front::member_schema();
        "ClusterPartition" = front::partition_schema();
        "PartitionNode" = front::place_schema();
    }
    READ = run!(read), "How the machines of a cluster are" => {
        command "cluster get", "Show the nodes, as `pasarela cluster status --json` does", "";
        about "The view of the node that is asked, also while nobody leads. 404 where there is one machine.";
        answers 200, "ClusterView", "The nodes";
        refuses 404, &["not_found"];
    };
    HAND_OVER = run!(hand_over), "Have another node lead" => {
        command "cluster hand-over", "Make another node the leader, as `pasarela cluster hand-over` does",
            "node-2";
        operand "NODE", Fills::Member("to"), "The node that becomes the leader";
        about "A planned switch; nothing is refused for longer than a second. The node that leads already \
            changes nothing.";
        body "NewLeader";
        example "another node", r#"{"to":"node-2"}"#;
        answers_with 200, schema::object().member("leader", schema::text()).member("epoch", values::count()),
            "The new leader, which serves";
        refuses 404, &["not_found"];
        refuses 409, &["not_a_candidate"];
    };
}

async fn read(call: Call) -> CallResult {
    Ok(Done::ok(front::show(&node(&call)?.view(), &[])))
}

async fn hand_over(call: Call) -> CallResult {
    let cluster = node(&call)?;
    let (to, partition) = read_leader(call.body.fields()?)?;
    if partition != call.services.callers.partition {
        return Err(Problem::invalid_field("partition", "must be a partition of this cluster"));
    }
    let mut held = None;
    let leads = cluster.consider(&to).await?;
    if call.services.is_rehearsal() {
        let epoch = cluster.view().epoch + u64::from(!leads);
        return Ok(Done::ok(Object::new().text("leader", &to).number("epoch", epoch).end()));
    }
    cluster.note_order().await;
    if !leads {
        // Written down before: afterwards this node can write nothing. So no answer is kept for a key, under
        // which the new leader answers the same: it leads already.
        call.signature.amend(|entry| entry.target = Some(to.clone()));
        ask::platform(&call.services, PlatformAsk::Acted, None, call.signature.take()).await?;
        held = Some(call.pending_key.take());
    }
    let done = cluster.hand_over(&to).await?;
    drop(held);
    Ok(Done::ok(Object::new().text("leader", &done.leader).number("epoch", done.epoch).end()))
}

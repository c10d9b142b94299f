//! `cluster grow`: more partitions while the nodes run. Etcd is told of the new ones before it is of their number, and
//! that alone is what nodes go by, so that the same command goes on after a death at any step. A node that finds a
//! higher number starts anew by itself, one after the other and the leader last, as if it were stopped and started.

use super::admission::{ClusterError, START, members, must_serve, until_answered};
use super::directory::{Belongs, random_name};
use super::etcd::Etcd;
use super::founding::{self, founded_in_time, insist, partitions_in_time};
use super::view::{BEHIND_MAX, Member, View, now_ms};
use crate::config::Config;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wal::Tip;
use wal::cluster::{self, Following, Founded, LookError, Quorum, partitions, place};

const LOOK_EVERY: Duration = Duration::from_millis(500);
/// A node that was not seen for so long is not waited for.
const GONE_MS: i64 = 60_000;
/// For all nodes to go by the new number.
const PATIENCE: Duration = Duration::from_secs(120);

/// That a node goes by from its start on: the one that is claimed, or else the cluster's. Without an answer of etcd, the
/// last that it knew: it learns of another one later.
pub fn number(config: &Config) -> Result<u8, ClusterError> {
    let data = config.storage.path.as_path();
    let Some(belongs) = Belongs::read(data)?.filter(|_| config.cluster.partitions_preview) else {
        return Ok(config.partitions);
    };
    let (etcd, keys) = founding::etcd(config)?;
    let number = match config.cluster.partitions {
        Some(claimed) => claimed,
        None => match until_answered(&etcd, (START, super::PAUSE), || Ok(partitions(&etcd, &keys)?)) {
            // There are never fewer: where etcd has lost it, the node is refused by that.
            Ok(number) => number.max(belongs.partitions),
            Err(ClusterError::Agreed(LookError::Unanswered(_))) => belongs.partitions,
            Err(why) => return Err(why),
        },
    };
    if number > belongs.partitions {
        Belongs { partitions: number, ..belongs }.write(data)?;
    }
    Ok(number)
}

/// Raises the number, and waits until the nodes go by it. False if there was nothing to do.
pub fn grow(config: &Config, to: u8) -> Result<bool, ClusterError> {
    let refused = |why: String| Err(ClusterError::Partitions(why));
    let (etcd, keys) = founding::etcd(config)?;
    let Some(first) = founded_in_time(&etcd, &keys)? else { return Err(LookError::NotFounded.into()) };
    let has = partitions_in_time(&etcd, &keys)?;
    if to < has {
        return refused(format!("the cluster has {has}, and never fewer than before: {to} is refused"));
    }
    let etcd = Arc::new(etcd);
    let following = Following::new(Arc::clone(&etcd) as Arc<dyn Quorum>, keys.clone(), &config.cluster.node);
    if to > has {
        must_serve(to, config.cluster.partitions_preview)?;
        let seen = until_answered(&*etcd, founding::PATIENCE, || Ok(following.glance()?))?;
        let nodes = members(&seen);
        if let Some(node) = nodes.iter().find(|member| member.partitions.is_none()) {
            return refused(format!(
                "{} takes no other number: start it anew with cluster.partitions_preview = true and without \
                 cluster.partitions, or forget it if it is gone for good; nothing was done",
                node.node
            ));
        }
        if nodes.len() < seen.nodes.len() {
            return refused("a node runs a later program: use that one; nothing was done".to_owned());
        }
        for partition in has..to {
            found_empty(config, (&*etcd, &keys), &first, partition)?;
        }
        until_answered(&*etcd, founding::PATIENCE, || Ok(cluster::grow(&*etcd, &keys, to)?))?;
    }
    let is_done = until_all_go_by(&following, to)?;
    Ok(to > has || is_done)
}

/// A partition without a record. Done by a call before is as good.
fn found_empty(
    config: &Config,
    (etcd, keys): (&Etcd, &cluster::Keys),
    first: &Founded,
    partition: u8,
) -> Result<(), ClusterError> {
    let own = config.of_partition(partition);
    let (own_etcd, own_keys) = founding::etcd(&own)?;
    let there = founded_in_time(&own_etcd, &own_keys)?;
    let random = random_name()?;
    until_answered(etcd, founding::PATIENCE, || {
        Ok(place((etcd, keys), (&own_etcd, &own_keys), partition, &random, false)?)
    })?;
    if there.is_some_and(|there| there.id == first.id && there.fingerprint == first.fingerprint) {
        return Ok(());
    }
    insist(&own_etcd, &own_keys, first, &own, Tip::default())
}

/// False if all did at once.
fn until_all_go_by(following: &Following, number: u8) -> Result<bool, ClusterError> {
    let (began, mut has_waited) = (Instant::now(), false);
    loop {
        let seen = until_answered(&*following.quorum, founding::PATIENCE, || Ok(following.glance()?))?;
        let nodes = members(&seen);
        let Some(waits) = nodes.iter().find(|member| is_to_grow(member, number, now_ms())) else {
            return Ok(has_waited);
        };
        if began.elapsed() >= PATIENCE {
            return Err(ClusterError::Refused(format!(
                "the cluster has {number} partitions, and {} does not go by it yet: it starts anew by itself once it \
                 can; the same command waits for it again",
                waits.node
            )));
        }
        has_waited = true;
        following.quorum.rest(LOOK_EVERY);
    }
}

fn is_to_grow(member: &Member, number: u8, now_ms: i64) -> bool {
    now_ms - member.seen_at_ms < GONE_MS && member.partitions.is_some_and(|goes_by| goes_by < number)
}

/// Returns when this node is to start anew, as one of more partitions than it goes by.
pub async fn grown(config: Config, view: impl Fn() -> Arc<View> + Send) {
    if !config.cluster.takes_more() {
        return std::future::pending().await;
    }
    let (etcd, keys) = match founding::etcd(&config) {
        Ok((etcd, keys)) => (Arc::new(etcd), keys),
        Err(error) => {
            tracing::error!(%error, "this node does not look whether there are more partitions");
            return std::future::pending().await;
        }
    };
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let (etcd, keys) = (Arc::clone(&etcd), keys.clone());
        let looked = tokio::task::spawn_blocking(move || partitions(&*etcd, &keys)).await;
        if let Ok(Ok(number)) = looked
            && number > config.partitions
            && is_turn(&view(), number, now_ms())
        {
            tracing::info!(number, "the cluster has more partitions: this node starts anew");
            return;
        }
    }
}

/// The leader waits for one that can lead in its place, if there is another at all.
fn is_turn(view: &View, number: u8, now_ms: i64) -> bool {
    let others = || view.members.iter().filter(move |member| member.node != view.node);
    let mut to_grow = others().filter(|member| is_to_grow(member, number, now_ms));
    let can_lead = |member: &Member| {
        let is_behind = view.agreed_seq.saturating_sub(member.wal_seq) >= BEHIND_MAX;
        member.is_present(now_ms) && member.follows() && !is_behind
    };
    match &view.leader {
        None => false,
        Some(leader) if *leader == view.node => {
            let mut known = others().filter(|member| now_ms - member.seen_at_ms < GONE_MS).peekable();
            to_grow.next().is_none() && (known.peek().is_none() || known.any(can_lead))
        }
        Some(leader) => to_grow.all(|member| member.node == *leader || member.node > view.node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(node: &str, partitions: Option<u8>, seen_at_ms: i64) -> Member {
        Member { node: node.to_owned(), wal_seq: 7, seen_at_ms, format: 1, partitions, ..Member::default() }
    }

    #[test]
    fn nodes_start_anew_one_after_the_other_and_the_leader_last() {
        let now_ms = 1_000_000;
        let gone = now_ms - GONE_MS;
        // The node, the leader, the others with what they go by and when they were seen; whose turn it is.
        type Case<'a> = (&'a str, Option<&'a str>, &'a [(&'a str, Option<u8>, i64)], bool);
        let cases: [Case<'_>; 11] = [
            ("a", Some("a"), &[], true),
            ("a", None, &[], false),
            ("b", Some("a"), &[("a", Some(1), now_ms), ("c", Some(1), now_ms)], true),
            ("c", Some("a"), &[("a", Some(1), now_ms), ("b", Some(1), now_ms)], false),
            ("c", Some("a"), &[("a", Some(1), now_ms), ("b", Some(3), now_ms)], true),
            // It may be starting.
            ("c", Some("a"), &[("a", Some(1), now_ms), ("b", Some(1), gone + 1)], false),
            ("c", Some("a"), &[("a", Some(1), now_ms), ("b", Some(1), gone)], true),
            ("a", Some("a"), &[("b", Some(3), now_ms), ("c", Some(1), now_ms)], false),
            ("a", Some("a"), &[("b", Some(3), now_ms), ("c", Some(3), now_ms)], true),
            ("a", Some("a"), &[("b", Some(3), gone + 1), ("c", Some(3), gone)], false),
            ("a", Some("a"), &[("b", Some(3), gone), ("c", Some(3), gone)], true),
        ];
        for (node, leader, others, is_its) in cases {
            let members = others.iter().map(|(node, goes_by, at)| member(node, *goes_by, *at));
            let members = members.chain([member(node, Some(1), now_ms)]).collect();
            let leader = leader.map(str::to_owned);
            let view = View { node: node.to_owned(), leader, members, ..View::default() };
            assert_eq!(is_turn(&view, 3, now_ms), is_its, "{node}, {others:?}");
        }
    }
}

//! Who leads a partition, as etcd has it, while this node's own process of it says nothing: it hangs, or does not start,
//! as on a full disk. Other nodes serve its accounts, also those that ask this one.

use super::admission::{ClusterError, members, stored};
use super::etcd::Etcd;
use super::reports::{Partition, SILENT};
use super::view::View;
use crate::config::Config;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;
use wal::cluster::{Following, Keys, Seen};

/// More than a leader needs for a sign of life, which is between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// A process speaks four times a second.
const SILENT_FOR: Duration = Duration::from_secs(2);

#[derive(Default)]
struct Looks {
    following: HashMap<usize, Following>,
    beats: HashMap<usize, Vec<u8>>,
}

pub async fn look(config: Config, partitions: Arc<[Partition]>) -> ! {
    let mut looks = Looks::default();
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let is_silent = |partition: &Partition| partition.is_silent_for(SILENT_FOR);
        if !partitions.iter().any(is_silent) {
            continue;
        }
        let (own, all) = (config.clone(), Arc::clone(&partitions));
        let looked = tokio::task::spawn_blocking(move || {
            for (n, partition) in all.iter().enumerate() {
                if !partition.is_silent_for(SILENT_FOR) {
                    looks.beats.remove(&n);
                } else if let Ok(Some(view)) = looks.at(&own, n) {
                    partition.learn(view);
                }
            }
            looks
        });
        // After a panic it begins again.
        looks = looked.await.unwrap_or_default();
    }
}

impl Looks {
    /// None without a leader that has given a sign of life since the look before.
    fn at(&mut self, node: &Config, partition: usize) -> Result<Option<View>, ClusterError> {
        let own = node.of_partition(u8::try_from(partition).unwrap_or(u8::MAX));
        let following = match self.following.entry(partition) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let (etcd, keys) = (Arc::new(Etcd::new(&own.cluster)?), Keys::new(&own.cluster.partition));
                place.insert(Following::new(etcd, keys, &own.cluster.node))
            }
        };
        let seen = following.glance()?;
        let before = self.beats.insert(partition, seen.beat.clone());
        let lives = before.is_some_and(|before| before != seen.beat);
        Ok((lives && seen.is_open && seen.epoch.node != own.cluster.node).then(|| view(&own, &seen)))
    }
}

fn view(own: &Config, seen: &Seen) -> View {
    let (node, members) = (&own.cluster.node, members(seen));
    View {
        // As its process said last.
        wal_seq: members.iter().find(|member| member.node == *node).map_or(0, |member| member.wal_seq),
        partition: own.cluster.partition.clone(),
        node: node.clone(),
        leader: Some(seen.epoch.node.clone()),
        epoch: seen.epoch.number,
        agreed_seq: seen.tip.tip.seq,
        window_bytes: seen.window_bytes,
        stored_version: stored(seen.stores),
        members,
        held_up: Some(SILENT.into()),
        ..View::default()
    }
}

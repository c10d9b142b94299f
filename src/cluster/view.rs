//! The knowledge of a node about its cluster: the newest look at etcd, and what members say about
//! themselves.

use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use wal::Seq;

/// The records by which a standby may be behind and still be called ready.
pub const BEHIND_MAX: u64 = 10_000;
/// The time after which a member is no longer there.
pub const ABSENT_AFTER_MS: i64 = 10_000;

/// The part that a node has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The one that appends and answers.
    Leader,
    /// One that follows.
    Standby,
}

impl Role {
    /// The name in answers and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Role::Leader => "leader",
            Role::Standby => "standby",
        }
    }
}

/// The words of a node about itself, a few times a second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// The name.
    pub node: String,
    /// The random name of its directory.
    pub id: String,
    /// The place of that directory; empty in the words of an earlier version.
    #[serde(default)]
    pub place: String,
    /// The part that it plays.
    pub role: Role,
    /// The last synced record.
    pub wal_seq: Seq,
    /// The instant at which it said so, by its own clock.
    pub seen_at_ms: i64,
    pub version: String,
    /// The newest version of the stored format that it reads.
    pub format: u8,
    /// The address where its API is reached.
    pub advertise: String,
    /// The address where other nodes reach it.
    pub peer_advertise: String,
    /// Whether its log has come out as another one.
    #[serde(default)]
    pub diverged: bool,
    /// The reason why it does not follow for now, if it does not.
    #[serde(default)]
    pub held_up: Option<String>,
}

/// The cluster as a node sees it.
#[derive(Clone, Debug)]
pub struct View {
    /// The name of the log.
    pub partition: String,
    /// The name of this node.
    pub node: String,
    /// The part that it plays.
    pub role: Role,
    /// The node that serves; `None` if nobody does, or etcd could not be read for long.
    pub leader: Option<String>,
    /// The newest epoch that was seen.
    pub epoch: u64,
    /// The last synced record here.
    pub wal_seq: Seq,
    /// The last agreed record that was seen.
    pub agreed_seq: Seq,
    /// The bytes of batches in etcd.
    pub window_bytes: u64,
    /// The members, by name.
    pub members: Vec<Member>,
    /// The instant at which etcd was read last.
    pub read_at: Option<Instant>,
    /// The reason why this node's log cannot go on, if it cannot.
    pub diverged: Option<String>,
    /// The reason why this node does not follow for now, if it does not.
    pub held_up: Option<&'static str>,
    /// The reason why it waits, in words for an operator, while nobody serves.
    pub waits_for: &'static str,
}

impl View {
    /// The member that serves.
    pub fn leader_member(&self) -> Option<&Member> {
        self.members.iter().find(|member| Some(&member.node) == self.leader.as_ref())
    }

    /// The records that were agreed on and are not synced here.
    pub fn behind(&self) -> u64 {
        self.agreed_seq.saturating_sub(self.wal_seq)
    }

    /// The reason why this node is not ready, if it is not.
    pub fn ready(&self, failover: Duration) -> Result<(), &'static str> {
        if self.diverged.is_some() {
            return Err("the log here is not the agreed one");
        }
        if self.leader.is_none() {
            return Err(self.waits_for);
        }
        if let Some(why) = self.held_up {
            return Err(why);
        }
        if self.read_at.is_none_or(|at| at.elapsed() > failover) {
            return Err("etcd does not answer");
        }
        if self.behind() >= BEHIND_MAX {
            return Err("catching up with the agreed log");
        }
        Ok(())
    }
}

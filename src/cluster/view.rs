//! What a node knows about its cluster: the newest look at etcd, and what members say about themselves.

pub use crate::recovery::now_ms;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::time::{Duration, Instant};
use wal::Seq;

/// A standby may be behind by so many records and still be called ready.
pub const BEHIND_MAX: u64 = 10_000;
/// A member that has said nothing for so long is no longer there.
pub const ABSENT_AFTER_MS: i64 = 10_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Leader,
    #[default]
    Standby,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Role::Leader => "leader",
            Role::Standby => "standby",
        }
    }
}

/// Said a few times a second.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    pub node: String,
    pub id: String,
    pub place: String,
    pub role: Role,
    /// Synced.
    pub wal_seq: Seq,
    /// By its own clock.
    pub seen_at_ms: i64,
    pub version: String,
    /// Of the stored format, that it reads.
    pub format: u8,
    pub advertise: String,
    pub peer_advertise: String,
    /// Its log has come out as another one.
    #[serde(default)]
    pub diverged: bool,
    /// Why it does not follow for now.
    #[serde(default)]
    pub held_up: Option<String>,
    /// For how long it has read etcd without a pause.
    #[serde(default)]
    pub present_ms: u64,
    /// When an operator last said who leads instead of it, by its own clock.
    #[serde(default)]
    pub ordered_at_ms: i64,
    /// The number that it goes by, if it takes a higher one by itself.
    #[serde(default)]
    pub partitions: Option<u8>,
}

impl Member {
    pub fn is_present(&self, now_ms: i64) -> bool {
        now_ms - self.seen_at_ms < ABSENT_AFTER_MS
    }

    /// Another node can go on from its log.
    pub fn follows(&self) -> bool {
        !self.diverged && self.held_up.is_none()
    }
}

/// A process behind a front tells it this.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct View {
    pub partition: String,
    pub node: String,
    pub role: Role,
    /// `None` if nobody serves, or etcd could not be read for long.
    pub leader: Option<String>,
    pub epoch: u64,
    pub wal_seq: Seq,
    pub agreed_seq: Seq,
    pub window_bytes: u64,
    /// The version of the stored format that records are written in.
    pub stored_version: u8,
    pub members: Vec<Member>,
    #[serde(skip)]
    pub read_at: Option<Instant>,
    /// Since when without a pause.
    #[serde(skip)]
    pub read_since: Option<Instant>,
    /// Why this node's log cannot go on.
    pub diverged: Option<String>,
    pub held_up: Option<Cow<'static, str>>,
    /// For an operator, while nobody serves.
    pub waits_for: Cow<'static, str>,
}

impl View {
    pub fn leader_member(&self) -> Option<&Member> {
        self.members.iter().find(|member| Some(&member.node) == self.leader.as_ref())
    }

    /// Agreed on and not synced here.
    pub fn behind(&self) -> u64 {
        self.agreed_seq.saturating_sub(self.wal_seq)
    }

    /// Etcd answered. A node that did not hear from it for long has only come back.
    pub fn answered(&mut self, failover: Duration) {
        let now = Instant::now();
        if self.read_at.is_none_or(|at| now.duration_since(at) > failover) {
            self.read_since = Some(now);
        }
        self.read_at = Some(now);
    }

    /// Etcd did not answer: after a while nobody is known to lead.
    pub fn unanswered(&mut self, why: &'static str, failover: Duration) {
        if self.read_at.is_none_or(|at| at.elapsed() > failover) {
            self.leader = None;
            self.waits_for = why.into();
        }
    }

    /// The error says why this node is not ready.
    pub fn ready(&self, failover: Duration) -> Result<(), &str> {
        match self.leader {
            None if self.diverged.is_none() => Err(&self.waits_for),
            _ => self.follows(failover),
        }
    }

    /// Whether it follows the log, whoever leads. The error says why not.
    pub fn follows(&self, failover: Duration) -> Result<(), &str> {
        if self.diverged.is_some() {
            return Err("the log here is not the agreed one");
        }
        if let Some(why) = &self.held_up {
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

//! The leader's threads: signs of life, what others say, the window in etcd, confirmations; and the
//! planned switch to another node.

use super::admission::{all_read_newest, members, stored};
use super::step_down::{step_down, stop};
use super::view::now_ms;
use super::view::{BEHIND_MAX, Member, Role, View};
use super::{Cluster, STOP, Shared};
use api::problem::Problem;
use domain::codec;
use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wal::Seq;
use wal::cluster::{Epoch, Leader, Seen, Standing};

/// More than two in the time that a standby listens for one when it has lost the connection.
const BEAT_EVERY: Duration = Duration::from_millis(100);
/// Signs of life between two rounds of pruning.
const PRUNE_EVERY: u64 = 10;
/// Signs of life between two looks at what all nodes read.
const RAISE_EVERY: u64 = 10;
/// Signs of life between two compactions of etcd.
const COMPACT_EVERY: u64 = 300;
const PAGES_MAX: usize = 16;
/// Writes are taken again after a refusal when this part of the bound is free.
const RESUME_BELOW: u64 = 8;
const HAND_OVER: Duration = Duration::from_secs(10);
/// For a sign of life, and then for taking the log. Nobody leads from the one to the other.
const SIGN: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Of a sign of life, for the node that is to lead rather than the others: more than passes between two.
const SIGN_OF_FIRST: Duration = Duration::from_millis(400);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedOver {
    pub leader: String,
    pub epoch: u64,
}

/// The node died between its last sign of life and the appointment: another one leads, or will in a moment.
const NOT_TAKEN: &str = "it did not take the log: another node leads in its place";

/// What a leader does beside its log.
pub(super) fn begin(shared: &Arc<Shared>, leader: &Leader) {
    let _ = shared.leader.set(leader.clone());
    shared.see(|view| {
        view.role = Role::Leader;
        view.epoch = leader.epoch.number;
        view.leader = None;
        view.waits_for = "taking over".into();
    });
    for (name, run) in [("cluster-beat", beat as fn(&Arc<Shared>, &Leader)), ("cluster-confirm", confirm)] {
        let (to_run, leader) = (Arc::clone(shared), leader.clone());
        let thread = std::thread::Builder::new().name(name.to_owned());
        if let Err(error) = thread.spawn(move || run(&to_run, &leader)) {
            tracing::error!(%error, name, "a thread of the leader did not start");
            step_down(shared, "a thread of the leader did not start");
        }
    }
}

fn confirm(shared: &Arc<Shared>, leader: &Leader) {
    shared.barrier.run(leader, shared.settings.failover);
    if let Some(why) = leader.lost() {
        step_down(shared, why);
    }
}

fn beat(shared: &Arc<Shared>, leader: &Leader) {
    let _ = shared.beating.set(std::thread::current());
    let me = shared.following.keys.node(&shared.settings.me.node);
    let mut silent_since = None;
    for count in 1.. {
        let (began, mut pause) = (Instant::now(), BEAT_EVERY);
        let wal_seq =
            shared.reader().map_or_else(|| shared.views.borrow().wal_seq, |reader| reader.last_seq());
        let is_open = shared.is_open.load(Ordering::Acquire);
        // Whoever hears nothing says nothing: its words may arrive, and would keep the others waiting.
        let beaten = match silent_since {
            None => shared.say(wal_seq, |about| leader.beat(count, is_open, vec![(me.clone(), about)])),
            Some(_) => leader.confirm(),
        };
        if let Some(why) = leader.lost() {
            return step_down(shared, why);
        }
        let glance = |_: Standing| shared.following.glance().map_err(|error| error.to_string());
        match beaten.map_err(|unanswered| unanswered.why).and_then(glance) {
            Ok(seen) => {
                if let Some(since) = silent_since.take() {
                    let silent_ms = began.duration_since(since).as_millis();
                    tracing::info!(silent_ms, "etcd takes signs of life again");
                    pause = Duration::ZERO; // the others have waited for one
                }
                show(shared, &seen, wal_seq, is_open);
                if is_open && count % RAISE_EVERY == 0 {
                    raise(leader, &seen);
                }
                if count % PRUNE_EVERY == 0 {
                    prune(shared, leader, &seen, wal_seq);
                }
                if count % COMPACT_EVERY == 0 {
                    leader.compact();
                }
            }
            Err(why) => {
                if silent_since.is_none() {
                    tracing::warn!(why, "etcd did not take a sign of life");
                    silent_since = Some(began);
                }
                shared.see(|view| view.unanswered("etcd does not answer", shared.settings.failover));
            }
        }
        std::thread::park_timeout(pause.saturating_sub(began.elapsed()));
    }
}

/// The version that records are written in, once every node reads the newest. This one writes it when it is seen in
/// etcd, as the next leader would: so a death in between, or an answer that never comes, changes nothing.
fn raise(leader: &Leader, seen: &Seen) {
    if stored(seen.stores) < codec::NEWEST && all_read_newest(seen) {
        tracing::info!(
            to = codec::NEWEST,
            "every node reads a later version of the stored format: raising it"
        );
        // It is tried again in a second.
        let _ = leader.raise(seen, codec::NEWEST);
    }
}

fn show(shared: &Shared, seen: &Seen, wal_seq: Seq, is_open: bool) {
    codec::write(stored(seen.stores));
    shared.see(|view| {
        view.role = Role::Leader;
        view.wal_seq = wal_seq;
        view.agreed_seq = seen.tip.tip.seq.max(wal_seq);
        view.window_bytes = seen.window_bytes;
        view.stored_version = stored(seen.stores);
        view.members = members(seen);
        view.answered(shared.settings.failover);
        view.leader = is_open.then(|| view.node.clone());
        view.waits_for = "taking over".into();
    });
}

/// Deletes what need not be in etcd any more, and refuses writes where that does not keep it in bounds.
fn prune(shared: &Shared, leader: &Leader, seen: &Seen, wal_seq: Seq) {
    let others: Vec<Member> =
        members(seen).into_iter().filter(|member| member.node != shared.settings.me.node).collect();
    let bound = shared.settings.window_bytes_max;
    let refused = shared.is_window_full.load(Ordering::Relaxed);
    let is_full = refused || seen.window_bytes >= bound;
    let up_to = prunable(wal_seq, &others, is_full, now_ms());
    let mut left = seen.window_bytes;
    for _ in 0..PAGES_MAX {
        let Ok(pruned) = leader.prune(up_to) else { break }; // it is tried again in a second
        left = pruned.before.map_or(left, |before| seen.tip.bytes.saturating_sub(before));
        if !pruned.may_go_on {
            break;
        }
    }
    let refuses = must_refuse((wal_seq, up_to), left, bound, refused);
    if shared.is_window_full.swap(refuses, Ordering::Relaxed) != refuses {
        tracing::warn!(refuses, bytes = left, bound, "the bytes in etcd are at their bound");
    }
}

/// The record that all nodes have, and at the bound that which a second node has that follows. A
/// node that is held up could not go on from it.
fn prunable(own: Seq, others: &[Member], is_full: bool, now_ms: i64) -> Seq {
    let all = others.iter().map(|member| member.wal_seq).min().map_or(own, |least| least.min(own));
    let following = others.iter().filter(|member| member.is_present(now_ms) && member.follows());
    let second = following.map(|member| member.wal_seq).max();
    if is_full { second.map_or(all, |second| all.max(second.min(own))) } else { all }
}

/// As much as may be is `left` after pruning because nodes lack it, or was, and there is not yet
/// room for more than a moment.
fn must_refuse((own, up_to): (Seq, Seq), left: u64, bound: u64, refused: bool) -> bool {
    let mark = if refused { bound - bound / RESUME_BELOW } else { bound };
    up_to < own && left >= mark
}

/// May lead, and is heard of now: the newest word of another may be a dead node's last. One of the first in `order`,
/// and else the one that has most of the log.
pub(super) async fn successor(shared: &Arc<Shared>, order: &[String]) -> Option<String> {
    let began = Instant::now();
    let place = |member: &Member| order.iter().position(|node| *node == member.node).unwrap_or(order.len());
    look(shared).await;
    let before = shared.views.borrow().members.clone();
    loop {
        let view = shared.views.borrow().clone();
        let lives = |member: &&Member| {
            !before.iter().any(|it| it.node == member.node && it.seen_at_ms == member.seen_at_ms)
        };
        let first = able_others(&view).map(place).min();
        let best = able_others(&view).filter(lives).min_by_key(|it| (place(it), Reverse(it.wal_seq)));
        if let Some(member) = best.filter(|member| {
            order.is_empty() || Some(place(member)) == first || began.elapsed() >= SIGN_OF_FIRST
        }) {
            return Some(member.node.clone());
        }
        if able_others(&view).next().is_none() || began.elapsed() >= SIGN {
            return None;
        }
        tokio::time::sleep(LOOK_EVERY).await;
        look(shared).await;
    }
}

fn able_others(view: &View) -> impl Iterator<Item = &Member> {
    view.members.iter().filter(|member| member.node != view.node && able(view, member, now_ms()).is_ok())
}

/// A node that came or went a moment ago is known to etcd alone.
async fn look(shared: &Arc<Shared>) {
    let looking = Arc::clone(shared);
    if let Ok(Ok(seen)) = tokio::task::spawn_blocking(move || looking.following.glance()).await {
        shared.see(|view| view.members = members(&seen));
    }
}

/// `Err` says why a member could not lead.
pub(super) fn able(view: &View, member: &Member, now_ms: i64) -> Result<(), &'static str> {
    /// A member that is quiet for longer is not handed a log.
    const QUIET_MS: i64 = 2_000;
    if member.diverged {
        return Err("its log is not the agreed one");
    }
    if member.held_up.is_some() {
        return Err("it does not follow for now: its /readyz says why");
    }
    if now_ms - member.seen_at_ms > QUIET_MS {
        return Err("it was not seen for two seconds");
    }
    if view.agreed_seq.saturating_sub(member.wal_seq) >= BEHIND_MAX {
        return Err("it is too far behind");
    }
    Ok(())
}

impl Shared {
    fn leads(&self) -> Result<&Leader, Problem> {
        self.leader.get().filter(|leader| leader.lost().is_none()).ok_or_else(Problem::no_leader)
    }
}

impl Cluster {
    /// Whether a node leads already, if it could be handed the log at all. Another one gives a sign of life
    /// first.
    pub async fn consider(&self, to: &str) -> Result<bool, Problem> {
        let shared = &self.shared;
        shared.leads()?;
        let before = candidate(shared, to).await?;
        if to == shared.settings.me.node {
            return Ok(true);
        }
        // The newest word may be a dead node's last.
        let began = Instant::now();
        while candidate(shared, to).await?.seen_at_ms == before.seen_at_ms {
            if began.elapsed() >= SIGN {
                return Err(Problem::not_a_candidate("it gives no sign of life"));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(false)
    }

    /// Hands the log to another node, and returns when that serves. Waits on a thread of its own.
    pub async fn hand_over(&self, to: &str) -> Result<HandedOver, Problem> {
        let shared = &self.shared;
        let leader = shared.leads()?.clone();
        candidate(shared, to).await?;
        if to == shared.settings.me.node {
            return Ok(HandedOver { leader: to.to_owned(), epoch: leader.epoch.number });
        }
        if shared.is_handing_over.swap(true, Ordering::AcqRel) {
            return Err(Problem::storage_unavailable());
        }
        let (task, to) = (Arc::clone(shared), to.to_owned());
        // Also when whoever asked is gone before it is over.
        let handed = tokio::task::spawn_blocking(move || {
            let handed = hand(&task, &leader, &to);
            task.is_handing_over.store(false, Ordering::Release);
            if leader.lost().is_some() {
                step_down(&task, "the log was handed over");
            }
            // A front goes on passing requests to whoever leads, until this process can tell it again.
            if let Ok(handed) = &handed
                && task.settings.partition.is_some()
            {
                task.see(|view| {
                    (view.role, view.epoch) = (Role::Standby, handed.epoch);
                    view.leader = Some(handed.leader.clone());
                });
            }
            handed
        });
        handed.await.unwrap_or(Err(Problem::storage_unavailable()))
    }

    /// The same for the sake of an even spread, if this node leads by that epoch: whoever asked may know less.
    pub async fn hand_on(&self, epoch: u64, to: &str) -> Result<HandedOver, Problem> {
        if self.shared.leads()?.epoch.number != epoch || !self.shared.goes_on_leading() {
            return Err(Problem::no_leader());
        }
        self.consider(to).await?;
        tracing::info!(to, "handing the log over, so that leaders are spread");
        self.hand_over(to).await
    }

    /// Has others see that an operator says who leads, before the log is let go: this process starts anew then.
    pub async fn note_order(&self) {
        if self.shared.settings.partition.is_some() {
            self.shared.ordered_at_ms.store(now_ms(), Ordering::Release);
            self.say_now().await;
        }
    }

    /// Lets go of a log that nobody was handed, at the end of the process: whoever follows need not wait until this
    /// node is taken for dead.
    pub async fn release(&self) {
        stop();
        let Ok(leader) = self.shared.leads().cloned() else { return };
        tracing::info!("letting the log go");
        // Without an answer the others notice by themselves.
        let _ = tokio::task::spawn_blocking(move || leader.appoint(Epoch::ANYBODY)).await;
    }
}

/// If the node is this one or could lead.
async fn candidate(shared: &Arc<Shared>, to: &str) -> Result<Member, Problem> {
    look(shared).await;
    let view = shared.views.borrow().clone();
    let member = view.members.iter().find(|member| member.node == to);
    let member = member.ok_or_else(|| Problem::invalid_field("to", "must be the name of a node"))?;
    if to != view.node {
        able(&view, member, now_ms()).map_err(Problem::not_a_candidate)?;
    }
    Ok(member.clone())
}

fn hand(shared: &Shared, leader: &Leader, to: &str) -> Result<HandedOver, Problem> {
    if leader.appoint(to).is_err() && leader.confirm() == Ok(Standing::Ours) {
        return Err(Problem::not_a_candidate("etcd did not take the appointment"));
    }
    shared.see(|view| {
        view.leader = None;
        view.waits_for = "the log is being handed over".into();
    });
    let began = Instant::now();
    loop {
        let is_leaving = shared.is_leaving.load(Ordering::Acquire);
        if let Ok(seen) = shared.following.glance() {
            match outcome(&seen, leader.epoch.number, to) {
                Some(handed) => return handed,
                None if seen.epoch.appoints(to) && began.elapsed() >= SIGN => {
                    return Err(Problem::not_a_candidate(NOT_TAKEN));
                }
                // All machines may have been told to stop: then nobody ever serves.
                None if is_leaving && !is_anybody_able(shared, &seen) => break,
                None => {}
            }
        }
        if began.elapsed() >= if is_leaving { STOP } else { HAND_OVER } {
            break;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Err(Problem::storage_unavailable())
}

fn is_anybody_able(shared: &Shared, seen: &Seen) -> bool {
    shared.see(|view| view.members = members(seen));
    able_others(&shared.views.borrow()).next().is_some()
}

/// Once another node serves than that of the epoch `before`.
fn outcome(seen: &Seen, before: u64, to: &str) -> Option<Result<HandedOver, Problem>> {
    let Epoch { number, node, .. } = &seen.epoch;
    let serves = seen.is_open && *number > before;
    let handed = || HandedOver { leader: node.clone(), epoch: *number };
    serves.then(|| if node == to { Ok(handed()) } else { Err(Problem::not_a_candidate(NOT_TAKEN)) })
}

#[cfg(test)]
mod tests {
    use super::super::view::ABSENT_AFTER_MS;
    use super::*;

    fn member(node: &str, wal_seq: Seq, seen_at_ms: i64) -> Member {
        Member { node: node.to_owned(), wal_seq, seen_at_ms, format: 1, ..Member::default() }
    }

    #[test]
    fn what_all_have_goes_and_at_the_bound_what_two_have() {
        let now_ms = 100_000;
        let there = member("b", 90, now_ms);
        let away = member("c", 50, now_ms - ABSENT_AFTER_MS);
        assert_eq!(prunable(95, &[], true, now_ms), 95, "one node that knows no other prunes alone");
        assert_eq!(prunable(95, &[there.clone(), away.clone()], false, now_ms), 50);
        assert_eq!(prunable(95, &[there.clone(), away.clone()], true, now_ms), 90);
        assert_eq!(prunable(95, std::slice::from_ref(&away), true, now_ms), 50, "the only one left");
        let diverged = Member { diverged: true, ..member("b", 94, now_ms) };
        assert_eq!(prunable(95, &[diverged, away.clone()], true, now_ms), 50);
        let held_up = Member { held_up: Some("upgrade this node".to_owned()), ..there };
        assert_eq!(prunable(95, &[held_up, away], true, now_ms), 50);
    }

    #[test]
    fn a_window_that_pruning_does_not_empty_is_refused_until_there_is_room() {
        let now_ms = 100_000;
        let bound = 2 << 20;
        // A standby that is there and stuck: nothing of what it lacks can go.
        let stuck = [member("b", 50, now_ms)];
        let up_to = prunable(95, &stuck, true, now_ms);
        assert_eq!(up_to, 50);
        assert!(must_refuse((95, up_to), bound, bound, false));
        assert!(!must_refuse((95, up_to), bound - 1, bound, false));
        assert!(must_refuse((95, up_to), bound - 1, bound, true), "not for a byte");
        assert!(!must_refuse((95, 90), bound / 2, bound, true));
        // The last batch is never pruned: whoever has nothing to wait for is not kept from writing by it.
        assert!(!must_refuse((95, 95), 2 * bound, bound, true));
    }
}

//! The standby's thread: follows the agreed log, says what it has, and takes over from a leader
//! that is silent.

use super::admission::{self, ClusterError, members};
use super::lifeline::{self, Doubt};
use super::peers::{self, PeerKey};
use super::renewal::{Renewal, Renewed};
use super::view::now_ms;
use super::view::{ABSENT_AFTER_MS, Member, Role};
use super::{INSIST, PAUSE, Promoted, Shared, directory, leading, step_down};
use crate::config::Config;
use crate::recovery::books;
use crate::recovery::directory::{ENDED_BADLY_FILE, mark_key};
use crate::telemetry;
use actors::{FollowError, Follower};
use domain::codec;
use domain::machine::{AnyBook, Domain};
use domain::values::ids::PLATFORM;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use wal::cluster::{AgreedBatch, Leader, LookError, Patience, Seen, Silence};
use wal::{Retention, Store};

const LOOK_EVERY: Duration = Duration::from_millis(50);
/// While nobody serves.
const LOOK_SOON: Duration = Duration::from_millis(10);
/// A node that was appointed takes the log within this, or another does.
const UNTAKEN: Duration = Duration::from_millis(500);
/// Agreed batches gather once all that there were are here: each poll costs etcd a question to its
/// majority, and each one with batches costs this node a sync.
const GATHER: Duration = Duration::from_millis(10);
const NOTE_EVERY: Duration = Duration::from_millis(250);
pub(super) const NEXT_SIGN: &str = "waiting for the leader's next sign of life";
const COPYING: &str = "what follows this log is no longer in etcd: taking another node's copy";
const NOT_FOUNDED: &str = "etcd holds no cluster: its data was lost";
const OUTDATED: &str = "the cluster writes a later version: upgrade this node";
/// `EX_SOFTWARE`: the local log failed.
const EXIT_FATAL: i32 = 70;
/// Another start may find what this one did not.
const EXIT_FAILED: i32 = 1;
const EXIT_REFUSED: i32 = 2;

pub(super) struct StandingBy {
    shared: Arc<Shared>,
    follower: Follower<Domain>,
    silence: Silence,
    doubt: Option<Doubt>,
    /// The epoch of which that was said and not yet looked at; 0: none.
    doubted: u64,
    beat: Option<Vec<u8>>,
    retention: Retention,
    snapshot_records: u64,
    snapshot_every: Duration,
    saved_at: Instant,
    noted_at: Option<Instant>,
    is_admitted: bool,
    renewal: Renewal,
    promote: oneshot::Sender<Promoted>,
}

impl StandingBy {
    /// Opens the log, and checks it against what was agreed on.
    pub fn new(
        config: &Config,
        shared: Arc<Shared>,
        store: Arc<dyn Store>,
        promote: oneshot::Sender<Promoted>,
    ) -> Result<StandingBy, ClusterError> {
        let bounds = wal::Config {
            pending_bytes_max: config.storage.pending_bytes_max,
            pending_records_max: config.storage.pending_records_max,
            batch_records_max: config.storage.batch_records_max,
            ..wal::Config::default()
        };
        let machine = books::machine_of(&config.storage.path)?;
        let mut follower = Follower::open(machine, store, bounds, BTreeMap::new(), None)?;
        let key = PeerKey::derived(&mark_key(&config.storage.path)?);
        let is_admitted = admission::admit(&shared, follower.tip)?;
        if !is_admitted {
            tracing::warn!("etcd does not answer: this node stands by until it does");
        }
        shared.see(|view| view.wal_seq = follower.tip.seq);
        shared.read_by(follower.reader.clone());
        learn_operators(&shared, &mut follower)?;
        lifeline::hold(Arc::clone(&shared), peers::client(config, None)?, key.clone())
            .map_err(ClusterError::Thread)?;
        Ok(StandingBy {
            shared,
            follower,
            silence: Silence::default(),
            doubt: None,
            doubted: 0,
            beat: None,
            retention: Retention::default(),
            snapshot_records: config.storage.snapshot_records,
            snapshot_every: Duration::from_secs(config.storage.snapshot_seconds),
            saved_at: Instant::now(),
            noted_at: None,
            is_admitted,
            renewal: Renewal::new(config, key)?,
            promote,
        })
    }

    pub fn run(mut self) {
        let _ = self.shared.standing_by.set(std::thread::current());
        loop {
            self.save_as_asked();
            match self.turn() {
                Round::Idle => std::thread::park_timeout(LOOK_EVERY),
                Round::Leaderless => std::thread::park_timeout(LOOK_SOON),
                Round::Followed => std::thread::sleep(GATHER),
                Round::Busy => {}
                Round::Leads(led) => return self.lead(*led),
            }
        }
    }

    fn turn(&mut self) -> Round {
        if !self.is_admitted {
            match admission::try_admit(&self.shared, self.follower.tip) {
                Ok(()) => self.is_admitted = true,
                Err(ClusterError::Agreed(_)) => return self.unanswered("etcd does not answer"),
                Err(error) => refuse(&error),
            }
        }
        if self.shared.views.borrow().diverged.is_some() {
            return self.stay_behind(None);
        }
        // Before the look: what that shows is from after the end of the connection.
        self.doubted = self.doubted.max(self.shared.doubted.swap(0, Ordering::AcqRel));
        match self.shared.following.look(self.follower.tip) {
            Ok(seen) => self.seen(&seen),
            Err(LookError::Unanswered(_)) => self.unanswered("etcd does not answer"),
            Err(LookError::NotFounded) => self.unanswered(NOT_FOUNDED),
            Err(LookError::Pruned { .. }) => self.renew(),
            Err(error) => self.diverged(&error.to_string()),
        }
    }

    fn seen(&mut self, seen: &Seen) -> Round {
        codec::write(admission::stored(seen.stores));
        let is_silent = self.hears_silence(seen);
        let known = seen.batches.iter().take_while(|batch| is_known(batch)).count();
        match self.apply(&seen.batches[..known]) {
            Ok(()) => {}
            Err(FollowError::Diverged(why)) => return self.diverged(&why),
            Err(FollowError::Storage(why)) => self.end_badly(&why),
        }
        if known < seen.batches.len() || is_beyond(seen) {
            // A later version leads, and has written what this one cannot read, or is about to.
            if self.shared.views.borrow().held_up.as_deref() != Some(OUTDATED) {
                tracing::error!("{OUTDATED}");
            }
            return self.stay_behind(Some(OUTDATED));
        }
        self.show(seen, is_silent, None);
        self.note();
        self.save();
        // The log of a node that takes it and ends has no leader until another hears its silence.
        let is_leaving = self.shared.is_leaving.load(Ordering::Acquire);
        let is_candidate = self.shared.views.borrow().diverged.is_none() && !is_leaving;
        if is_candidate && (is_silent || seen.epoch.appoints(&self.shared.settings.me.node)) {
            return self.take(seen);
        }
        if self.follower.tip.seq < seen.tip.tip.seq {
            Round::Busy
        } else if self.doubt.is_some() || self.shared.views.borrow().leader.is_none() {
            Round::Leaderless
        } else if seen.batches.is_empty() {
            Round::Idle
        } else {
            Round::Followed
        }
    }

    /// Whether the leader has been silent for so long that it is none. In doubt that is shorter.
    fn hears_silence(&mut self, seen: &Seen) -> bool {
        let (now, failover) = (self.shared.following.quorum.now(), self.shared.settings.failover);
        self.silence.looked(now, seen, failover / 2);
        if std::mem::take(&mut self.doubted) == seen.epoch.number {
            self.doubt = Some(Doubt::new(seen.epoch.number));
        }
        self.doubt.take_if(|doubt| !doubt.looked(now, seen));
        let is_doubted = self.doubt.as_ref().is_some_and(|doubt| doubt.is_borne_out(now));
        let silence = self.silence.lasts(now);
        is_doubted || silence >= failover || seen.epoch.is_untaken() && silence >= UNTAKEN
    }

    /// With one sync for as many batches as the log writes at once.
    fn apply(&mut self, batches: &[AgreedBatch]) -> Result<(), FollowError> {
        let Some(last) = batches.last() else { return Ok(()) };
        let records: Vec<_> = batches.iter().flat_map(|batch| batch.records.iter().cloned()).collect();
        let are_platforms = records.iter().any(|record| record.tenant == PLATFORM);
        self.follower.apply(records, last.tip)?;
        if are_platforms { learn_operators(&self.shared, &mut self.follower) } else { Ok(()) }
    }

    /// `held_up` says why this node does not follow. A leader is one that lives: that is known from
    /// its second sign of life on, because the first may be left from a machine that is gone.
    fn show(&mut self, seen: &Seen, is_silent: bool, held_up: Option<&'static str>) {
        let wal_seq = self.follower.tip.seq;
        let before = self.beat.replace(seen.beat.clone());
        let lives = before.is_some_and(|before| before != seen.beat);
        self.shared.see(|view| {
            view.role = Role::Standby;
            view.held_up = held_up.map(Into::into);
            view.epoch = seen.epoch.number;
            view.wal_seq = wal_seq;
            view.agreed_seq = seen.tip.tip.seq;
            view.window_bytes = seen.window_bytes;
            view.stored_version = admission::stored(seen.stores);
            view.members = members(seen);
            view.answered(self.shared.settings.failover);
            // The sign of life of this node's own earlier process is nobody's.
            let leads = seen.is_open && !is_silent && seen.epoch.node != view.node;
            let is_known = lives || view.leader.as_ref() == Some(&seen.epoch.node);
            view.leader = (leads && is_known).then(|| seen.epoch.node.clone());
            view.waits_for = Cow::Borrowed(match view.leader {
                Some(_) => "",
                None if leads => NEXT_SIGN,
                None => held_up.unwrap_or("there is no leader"),
            });
        });
    }

    fn unanswered(&mut self, why: &'static str) -> Round {
        self.silence.failed();
        self.doubt.iter_mut().for_each(Doubt::unanswered);
        self.beat = None;
        self.shared.see(|view| view.unanswered(why, self.shared.settings.failover));
        Round::Idle
    }

    /// The records after the local log are no longer in etcd: another node has them.
    fn renew(&mut self) -> Round {
        // A copy would have what this program cannot read.
        if self.shared.following.glance().is_ok_and(|seen| is_beyond(&seen)) {
            return self.stay_behind(Some(OUTDATED));
        }
        self.stay_behind(Some(COPYING));
        let view = self.shared.views.borrow().clone();
        match self.renewal.turn(&view, self.follower.tip) {
            Renewed::NotYet => Round::Idle,
            Renewed::Whole => {
                tracing::info!("a copy of another node's data is there: starting anew from it");
                step_down::start_anew();
            }
            Renewed::Branched(why) => self.diverged(&why),
        }
    }

    /// Follows no further, but shows what there is, and no leader that is silent: whoever asked
    /// that one through this node would wait for ever.
    fn stay_behind(&mut self, held_up: Option<&'static str>) -> Round {
        match self.shared.following.glance() {
            Ok(seen) => {
                let is_silent = self.hears_silence(&seen);
                self.show(&seen, is_silent, held_up);
                self.note();
                Round::Idle
            }
            Err(LookError::NotFounded) => self.unanswered(NOT_FOUNDED),
            Err(_) => self.unanswered("etcd does not answer"),
        }
    }

    /// The local log is not the agreed one: this node is no candidate any more.
    fn diverged(&mut self, why: &str) -> Round {
        if self.shared.views.borrow().diverged.is_none() {
            tracing::error!(why, "the log here is not the agreed one: this node stands by and never leads");
            self.leave_word(why);
            self.shared.see(|view| view.diverged = Some(why.to_owned()));
        }
        self.stay_behind(None)
    }

    fn leave_word(&self, why: &str) {
        let file = self.shared.settings.data.join(ENDED_BADLY_FILE);
        if let Err(error) = std::fs::write(&file, format!("{why}\n")) {
            tracing::error!(%error, "the reason could not be left in {ENDED_BADLY_FILE}");
        }
    }

    fn end_badly(&self, why: &str) -> ! {
        tracing::error!(why, "ending the process; a restart goes on from what is synced");
        self.leave_word(why);
        std::process::exit(EXIT_FATAL);
    }

    fn note(&mut self) {
        if self.noted_at.is_some_and(|at| at.elapsed() < NOTE_EVERY) {
            return;
        }
        self.noted_at = Some(Instant::now());
        // The word is said again soon.
        let _ = self.shared.say(self.follower.tip.seq, |about| self.shared.following.note(about));
    }

    /// So that the next start is short.
    fn save(&mut self) {
        let unsaved = self.follower.unsaved();
        let is_due = unsaved >= self.snapshot_records || self.saved_at.elapsed() >= self.snapshot_every;
        if unsaved > 0 && is_due {
            self.write_snapshots();
        }
    }

    /// A log that is not the agreed one gets no snapshot, and whoever asked before that was known
    /// is answered by the channel's end.
    fn save_as_asked(&mut self) {
        let asked =
            std::mem::take(&mut *self.shared.snapshots.lock().unwrap_or_else(PoisonError::into_inner));
        if asked.is_empty() || self.shared.views.borrow().diverged.is_some() {
            return;
        }
        self.write_snapshots();
        for done in asked {
            // A caller that has gone away does not receive.
            let _ = done.send(self.follower.tip.seq);
        }
    }

    fn write_snapshots(&mut self) {
        if let Err(error) = self.follower.snapshot(&self.retention) {
            self.end_badly(&error.to_string());
        }
        self.saved_at = Instant::now();
    }

    /// Tries to take the epoch; then catches up with what was agreed on before.
    fn take(&mut self, seen: &Seen) -> Round {
        let Ok(token) = directory::random_name() else { return Round::Idle };
        let now = self.shared.following.quorum.now();
        let (silent_ms, is_doubted) = (self.silence.lasts(now).as_millis(), self.doubt.is_some());
        let began = Instant::now();
        let leader = match self.shared.following.take(seen, &token) {
            Ok(Some(leader)) => leader,
            Ok(None) | Err(_) => return Round::Busy,
        };
        let _ = self.shared.taken_at.set(began);
        let asked_ms = began.elapsed().as_millis();
        tracing::info!(
            epoch = leader.epoch.number,
            silent_ms,
            is_doubted,
            asked_ms,
            "took the log: catching up"
        );
        leading::begin(&self.shared, &leader);
        loop {
            if leader.lost().is_some() {
                // The thread that gives signs of life starts the process anew.
                return Round::Idle;
            }
            let seen = match self.shared.following.look(self.follower.tip) {
                Ok(seen) => seen,
                Err(LookError::Unanswered(_)) => continue,
                Err(error @ LookError::Pruned { .. }) => return self.step_down(&error.to_string()),
                Err(error) => {
                    self.diverged(&error.to_string());
                    return self.step_down("the log here is not the agreed one");
                }
            };
            if !seen.batches.iter().all(is_known) || is_beyond(&seen) {
                return self.step_down(OUTDATED);
            }
            if let Err(error) = self.apply(&seen.batches) {
                self.end_badly(&error.to_string());
            }
            if self.follower.tip == seen.tip.tip {
                let took_ms = began.elapsed().as_millis();
                tracing::info!(epoch = leader.epoch.number, took_ms, "caught up");
                return Round::Leads(Box::new((leader, seen.tip)));
            }
        }
    }

    fn step_down(&self, why: &str) -> Round {
        step_down::step_down(&self.shared, why);
        Round::Idle
    }

    fn lead(self, (leader, tip): (Leader, wal::cluster::AgreedTip)) {
        self.shared.takeovers.fetch_add(1, Ordering::Relaxed);
        let patience = Patience { total: INSIST.max(self.shared.settings.failover), pause: PAUSE };
        let reader = self.follower.reader.clone();
        let agreement = Box::new(leader.appender(tip, patience));
        let promoted = Promoted { followed: self.follower.finish(), reader, agreement };
        if self.promote.send(promoted).is_err() {
            tracing::error!("nobody waits to lead: the server is stopping");
        }
    }
}

enum Round {
    Idle,
    /// Somebody may have to take over, or just has.
    Leaderless,
    /// More is likely to come.
    Followed,
    /// There may be more at once.
    Busy,
    Leads(Box<(Leader, wal::cluster::AgreedTip)>),
}

fn is_known(batch: &AgreedBatch) -> bool {
    batch.records.iter().all(|record| codec::versioned(&record.payload).is_ok())
}

/// Whether records may be written that this program cannot read.
fn is_beyond(seen: &Seen) -> bool {
    admission::stored(seen.stores) > codec::NEWEST
}

fn learn_operators(shared: &Shared, follower: &mut Follower<Domain>) -> Result<(), FollowError> {
    if let AnyBook::Platform(book) = follower.book(PLATFORM)? {
        book.operators.values().for_each(|account| shared.operators.learn(account));
        shared.learn_routes(book);
    }
    Ok(())
}

pub(super) fn about(shared: &Shared, wal_seq: u64) -> Vec<u8> {
    let is_leaving = shared.is_leaving.load(Ordering::Acquire);
    // Borrowed once: who borrows again while another waits to change the view waits for ever.
    let (diverged, held_up, read_since) = {
        let view = shared.views.borrow();
        (view.diverged.is_some(), view.held_up.as_deref().map(str::to_owned), view.read_since)
    };
    let member = Member {
        role: if shared.leader.get().is_some() { Role::Leader } else { Role::Standby },
        wal_seq,
        seen_at_ms: if is_leaving { now_ms() - ABSENT_AFTER_MS } else { now_ms() },
        diverged,
        held_up,
        present_ms: read_since
            .map_or(0, |since| u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)),
        ordered_at_ms: shared.ordered_at_ms.load(Ordering::Acquire),
        ..shared.settings.me.clone()
    };
    serde_json::to_vec(&member).unwrap_or_default()
}

fn refuse(error: &ClusterError) -> ! {
    tracing::error!(%error, "this node may not be one of the cluster");
    telemetry::say_last(error);
    // A failure that another start may mend is no refusal, here as at a start: systemd tries it again.
    std::process::exit(if error.is_refusal() { EXIT_REFUSED } else { EXIT_FAILED });
}

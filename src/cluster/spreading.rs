//! Leaders spread evenly over the nodes that are there. The front of the node that leads the first partition decides,
//! one hand-over after the other; that and the signs of life before it are those of any hand-over (`leading.rs`). What
//! has to be known for it nodes say of themselves in etcd, so it does not matter which front decides, and since when.

use super::leading::able;
use super::peers::{PROOF, PeerKey};
use super::reports::Partition;
use super::view::{Member, View, now_ms};
use hyper::Method;
use reqwest::Client;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub const PATH: &str = "/peer/hand-on";
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Of the leader that hands its log over; longer than that takes.
const ANSWER: Duration = Duration::from_secs(15);
/// This part of the time that a node has to be there before it gets something back passes after a loss.
const AFTER_LOSS: u32 = 6;
/// Between attempts of which none succeeds: each costs its partition a moment without a leader.
const PATIENCE_MAX: Duration = Duration::from_secs(3_600);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandOver {
    pub partition: usize,
    /// By which it is led now.
    pub epoch: u64,
    pub to: String,
}

impl HandOver {
    fn message(&self) -> String {
        format!("{} {}", self.epoch, self.to)
    }
}

/// A proof is of the message too: no request could have this target.
pub fn target(message: &str) -> String {
    format!("peer hand-on {message}")
}

/// The epoch, and the node that is to lead next.
pub fn read(message: &str) -> Option<(u64, &str)> {
    let (epoch, to) = message.split_once(' ')?;
    Some((epoch.parse().ok()?, to))
}

/// Nothing while a partition has no leader that lives, and for `settled` after an operator's word. A node that was away
/// gets something once it has been there for `settled`.
pub fn next(views: &[Arc<View>], now_ms: i64, settled: Duration) -> Option<HandOver> {
    let settled_ms = settled.as_millis();
    let ordered = views.iter().flat_map(|view| &view.members).map(|member| member.ordered_at_ms);
    if ordered.into_iter().any(|at_ms| u128::from(now_ms.abs_diff(at_ms)) < settled_ms) {
        return None;
    }
    let mut led = BTreeMap::<&str, usize>::new();
    for view in views {
        let leader = view.leader_member().filter(|leader| able(view, leader, now_ms).is_ok())?;
        *led.entry(&leader.node).or_default() += 1;
    }
    let led = |node: &str| led.get(node).copied().unwrap_or_default();
    let possible = views.iter().enumerate().flat_map(|(partition, view)| {
        let from = view.leader.as_deref().map_or(0, led);
        let others = view.members.iter().filter(move |member| Some(&member.node) != view.leader.as_ref());
        let ready = others.filter(move |member| {
            u128::from(member.present_ms) >= settled_ms && able(view, member, now_ms).is_ok()
        });
        ready.map(move |member| (from.saturating_sub(led(&member.node)), partition, Reverse(&member.node)))
    });
    // The first partition, which decides for all, rather stays.
    let (_, partition, Reverse(to)) = possible.filter(|(more, ..)| *more > 1).max()?;
    Some(HandOver { partition, epoch: views[partition].epoch, to: to.clone() })
}

/// Names the nodes to each process that leads, in the order in which they should lead instead when this node stops:
/// those first that will lead least by then.
pub fn name_successors(partitions: &[Partition]) {
    let views: Vec<Arc<View>> = partitions.iter().map(Partition::view).collect();
    let orders = successors(&views, now_ms());
    partitions.iter().zip(orders).for_each(|(partition, order)| partition.name_successors(order));
}

fn successors(views: &[Arc<View>], now_ms: i64) -> Vec<Vec<String>> {
    let leads = |view: &View| view.leader.as_ref() == Some(&view.node);
    let others = views.iter().filter(|view| !leads(view)).filter_map(|view| view.leader.as_deref());
    let mut led = BTreeMap::<&str, usize>::new();
    others.for_each(|leader| *led.entry(leader).or_default() += 1);
    let mut orders = Vec::new();
    for view in views {
        let is_able = |member: &&Member| member.node != view.node && able(view, member, now_ms).is_ok();
        let able = view.members.iter().filter(is_able).filter(|_| leads(view));
        let mut order: Vec<&str> = able.map(|member| member.node.as_str()).collect();
        order.sort_by_key(|node| (led.get(node).copied().unwrap_or_default(), *node));
        if let Some(first) = order.first() {
            *led.entry(*first).or_default() += 1;
        }
        orders.push(order.into_iter().map(str::to_owned).collect());
    }
    orders
}

/// Who leads each partition, by which epoch.
type Led = Vec<(Option<String>, u64)>;

fn led(views: &[Arc<View>]) -> Led {
    views.iter().map(|view| (view.leader.clone(), view.epoch)).collect()
}

pub struct Spreading {
    partitions: Arc<[Partition]>,
    client: Client,
    key: PeerKey,
    settled: Duration,
    led: Led,
    /// When that changed, or an attempt failed.
    changed_at: Instant,
    patience: Duration,
}

impl Spreading {
    pub fn new(partitions: Arc<[Partition]>, client: Client, key: PeerKey, settled: Duration) -> Spreading {
        let (changed_at, patience) = (Instant::now(), settled / AFTER_LOSS);
        Spreading { partitions, client, key, settled, led: Vec::new(), changed_at, patience }
    }

    pub async fn run(mut self) -> ! {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            name_successors(&self.partitions);
            let Some(hand_over) = self.due() else { continue };
            let HandOver { partition, to, .. } = &hand_over;
            match self.ask(&hand_over).await {
                Ok(epoch) => {
                    tracing::info!(partition, to, epoch, "handed over, so that leaders are spread");
                    self.led[*partition] = self.shown(*partition, epoch).await;
                    self.patience = self.settled / AFTER_LOSS;
                }
                Err(why) => {
                    self.patience = PATIENCE_MAX.min(2 * self.patience);
                    let again_s = self.patience.as_secs();
                    tracing::warn!(partition, to, why, again_s, "not handed over: leaders are not spread");
                    self.changed_at = Instant::now();
                }
            }
        }
    }

    /// If this node's front decides, and nothing has changed for some time.
    fn due(&mut self) -> Option<HandOver> {
        let views: Vec<Arc<View>> = self.partitions.iter().map(Partition::view).collect();
        let led = led(&views);
        if self.led != led {
            (self.led, self.changed_at) = (led, Instant::now());
        }
        let is_new = |(view, heard): (&Arc<View>, &Partition)| {
            view.read_at.is_some_and(|at| at.elapsed() <= heard.failover)
        };
        let decides = views[0].leader.as_ref() == Some(&views[0].node);
        let is_known = views.iter().zip(&*self.partitions).all(is_new);
        if !decides || !is_known || self.changed_at.elapsed() < self.patience {
            return None;
        }
        next(&views, now_ms(), self.settled)
    }

    /// The new epoch.
    async fn ask(&self, hand_over: &HandOver) -> Result<u64, String> {
        let view = self.partitions[hand_over.partition].view();
        let Some(leader) = view.leader_member() else { return Err("nobody leads it".to_owned()) };
        let message = hand_over.message();
        let proof = self.key.prove_node(&Method::POST, &target(&message));
        let asked = self.client.post(format!("{}{PATH}", leader.peer_advertise)).header(PROOF, proof);
        let answer = asked.body(message).timeout(ANSWER).send().await.map_err(|error| error.to_string())?;
        let (status, said) = (answer.status(), answer.text().await.map_err(|error| error.to_string())?);
        match said.trim().parse() {
            Ok(epoch) if status == 200 => Ok(epoch),
            _ => Err(format!("{} answered {status}: {:.200}", leader.node, said.trim())),
        }
    }

    /// What this node's own process shows of it in a moment: the change of a hand-over is none to wait after.
    async fn shown(&self, partition: usize, epoch: u64) -> (Option<String>, u64) {
        let (heard, mut views) = (&self.partitions[partition], self.partitions[partition].views());
        let shown = views.wait_for(|view| view.epoch >= epoch && view.leader.is_some());
        let _ = tokio::time::timeout(heard.failover, shown).await;
        let view = heard.view();
        (view.leader.clone(), view.epoch)
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::{ABSENT_AFTER_MS, BEHIND_MAX};
    use super::*;
    use proptest::prelude::*;

    const SETTLED: Duration = Duration::from_secs(60);
    const AGREED: u64 = 50_000;

    /// What a node may be for a partition, when it cannot be handed that.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Lack {
        Dead,
        Leaving,
        Behind,
        HeldUp,
        Diverged,
        New,
    }

    fn lack() -> impl Strategy<Value = Lack> + Clone {
        use Lack::*;
        prop::sample::select(vec![Dead, Leaving, Behind, HeldUp, Diverged, New])
    }

    fn member(node: usize, now_ms: i64, lack: Option<Lack>) -> Member {
        let has = |one| lack == Some(one);
        let silent_ms = match lack {
            Some(Lack::Dead) => 3_000,
            Some(Lack::Leaving) => ABSENT_AFTER_MS,
            _ => 300,
        };
        let word = serde_json::json!({
            "node": format!("n{node}"), "id": "", "place": "", "role": "standby", "version": "", "format": 1,
            "advertise": "", "peerAdvertise": "",
            "walSeq": AGREED - if has(Lack::Behind) { BEHIND_MAX } else { 900 },
            "seenAtMs": now_ms - silent_ms, "diverged": has(Lack::Diverged),
            "heldUp": has(Lack::HeldUp).then_some("it copies"),
            "presentMs": if has(Lack::New) { 59_999 } else { 60_000 },
        });
        serde_json::from_value(word).expect("a member")
    }

    fn view(leader: usize, members: Vec<Member>) -> Arc<View> {
        let leader = Some(format!("n{leader}"));
        Arc::new(View { leader, epoch: 7, agreed_seq: AGREED, members, ..View::default() })
    }

    /// By partition: the leader, and what each node lacks for it.
    type Cluster = (usize, Vec<(usize, Vec<Option<Lack>>)>);

    fn cluster(lacks: impl Strategy<Value = Option<Lack>> + Clone) -> impl Strategy<Value = Cluster> {
        (1_usize..6, 1_usize..10).prop_flat_map(move |(nodes, partitions)| {
            let row = (0..nodes, prop::collection::vec(lacks.clone(), nodes));
            (Just(nodes), prop::collection::vec(row, partitions))
        })
    }

    /// Who leads each partition after all hand-overs, each of which must be allowed.
    fn spread((nodes, mut rows): Cluster, steps_max: usize) -> Result<Vec<usize>, TestCaseError> {
        let now_ms = 1_000_000_000;
        for (leader, lacks) in &mut rows {
            lacks[*leader] = None;
        }
        for _ in 0..=steps_max {
            let views: Vec<Arc<View>> = rows
                .iter()
                .map(|(leader, lacks)| {
                    view(*leader, (0..nodes).map(|node| member(node, now_ms, lacks[node])).collect())
                })
                .collect();
            let leads = |node: usize| rows.iter().filter(|(leader, _)| *leader == node).count();
            let Some(step) = next(&views, now_ms, SETTLED) else {
                for (leader, lacks) in &rows {
                    for node in (0..nodes).filter(|node| lacks[*node].is_none()) {
                        prop_assert!(leads(*leader) <= leads(node) + 1, "{rows:?}");
                    }
                }
                return Ok(rows.into_iter().map(|(leader, _)| leader).collect());
            };
            let to: usize = step.to.trim_start_matches('n').parse().expect("a number");
            let (from, lacks) = &rows[step.partition];
            prop_assert_eq!(lacks[to], None);
            prop_assert!(leads(*from) > leads(to) + 1, "{:?}", step);
            prop_assert_eq!(step.epoch, 7);
            rows[step.partition].0 = to;
        }
        Err(TestCaseError::fail(format!("it does not end: {rows:?}")))
    }

    proptest! {
        #[test]
        fn leaders_are_spread_by_at_most_a_hand_over_for_each(cluster in cluster(Just(None))) {
            let (nodes, partitions) = (cluster.0, cluster.1.len());
            let leaders = spread(cluster, partitions)?;
            let leads = |node| leaders.iter().filter(|leader| **leader == node).count();
            let most = (0..nodes).map(leads).max();
            prop_assert!(most <= (0..nodes).map(leads).min().map(|least| least + 1), "{:?}", leaders);
        }

        #[test]
        fn no_log_goes_to_a_node_that_could_not_go_on_from_it(
            cluster in cluster(prop::option::weighted(0.4, lack())),
        ) {
            let partitions = cluster.1.len();
            spread(cluster, partitions * partitions)?;
        }
    }

    #[test]
    fn what_a_stopping_node_leads_goes_to_those_that_will_lead_least() {
        let now_ms = 1_000_000_000;
        let of = |leaders: &[usize], lack: Option<Lack>| {
            let members = (0..4).map(|node| member(node, now_ms, lack.filter(|_| node == 1)));
            let members: Vec<Member> = members.collect();
            let view = |leader: &usize| View {
                node: "n0".to_owned(),
                ..View::clone(&view(*leader, members.clone()))
            };
            let views: Vec<Arc<View>> = leaders.iter().map(|leader| Arc::new(view(leader))).collect();
            successors(&views, now_ms).iter().map(|order| order.join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(of(&[0, 0, 0], None), ["n1 n2 n3", "n2 n3 n1", "n3 n1 n2"]);
        assert_eq!(of(&[0, 1, 0, 1, 2], None), ["n3 n2 n1", "", "n2 n3 n1", "", ""]);
        assert_eq!(of(&[0, 0, 3], Some(Lack::Behind)), ["n2 n3", "n2 n3", ""]);
        assert_eq!(of(&[1, 2], None), ["", ""]);
    }

    #[test]
    fn nothing_is_done_after_an_operators_word_and_while_a_leader_is_missing() {
        let now_ms = 1_000_000_000;
        let views = || vec![view(0, (0..3).map(|node| member(node, now_ms, None)).collect()); 3];
        let step = HandOver { partition: 2, epoch: 7, to: "n1".to_owned() };
        assert_eq!(next(&views(), now_ms, SETTLED), Some(step.clone()));
        assert_eq!(read(&step.message()), Some((7, "n1")));
        let changed = |change: fn(&mut View, i64)| {
            let mut views = views();
            change(Arc::make_mut(&mut views[1]), now_ms);
            next(&views, now_ms, SETTLED)
        };
        assert_eq!(changed(|view, now_ms| view.members[2].ordered_at_ms = now_ms - 59_999), None);
        assert_eq!(
            changed(|view, now_ms| view.members[2].ordered_at_ms = now_ms - 60_000),
            Some(step.clone())
        );
        let by_a_wrong_clock: fn(&mut View, i64) = |view, now_ms| view.members[2].ordered_at_ms = 2 * now_ms;
        assert_eq!(changed(by_a_wrong_clock), Some(step));
        assert_eq!(changed(|view, _| view.leader = None), None);
        assert_eq!(changed(|view, now_ms| view.members[0].seen_at_ms = now_ms - 3_000), None);
    }
}

//! The circuits of a rail: after five failures in a row, or half of the last twenty calls, of one
//! call to one bank that call is not made until a probe is answered, and after a probe that failed
//! none is (`docs/contract.md, 18.5`). A state machine without a clock, a socket or a lock.
//!
//! A failure is a call without a readable answer, and one that never had a connection; a refusal is
//! an answer. Probes close a circuit and are not counted. A bank that takes long behind a rail that
//! answers is no reason to send nothing to the others: whether the rail itself is there, a probe
//! tells at once when a circuit opens.

use domain::rail::BankCall;
use std::collections::HashMap;
use std::time::Duration;

const IN_A_ROW: u32 = 5;
const REMEMBERED: u32 = 20;
/// Failures among the remembered calls that open a circuit, once there are that many calls.
const OF_REMEMBERED: u32 = REMEMBERED / 2;

/// Times are those of a clock that only goes forward, from any origin.
#[derive(Clone, Debug, Default)]
struct Circuit {
    /// A bit per call, the newest lowest; 1 is a failure.
    newest: u32,
    calls: u32,
    in_a_row: u32,
    open_until: Option<Duration>,
}

impl Circuit {
    /// Whether the call opened the circuit. Those that were under way when it opened change
    /// nothing: only a probe closes.
    fn count(&mut self, is_answered: bool, pause: Duration, now: Duration) -> bool {
        if self.open_until.is_some() {
            return false;
        }
        self.newest = (self.newest << 1 | u32::from(!is_answered)) & ((1 << REMEMBERED) - 1);
        self.calls = (self.calls + 1).min(REMEMBERED);
        self.in_a_row = if is_answered { 0 } else { self.in_a_row + 1 };
        let half = self.calls == REMEMBERED && self.newest.count_ones() >= OF_REMEMBERED;
        let opens = self.in_a_row >= IN_A_ROW || half;
        self.open_until = opens.then(|| now.saturating_add(pause));
        opens
    }
}

#[derive(Debug)]
pub struct Circuits {
    pause: Duration,
    /// The next probe, if the rail did not answer the last one.
    rail_open_until: Option<Duration>,
    calls: HashMap<BankCall, Circuit>,
    is_suspect: bool,
}

impl Circuits {
    pub fn closed(pause: Duration) -> Circuits {
        Circuits { pause, rail_open_until: None, calls: HashMap::new(), is_suspect: false }
    }

    /// The whole rail's, whose probe comes at once: after a start with queued orders.
    pub fn awaiting_probe(pause: Duration, now: Duration) -> Circuits {
        Circuits { rail_open_until: Some(now), ..Circuits::closed(pause) }
    }

    pub fn is_open(&self) -> bool {
        self.rail_open_until.is_some() || self.calls.values().any(|circuit| circuit.open_until.is_some())
    }

    pub fn open_calls(&self) -> Vec<BankCall> {
        let open = self.calls.iter().filter(|(_, circuit)| circuit.open_until.is_some());
        let mut open: Vec<BankCall> = open.map(|(call, _)| *call).collect();
        open.sort_unstable();
        open
    }

    /// The seconds until the next probe, if a call is not made until then.
    pub fn open_seconds(&self, call: Option<BankCall>, now: Duration) -> Option<u32> {
        let of_call = || self.calls.get(&call?)?.open_until;
        let left = self.rail_open_until.or_else(of_call)?.saturating_sub(now);
        Some(u32::try_from(left.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX).max(1))
    }

    pub fn count(&mut self, call: BankCall, is_answered: bool, now: Duration) -> bool {
        if self.rail_open_until.is_some() {
            return false;
        }
        let opened = self.calls.entry(call).or_default().count(is_answered, self.pause, now);
        self.is_suspect |= opened;
        opened
    }

    pub fn until_probe(&self, now: Duration) -> Option<Duration> {
        if self.is_suspect {
            return Some(Duration::ZERO);
        }
        let of_calls = self.calls.values().filter_map(|circuit| circuit.open_until).min();
        self.rail_open_until.or(of_calls).map(|next| next.saturating_sub(now))
    }

    /// Whether the probe, which is one at a time, closed anything. An answer closes what was due,
    /// and after the whole rail's silence everything; nothing of before is remembered then.
    pub fn probed(&mut self, is_answered: bool, now: Duration) -> bool {
        self.is_suspect = false;
        if !is_answered {
            self.rail_open_until = Some(now.saturating_add(self.pause));
            return false;
        }
        let was_silent = self.rail_open_until.take().is_some();
        let before = self.calls.len();
        self.calls.retain(|_, circuit| !was_silent && circuit.open_until.is_none_or(|next| now < next));
        was_silent || self.calls.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PAUSE: Duration = Duration::from_secs(5);
    const T0: Duration = Duration::from_secs(100);
    const CALL: BankCall = BankCall { kind: "a", bank: None };
    const OTHER: BankCall = BankCall { kind: "b", bank: None };

    fn after(calls: &[bool]) -> Circuits {
        let mut circuits = Circuits::closed(PAUSE);
        for failed in calls {
            circuits.count(CALL, counted(*failed), T0);
        }
        circuits
    }

    const fn counted(failed: bool) -> bool {
        !failed
    }

    #[test]
    fn the_fifth_failure_in_a_row_opens() {
        assert!(!after(&[true; 4]).is_open());
        assert!(after(&[true; 5]).is_open());
        assert!(!after(&[true, true, true, true, false, true, true, true, true]).is_open());
    }

    #[test]
    fn half_of_twenty_opens_from_twenty_calls_on() {
        let alternating: Vec<bool> = (0..20).map(|n| n % 2 == 1).collect();
        assert!(!after(&alternating[..19]).is_open());
        assert!(after(&alternating).is_open());
        // Nine of twenty, and what leaves the twenty no longer counts.
        let mut calls = vec![true, false, true, false, false];
        calls.extend([false, true].repeat(20));
        assert!(after(&calls).is_open());
        let few: Vec<bool> = (0..200).map(|n| n % 5 < 2).collect();
        assert!(!after(&few).is_open());
    }

    #[test]
    fn one_call_that_fails_says_nothing_of_the_others_while_the_rail_answers() {
        let mut circuits = after(&[true; 5]);
        let open = Some(5);
        assert_eq!(circuits.until_probe(T0), Some(Duration::ZERO), "is it the rail?");
        assert_eq!(
            (circuits.open_seconds(Some(CALL), T0), circuits.open_seconds(Some(OTHER), T0)),
            (open, None)
        );
        assert!(!circuits.probed(true, T0), "its time has not come");
        assert_eq!((circuits.open_seconds(Some(CALL), T0), circuits.open_seconds(None, T0)), (open, None));
        assert_eq!((circuits.open_calls(), circuits.until_probe(T0)), (vec![CALL], Some(PAUSE)));
        assert!(circuits.probed(true, T0 + PAUSE));
        assert_eq!((circuits.open_seconds(Some(CALL), T0), circuits.until_probe(T0)), (None, None));
        assert!(!circuits.count(CALL, false, T0), "nothing of before is remembered");
    }

    #[test]
    fn a_rail_that_does_not_answer_a_probe_is_called_by_nothing() {
        let mut circuits = after(&[true; 5]);
        circuits.probed(false, T0);
        for call in [Some(CALL), Some(OTHER), None] {
            assert_eq!(circuits.open_seconds(call, T0), Some(5));
            assert_eq!(circuits.open_seconds(call, T0 + PAUSE), Some(1));
        }
        circuits.count(OTHER, true, T0);
        circuits.probed(false, T0 + PAUSE);
        assert_eq!(circuits.until_probe(T0 + PAUSE), Some(PAUSE), "the pause begins anew");
        assert!(circuits.probed(true, T0 + PAUSE));
        assert!(!circuits.is_open());
    }

    #[test]
    fn a_start_with_queued_orders_probes_first() {
        let mut circuits = Circuits::awaiting_probe(PAUSE, T0);
        assert_eq!((circuits.is_open(), circuits.until_probe(T0)), (true, Some(Duration::ZERO)));
        circuits.probed(true, T0);
        assert_eq!(circuits.open_seconds(Some(CALL), T0), None);
    }

    fn opens(calls: &[bool]) -> bool {
        let in_a_row = calls.len() >= 5 && calls[calls.len() - 5..].iter().all(|failed| *failed);
        let half =
            calls.len() >= 20 && calls[calls.len() - 20..].iter().filter(|failed| **failed).count() >= 10;
        in_a_row || half
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Call(BankCall, bool),
        Probed(bool),
        Wait(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (prop::sample::select(vec![CALL, OTHER]), any::<bool>()).prop_map(|(call, failed)| Step::Call(call, failed)),
            2 => any::<bool>().prop_map(Step::Probed),
            2 => (0..8_000_u64).prop_map(Step::Wait),
        ]
    }

    proptest! {
        #[test]
        fn it_opens_exactly_when_the_rule_says(calls in prop::collection::vec(any::<bool>(), 0..80)) {
            let mut circuits = Circuits::closed(PAUSE);
            for count in 1..=calls.len() {
                circuits.count(CALL, counted(calls[count - 1]), T0);
                prop_assert_eq!(circuits.is_open(), opens(&calls[..count]));
                if circuits.is_open() {
                    break;
                }
            }
        }

        #[test]
        fn probes_alone_close(steps in prop::collection::vec(step(), 0..200)) {
            let (mut circuits, mut now) = (Circuits::closed(PAUSE), T0);
            for step in steps {
                let before = [CALL, OTHER].map(|call| circuits.open_seconds(Some(call), now).is_none());
                match step {
                    Step::Call(call, failed) => {
                        circuits.count(call, counted(failed), now);
                        let after = [CALL, OTHER].map(|call| circuits.open_seconds(Some(call), now).is_none());
                        prop_assert!(after.iter().zip(before).all(|(after, before)| before || !after), "a call closed it");
                    }
                    Step::Probed(failed) => {
                        circuits.probed(counted(failed), now);
                        prop_assert_eq!(circuits.open_seconds(None, now).is_none(), !failed);
                    }
                    Step::Wait(ms) => now += Duration::from_millis(ms),
                }
                for call in [Some(CALL), Some(OTHER), None] {
                    if let Some(retry_after_seconds) = circuits.open_seconds(call, now) {
                        prop_assert!((1..=5).contains(&retry_after_seconds));
                        prop_assert!(circuits.until_probe(now).is_some());
                    }
                }
            }
        }
    }
}

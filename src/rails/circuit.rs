//! The circuit of a rail: after enough failures nothing is sent to it until a probe is answered.
//!
//! A state machine without a clock, a socket or a lock: whoever calls the rail says what came of it
//! and what time it is. Five failures in a row, or half of the last twenty calls, open it
//! (`docs/contract.md, 18.5`). What counts as a failure is a call without a readable answer, and
//! one that never had a connection; a refusal is an answer. Probes close it and are not counted.

use std::time::Duration;

/// The number of failures in a row that open it.
const IN_A_ROW: u32 = 5;
/// The number of the newest calls that are remembered.
const REMEMBERED: u32 = 20;
/// The number of failures among them that open it, once that many calls are remembered.
const OF_REMEMBERED: u32 = REMEMBERED / 2;

/// The kinds of calls that the circuit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// The call was answered, whatever the answer says.
    Answer,
    /// No answer, a cut, garbage, a status of 500 and above, or no connection.
    Failure,
}

/// The gate for an order that wants to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// The order may be sent.
    Closed,
    /// The order may not be sent; it is worth trying again after so many seconds, one at least.
    Open {
        /// For `Retry-After`.
        retry_after_seconds: u64,
    },
}

/// The right to make the one probe that is under way. Given back by [`Circuit::probed`].
#[derive(Debug, PartialEq, Eq)]
pub struct Probe(u64);

/// The circuit of one rail. Times are those of a clock that only goes forward, from any origin.
#[derive(Debug)]
pub struct Circuit {
    pause: Duration,
    /// A bit per call, the newest lowest; 1 is a failure.
    newest: u32,
    calls: u32,
    in_a_row: u32,
    open: Option<Opened>,
    /// Counts openings and probes, so that an answer to an older probe is not taken for the newest.
    generation: u64,
}

/// An open circuit.
#[derive(Debug)]
struct Opened {
    next_probe: Duration,
    /// The probe under way.
    probing: Option<u64>,
}

impl Circuit {
    /// A closed one, whose probes are so far apart once it is open.
    pub fn closed(pause: Duration) -> Circuit {
        Circuit { pause, newest: 0, calls: 0, in_a_row: 0, open: None, generation: 0 }
    }

    /// An open one whose probe comes at once: after a start with queued orders.
    pub fn awaiting_probe(pause: Duration, now: Duration) -> Circuit {
        Circuit { open: Some(Opened { next_probe: now, probing: None }), ..Circuit::closed(pause) }
    }

    /// Whether it is open.
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The gate as it is now.
    pub fn gate(&self, now: Duration) -> Gate {
        match &self.open {
            None => Gate::Closed,
            Some(opened) => {
                let left = opened.next_probe.saturating_sub(now);
                Gate::Open { retry_after_seconds: left.as_millis().div_ceil(1_000).max(1) as u64 }
            }
        }
    }

    /// The time to the next probe; none where there is none to come.
    pub fn until_probe(&self, now: Duration) -> Duration {
        self.open.as_ref().map_or(Duration::ZERO, |opened| match opened.probing {
            Some(_) => self.pause,
            None => opened.next_probe.saturating_sub(now),
        })
    }

    /// Counts a call. Those that were under way when it opened change nothing: only a probe closes.
    pub fn count(&mut self, call: Counted, now: Duration) {
        if self.open.is_some() {
            return;
        }
        let is_failure = call == Counted::Failure;
        self.newest = (self.newest << 1 | u32::from(is_failure)) & ((1 << REMEMBERED) - 1);
        self.calls = (self.calls + 1).min(REMEMBERED);
        self.in_a_row = if is_failure { self.in_a_row + 1 } else { 0 };
        let half = self.calls == REMEMBERED && self.newest.count_ones() >= OF_REMEMBERED;
        if self.in_a_row >= IN_A_ROW || half {
            self.open = Some(Opened { next_probe: now.saturating_add(self.pause), probing: None });
        }
    }

    /// The right to probe, if it is time and nobody else does.
    pub fn probe(&mut self, now: Duration) -> Option<Probe> {
        let opened =
            self.open.as_mut().filter(|opened| opened.probing.is_none() && now >= opened.next_probe)?;
        self.generation += 1;
        opened.probing = Some(self.generation);
        Some(Probe(self.generation))
    }

    /// The end of a probe. An answer closes the circuit, and nothing of before is remembered.
    pub fn probed(&mut self, Probe(generation): Probe, call: Counted, now: Duration) {
        let Some(opened) = self.open.as_mut().filter(|opened| opened.probing == Some(generation)) else {
            return;
        };
        match call {
            Counted::Answer => *self = Circuit { generation: self.generation, ..Circuit::closed(self.pause) },
            Counted::Failure => {
                *opened = Opened { next_probe: now.saturating_add(self.pause), probing: None };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PAUSE: Duration = Duration::from_secs(5);
    const T0: Duration = Duration::from_secs(100);

    fn after(calls: &[bool]) -> Circuit {
        let mut circuit = Circuit::closed(PAUSE);
        calls.iter().for_each(|failed| circuit.count(counted(*failed), T0));
        circuit
    }

    const fn counted(failed: bool) -> Counted {
        if failed { Counted::Failure } else { Counted::Answer }
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
    fn one_probe_at_a_time_closes_it() {
        let mut circuit = after(&[true; 5]);
        assert_eq!(circuit.gate(T0), Gate::Open { retry_after_seconds: 5 });
        assert_eq!(circuit.gate(T0 + Duration::from_millis(4_001)), Gate::Open { retry_after_seconds: 1 });
        assert_eq!(circuit.probe(T0), None, "before its time");
        let later = T0 + PAUSE;
        assert_eq!(circuit.gate(later), Gate::Open { retry_after_seconds: 1 });
        let first = circuit.probe(later).expect("it is time");
        assert_eq!(circuit.probe(later + PAUSE), None, "one at a time");
        circuit.probed(first, Counted::Failure, later);
        assert_eq!(circuit.probe(later), None, "the pause begins anew");
        let second = circuit.probe(later + PAUSE).expect("it is time");
        circuit.count(Counted::Answer, later);
        assert!(circuit.is_open(), "an order of before closes nothing");
        circuit.probed(second, Counted::Answer, later + PAUSE);
        assert_eq!((circuit.gate(later + PAUSE), circuit.in_a_row, circuit.calls), (Gate::Closed, 0, 0));
    }

    #[test]
    fn a_start_with_queued_orders_probes_first() {
        let mut circuit = Circuit::awaiting_probe(PAUSE, T0);
        assert!(circuit.is_open());
        let probe = circuit.probe(T0).expect("at once");
        circuit.probed(probe, Counted::Answer, T0);
        assert_eq!(circuit.gate(T0), Gate::Closed);
    }

    /// The rule, read off the list of calls.
    fn opens(calls: &[bool]) -> bool {
        let in_a_row = calls.len() >= 5 && calls[calls.len() - 5..].iter().all(|failed| *failed);
        let half =
            calls.len() >= 20 && calls[calls.len() - 20..].iter().filter(|failed| **failed).count() >= 10;
        in_a_row || half
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Call(bool),
        Probe,
        Probed(bool),
        Wait(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => any::<bool>().prop_map(Step::Call),
            2 => Just(Step::Probe),
            2 => any::<bool>().prop_map(Step::Probed),
            2 => (0..8_000_u64).prop_map(Step::Wait),
        ]
    }

    proptest! {
        #[test]
        fn it_opens_exactly_when_the_rule_says(calls in prop::collection::vec(any::<bool>(), 0..80)) {
            let mut circuit = Circuit::closed(PAUSE);
            for count in 1..=calls.len() {
                circuit.count(counted(calls[count - 1]), T0);
                prop_assert_eq!(circuit.is_open(), opens(&calls[..count]));
                if circuit.is_open() {
                    break;
                }
            }
        }

        #[test]
        fn probes_alone_close_it_and_never_two_at_once(steps in prop::collection::vec(step(), 0..200)) {
            let (mut circuit, mut now, mut under_way) = (Circuit::closed(PAUSE), T0, None);
            for step in steps {
                let before = circuit.is_open();
                match step {
                    Step::Call(failed) => {
                        circuit.count(counted(failed), now);
                        prop_assert!(circuit.is_open() || !before, "a call closed it");
                    }
                    Step::Probe => {
                        if let Some(probe) = circuit.probe(now) {
                            prop_assert!(before && under_way.is_none());
                            under_way = Some(probe);
                        }
                    }
                    Step::Probed(failed) => {
                        if let Some(probe) = under_way.take() {
                            circuit.probed(probe, counted(failed), now);
                            prop_assert_eq!(circuit.is_open(), failed);
                        }
                    }
                    Step::Wait(ms) => now += Duration::from_millis(ms),
                }
                if let Gate::Open { retry_after_seconds } = circuit.gate(now) {
                    prop_assert!((1..=5).contains(&retry_after_seconds));
                }
            }
        }
    }
}

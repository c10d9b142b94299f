//! Findings of a trial of a live rail without moving money (`pasarela check`): by the call that a
//! probe makes, and by questions. No finding has a secret in it, nor anything that a rail wrote but
//! its code.

use super::http::{BaseUrl, Client, Failure};

/// A clock that is further off than this is wrong: the server itself takes such a step for one.
const CLOCK_SECONDS_MAX: u64 = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Fine,
    Unknown,
    Wrong,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub what: &'static str,
    pub verdict: Verdict,
    pub text: String,
}

impl Finding {
    pub fn fine(what: &'static str, text: impl Into<String>) -> Finding {
        Finding { what, verdict: Verdict::Fine, text: text.into() }
    }

    pub fn unknown(what: &'static str, text: impl Into<String>) -> Finding {
        Finding { what, verdict: Verdict::Unknown, text: text.into() }
    }

    pub fn wrong(what: &'static str, text: impl Into<String>) -> Finding {
        Finding { what, verdict: Verdict::Wrong, text: text.into() }
    }

    pub fn unreached(base: &BaseUrl, failure: Failure) -> Finding {
        let (why, host, key) = (failure.text(), base.host(), failure.key());
        Finding::wrong("reach", format!("{host}: {why}: look at {key}, and at the network between"))
    }

    pub fn clock(client: &Client) -> Finding {
        Finding::of_clock(client.clock_ahead())
    }

    fn of_clock(ahead: Option<i64>) -> Finding {
        const CLOCK: &str = "clock";
        let Some(ahead) = ahead else {
            return Finding::unknown(CLOCK, "its answers have no date to compare with");
        };
        let off = match ahead {
            0 => "the same as ours, to the second".to_owned(),
            1.. => format!("{ahead} s ahead of ours"),
            _ => format!("{} s behind ours", ahead.unsigned_abs()),
        };
        match ahead.unsigned_abs() <= CLOCK_SECONDS_MAX {
            true => Finding::fine(CLOCK, off),
            false => Finding::wrong(CLOCK, format!("{off}: look whether this machine keeps time (NTP)")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_is_the_most_that_clocks_may_differ_by() {
        for (ahead, verdict) in [
            (None, Verdict::Unknown),
            (Some(0), Verdict::Fine),
            (Some(60), Verdict::Fine),
            (Some(-60), Verdict::Fine),
            (Some(61), Verdict::Wrong),
            (Some(-3_600), Verdict::Wrong),
            (Some(i64::MIN), Verdict::Wrong),
        ] {
            assert_eq!(Finding::of_clock(ahead).verdict, verdict, "{ahead:?}");
        }
        assert_eq!(Finding::of_clock(Some(-2)).text, "2 s behind ours");
    }
}

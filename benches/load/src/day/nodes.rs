//! A day over nodes that somebody else started and holds to a part of a processor (`benches/cluster`): what they do a
//! second, and what that costs each of them.

use super::{Call, Common, Holds, Seen, Shops, THREADS, Talk};
use crate::cleanup;
use crate::lanes::Lanes;
use crate::receiver::Receiver;
use crate::requests::Numbered;
use crate::server::Server;
use crate::table::per_second;
use crate::{Outcome, progress};
use clap::Args;
use hdrhistogram::Histogram;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Longer than over a whole processor: a quota is given out ten times a second.
const WARM_UP: Duration = Duration::from_secs(1);

/// The same over nodes that run already, with the processor time of each
#[derive(Args, Clone, Debug)]
pub struct Nodes {
    /// The nodes' APIs, which are asked in turn
    #[arg(long, value_delimiter = ',', required = true, value_name = "ADDRESS,…")]
    api: Vec<SocketAddr>,
    /// The operators' address of the first
    #[arg(long, value_name = "ADDRESS")]
    admin: SocketAddr,
    /// A counter of processor time: `cpuacct.usage` or `cpu.stat` of a control group, by a name for it
    #[arg(long, value_parser = counter, value_name = "NAME=FILE")]
    cpu: Vec<Counter>,
    /// Connections
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Shops that buyers come to
    #[arg(long, default_value_t = 24)]
    shops: usize,
    /// Webhook endpoints, each of another shop
    #[arg(long, default_value_t = 12)]
    endpoints: usize,
    /// Payouts in a batch
    #[arg(long, default_value_t = 20)]
    items: usize,
    /// Seconds
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// What decides who asks for what, and in which order
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Debug)]
struct Counter {
    name: String,
    file: PathBuf,
}

fn counter(text: &str) -> Outcome<Counter> {
    let (name, file) = text.split_once('=').ok_or("it is NAME=FILE")?;
    Ok(Counter { name: name.to_owned(), file: file.into() })
}

impl Counter {
    /// Nanoseconds so far.
    fn read(&self) -> Outcome<u64> {
        let fail = |why: String| format!("{}: {why}", self.file.display());
        let text = std::fs::read_to_string(&self.file).map_err(|error| fail(error.to_string()))?;
        nanoseconds(&text).ok_or_else(|| fail("it says no time".to_owned()))
    }
}

/// Of a whole file, or of the line that has it in microseconds.
fn nanoseconds(text: &str) -> Option<u64> {
    match text.lines().find_map(|line| line.strip_prefix("usage_usec ")) {
        Some(us) => us.trim().parse::<u64>().ok()?.checked_mul(1_000),
        None => text.trim().parse().ok(),
    }
}

impl Nodes {
    /// Measures, and prints a line: what is done a second, then the microseconds of each counter for a request.
    pub fn run(self) -> Outcome<()> {
        let counts = [self.connections, self.shops, self.endpoints, self.items];
        if counts.contains(&0) || self.seconds == 0 {
            return Err("there must be at least one of each".to_owned());
        }
        let time = Duration::from_secs(self.seconds);
        cleanup::watch(time * 3 + Duration::from_secs(240));
        let server = Server::running(&self.api, self.admin)?;
        let receiver = Receiver::start()?;
        progress("opening shops");
        let common = Arc::new(Common {
            shops: Shops::open(&server, self.shops, self.endpoints, &receiver.url())?,
            api: server.api,
            seed: self.seed,
            items: self.items,
            numbered: Numbered::new(),
            announced: AtomicU64::new(0),
        });
        let readings = Mutex::new(Vec::new());
        let at_ends = || {
            let read: Outcome<Vec<u64>> = self.cpu.iter().map(Counter::read).collect();
            readings.lock().unwrap_or_else(PoisonError::into_inner).push(read);
        };
        let lanes = Lanes {
            server: &server,
            connections: self.connections,
            threads: THREADS,
            warm_up: WARM_UP,
            time,
            at_ends: &at_ends,
        };
        progress("measuring");
        let (all, _, _) = lanes.run(Seen::none, |each, connection, window, seen| {
            Talk::new(Arc::clone(&common), each, connection, window, seen).run()
        })?;
        let (mut wishes, mut calls) = (0, Seen::none().calls);
        for one in all {
            wishes += one.wishes;
            for (sum, more) in calls.iter_mut().zip(one.calls) {
                sum.add(more).map_err(|error| error.to_string())?;
            }
        }
        // Money first: what was said is what the books have.
        common.shops.check(&server, Holds::Last)?;
        let requests: u64 = calls.iter().map(Histogram::len).sum();
        let of = |call: Call| &calls[call as usize];
        let [payout, balance] = [Call::Payout, Call::Balance].map(of);
        let p99 = |seen: &Histogram<u64>| seen.value_at_quantile(0.99);
        let mut line = format!(
            "requests/s={} wishes/s={} payout_p50_us={} payout_p99_us={} balance_p99_us={}",
            per_second(requests, time),
            per_second(wishes, time),
            payout.value_at_quantile(0.5),
            p99(payout),
            p99(balance),
        );
        let mut readings = readings.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter();
        let (Some(before), Some(after)) = (readings.next(), readings.next()) else {
            return Err("nothing was measured".to_owned());
        };
        for ((counter, before), after) in self.cpu.iter().zip(before?).zip(after?) {
            let spent = after.saturating_sub(before);
            let each = spent / 1_000 / requests.max(1);
            let share = spent / 10_000_000 / self.seconds;
            line += &format!(" {0}_us={each} {0}_percent={share}", counter.name);
        }
        println!("{line}");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::nanoseconds;

    #[test]
    fn a_counter_is_read_in_either_form() {
        assert_eq!(nanoseconds("1385139926219\n"), Some(1_385_139_926_219));
        assert_eq!(nanoseconds("usage_usec 7\nuser_usec 5\n"), Some(7_000));
        assert_eq!(nanoseconds("max 100000\n"), None);
    }
}

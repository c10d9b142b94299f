//! `pasarela check`: tries each rail of live mode that is configured, without moving money: whether it
//! is there, takes our signature and keeps our time.

use super::{Failure, Settings, runtime};
use crate::app::{StartupError, bank_rate, live_rails, privacy};
use crate::rails::checking::{Finding, Verdict};
use crate::rails::evm;
use clap::Args;
use std::time::Duration;

/// Try the configured live rails without moving money
///
/// One line per check: rail, ok or WRONG (or - where nothing can be said), what was checked, and
/// what was seen. Exit 1 if anything is wrong.
///
/// Example: pasarela check --config /etc/pasarela/config.toml
#[derive(Args, Debug)]
pub struct Check {
    #[command(flatten)]
    settings: Settings,
}

impl Check {
    pub fn run(self) -> Result<(), Failure> {
        // Done before anything secret is read.
        privacy::forbid_core_dumps()
            .map_err(|error| Failure::Other(format!("core dumps could not be forbidden: {error}")))?;
        let config = self.settings.read(true)?;
        let rails = live_rails::all(&config.rails).map_err(StartupError::from)?;
        for need in bank_rate::missing(&config) {
            report("rates", &[Finding::unknown("price", need.to_string())])?;
        }
        if rails.is_empty() && config.rails.evm.is_empty() {
            eprintln!("pasarela: no rail of live mode is configured");
            return Ok(());
        }
        let runtime = runtime()?;
        let (mut wrong, missing) = (0, live_rails::omissions(&config.rails));
        for rail in &rails {
            let mut findings = runtime.block_on(rail.check());
            findings.extend(
                missing
                    .iter()
                    .filter(|(of, _)| *of == rail.profile().name)
                    .map(|(_, finding)| finding.clone()),
            );
            wrong += report(rail.profile().name, &findings)?;
        }
        let stuck_after = Duration::from_secs(config.rails.poll_seconds);
        for network in &config.rails.evm {
            let settings = live_rails::evm(network, stuck_after).map_err(StartupError::from)?;
            wrong += report(network.network, &runtime.block_on(evm::tried(&settings)))?;
            for (partition, network) in network.of_further_partitions() {
                let settings = live_rails::evm(&network, stuck_after).map_err(StartupError::from)?;
                let rail = format!("{} of partition {partition}", network.network);
                wrong += report(&rail, &runtime.block_on(evm::tried(&settings)))?;
            }
        }
        match wrong {
            0 => Ok(()),
            1 => Err(Failure::Other("one thing is wrong: live mode will not work so".to_owned())),
            _ => Err(Failure::Other(format!("{wrong} things are wrong: live mode will not work so"))),
        }
    }
}

fn report(rail: &str, findings: &[Finding]) -> Result<usize, Failure> {
    for finding in findings {
        super::print(line(rail, finding).as_bytes())?;
    }
    Ok(findings.iter().filter(|finding| finding.verdict == Verdict::Wrong).count())
}

fn line(rail: &str, finding: &Finding) -> String {
    let verdict = match finding.verdict {
        Verdict::Fine => "ok",
        Verdict::Unknown => "-",
        Verdict::Wrong => "WRONG",
    };
    format!("{rail:<8} {verdict:<5} {what:<10} {text}\n", what = finding.what, text = finding.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_rail_verdict_and_what() {
        assert_eq!(
            line("r4", &Finding::wrong("signature", "not taken")),
            "r4       WRONG signature  not taken\n"
        );
        assert_eq!(
            line("wompi", &Finding::fine("clock", "the same")),
            "wompi    ok    clock      the same\n"
        );
    }
}

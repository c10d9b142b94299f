//! `pasarela wal at`: a tenant's balances, holds and open objects after a record.

use super::records::keys_of;
use super::{LogSettings, Looked, end, look, open, print};
use crate::cli::progress::shown;
use crate::recovery::moment::{self, ModeState, Moment, When};
use api::writer::Object;
use api::{balance, crypto};
use clap::Args;
use domain::ledger::balance as sums;
use domain::resources::crypto as usdt;
use domain::values::ids::Mode;
use std::io;

/// Show a tenant's balances, holds and open objects as they were, in both modes
///
/// The state after a record, at its instant on the tenant's clock: what GET /v1/balance,
/// /v1/cop/balance and /v1/crypto/balance would have answered, each hold, and what was open, as its
/// endpoint shows it; nothing that was over. A time means the last record that was written at it or
/// before it, on the server's clock. The log is only read, also beside a running server.
///
/// Example: pasarela wal at 1000 --tenant 01930a4b-5c6d-7e8f-9012-3456789a0000
#[derive(Args, Debug)]
pub struct At {
    #[command(flatten)]
    settings: LogSettings,
    /// The state after this record, or at this time: 2026-11-21T12:00:00Z
    #[arg(value_name = "SEQ|TIME", value_parser = When::parse)]
    when: When,
    /// The tenant's id
    #[arg(long, value_name = "TENANT_ID")]
    tenant: String,
    /// One JSON object per mode
    #[arg(long)]
    json: bool,
}

impl At {
    pub fn run(self) -> Looked {
        look(|| {
            let (_, reader) = open(&self.settings)?;
            let keys = keys_of(&reader, &self.tenant)?;
            let moment = shown(|tell| {
                let seq = self.when.seq(&reader, tell)?;
                moment::tenant(&reader, keys, seq, tell)
            })?;
            let mut out = io::BufWriter::new(io::stdout().lock());
            for mode in &moment.modes {
                let lines = match self.json {
                    true => json(&self.tenant, &moment, mode),
                    false => words(&moment, mode),
                };
                if !print(&mut out, &lines)? {
                    break;
                }
            }
            end(out)?;
            Ok(None)
        })
    }
}

/// The three balances, as their endpoints show them.
fn balances(ModeState { book, mode, .. }: &ModeState) -> [(&'static str, Vec<u8>); 3] {
    let livemode = *mode == Mode::Live;
    [
        ("balance", balance::show(&sums::balance(book), livemode)),
        ("copBalance", balance::show_cop(&sums::cop_balance(book), livemode)),
        ("cryptoBalance", crypto::show_balance(&usdt::balance(book), livemode)),
    ]
}

fn json(tenant: &str, moment: &Moment, mode: &ModeState) -> String {
    let line = Object::with_capacity(2_048)
        .number("seq", moment.seq)
        .plain("time", moment.time)
        .text("tenantId", tenant.to_ascii_lowercase())
        .plain("mode", mode.mode.name())
        .plain("at", mode.now);
    let line = balances(mode).into_iter().fold(line, |line, (name, shown)| line.json(name, shown));
    let line = line.list("holds", moment::holds(&mode.book)).list("open", &mode.open).end();
    String::from_utf8_lossy(&line).into_owned()
}

fn words(moment: &Moment, mode: &ModeState) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut lines = vec![format!(
        "{} mode after record {} of {}, at {} on the tenant's clock",
        mode.mode.name(),
        moment.seq,
        moment.time,
        mode.now
    )];
    for (_, shown) in balances(mode) {
        let members: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(&shown).unwrap_or_default();
        let members = members.iter().filter(|(name, _)| *name != "livemode");
        lines.extend(members.map(|(name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("  {name:<22}  {value}")
        }));
    }
    for (what, items) in [("holds", moment::holds(&mode.book).collect()), ("open", mode.open.clone())] {
        lines.push(format!("  {what}: {}", items.len()));
        lines.extend(items.iter().map(|item| format!("    {}", text(item))));
    }
    lines.join("\n")
}

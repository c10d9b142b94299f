//! `pasarela wal shadow`: this program and another over the same log.

use super::{LogSettings, Looked, end, look, open, print};
use crate::cli::progress::shown;
use crate::recovery::shadow::{Compared, Difference, Other, shadow};
use clap::Args;
use serde_json::json;
use std::io;
use std::path::PathBuf;

/// The differences at the first sequence that are printed; all are counted.
const PRINTED_MAX: usize = 100;

/// Replay the log under this program and another, and name the first record after which they differ
///
/// For the hour before an upgrade. Both derive every book and object from the same directory, record
/// by record, with the index entries and the answers that follow from them; the other program is run
/// as OTHER wal states. Exit 0 if they agree; 1 if something differs, with its sequence, tenant, kind
/// and id, of index entries and answers with the entries and members; both with a summary by kind.
///
/// Example: pasarela wal shadow --with /opt/pasarela-next/pasarela
#[derive(Args, Debug)]
pub struct Shadow {
    #[command(flatten)]
    settings: LogSettings,
    /// The other program
    #[arg(long, value_name = "OTHER_BINARY")]
    with: PathBuf,
    /// From this record on
    #[arg(long, value_name = "SEQ", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    from: u64,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

impl Shadow {
    pub fn run(self) -> Looked {
        look(|| {
            let (config, reader) = open(&self.settings)?;
            let mut arguments = vec!["--data-dir".into(), config.storage.path.into()];
            if let Some(file) = &self.settings.node.config {
                arguments.extend(["--config".into(), file.into()]);
            }
            let other = Other { program: self.with.clone(), arguments };
            let compared = shown(|tell| shadow(&reader, &other, self.from, tell))?;
            let mut out = io::BufWriter::new(io::stdout().lock());
            for of in [&compared.first, &compared.derived] {
                for difference in of.iter().take(PRINTED_MAX) {
                    print(&mut out, &self.line(difference))?;
                }
            }
            print(&mut out, &self.summary(&compared))?;
            end(out)?;
            let first = compared.first.first().or(compared.derived.first());
            Ok(first.map(|first| format!("the first difference is after record {}", first.seq)))
        })
    }

    fn line(&self, Difference { seq, of, ours, theirs, parts }: &Difference) -> String {
        if self.json {
            let mut line = json!({
                "seq": seq, "tenantId": of.tenant_id, "mode": of.mode, "kind": of.kind, "id": of.id,
                "digest": ours, "otherDigest": theirs,
            });
            if of.is_derived() {
                line["parts"] = json!(parts);
            }
            return line.to_string();
        }
        let tenant = of.tenant_id.as_deref().unwrap_or("platform");
        let mode = of.mode.as_deref().unwrap_or_default();
        let how = match (ours, theirs) {
            (Some(_), Some(_)) => "another state",
            (Some(_), None) => "unchanged in the other program",
            (None, _) => "changed in the other program alone",
        };
        let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
        format!("{seq:>10}  {tenant} {mode:<4}  {} {}  {how}{parts}", of.kind, of.id)
    }

    fn summary(&self, Compared { kinds, says_derived, .. }: &Compared) -> String {
        if self.json {
            let kinds: serde_json::Map<String, serde_json::Value> = kinds
                .iter()
                .map(|(kind, (seen, different))| {
                    (kind.clone(), json!({ "compared": seen, "different": different }))
                })
                .collect();
            return json!({ "type": "summary", "saysDerived": says_derived, "kinds": kinds }).to_string();
        }
        let kinds =
            kinds.iter().map(|(kind, (seen, different))| format!("{kind} {seen} ({different} differ)"));
        let without = match says_derived {
            true => "",
            false => "; not compared, as the other program does not say them: index, answers",
        };
        format!("compared: {}{without}", kinds.collect::<Vec<_>>().join(", "))
    }
}

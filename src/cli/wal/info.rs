//! `pasarela wal info`: how long the log is, and what is in snapshots.

use super::super::{Failure, Settings};
use api::writer::Object;
use clap::Args;

/// First and last sequence, records, bytes, snapshots, format version
///
/// Example: pasarela wal info --data-dir /srv/pasarela/data --json
#[derive(Args, Debug)]
pub struct Info {
    #[command(flatten)]
    settings: Settings,
    /// One JSON object instead of lines
    #[arg(long)]
    json: bool,
}

impl Info {
    /// Bytes and snapshots are counted by reading, so it takes as long as the log is.
    pub fn run(self) -> Result<(), Failure> {
        let (_, reader) = super::open(&self.settings)?;
        let (mut records, mut bytes) = (0_u64, 0_u64);
        for record in reader.records(1, None) {
            let record = record.map_err(|error| Failure::Other(error.to_string()))?;
            records += 1;
            bytes += record.bytes as u64;
        }
        let (mut snapshots, mut tenants) = (0_u64, 0_u64);
        for newest in reader.latest_snapshots() {
            let newest = newest.map_err(|error| Failure::Other(error.to_string()))?;
            tenants += 1;
            snapshots += reader.snapshots_of(newest.tenant).count() as u64;
        }
        let head: String = hex::encode(reader.head_hash());
        if self.json {
            let body = Object::new()
                .number("firstSeq", reader.first_seq())
                .number("lastSeq", reader.last_seq())
                .number("records", records)
                .number("bytes", bytes)
                .number("snapshots", snapshots)
                .number("snapshotTenants", tenants)
                .number("snapshotSeq", reader.floor())
                .number("formatVersion", wal::RECORD_VERSION)
                .plain("headHash", head);
            println!("{}", String::from_utf8_lossy(&body.end()));
            return Ok(());
        }
        println!("first sequence  {}", reader.first_seq());
        println!("last sequence   {}", reader.last_seq());
        println!("records         {records}");
        println!("bytes           {bytes}");
        println!(
            "snapshots       {snapshots}, the older ones included, for {tenants} books; a start replays from \
             sequence {}",
            reader.floor() + 1
        );
        println!("format version  {}", wal::RECORD_VERSION);
        println!("head hash       {head}");
        Ok(())
    }
}

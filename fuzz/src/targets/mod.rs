//! The targets, a file each: a reader of bytes that others wrote, and the properties that hold of
//! every input. The readers themselves do not belong here, nor do the inputs (`corpus/`).

mod archive;
mod banks;
mod bodies;
mod call;
mod config;
mod cursors;
mod forwarded;
mod heads;
mod json;
mod prices;
mod queries;
mod rails;
mod records;
mod snapshots;
mod statements;
mod stored;
mod values;
mod written;

use crate::Target;

/// The fuzz targets.
pub const TARGETS: &[Target] = &[
    Target { name: "archive", run: archive::run, cases: 20, bytes_max: 1 << 16 },
    Target { name: "banks", run: banks::run, cases: 20_000, bytes_max: 1 << 12 },
    Target { name: "bodies", run: bodies::run, cases: 10_000, bytes_max: 1 << 12 },
    Target { name: "config", run: config::run, cases: 2_000, bytes_max: 1 << 14 },
    Target { name: "cursors", run: cursors::run, cases: 20_000, bytes_max: 1 << 10 },
    Target { name: "forwarded", run: forwarded::run, cases: 20_000, bytes_max: 1 << 10 },
    Target { name: "heads", run: heads::run, cases: 20_000, bytes_max: 1 << 12 },
    Target { name: "json", run: json::run, cases: 20_000, bytes_max: 1 << 12 },
    Target { name: "prices", run: prices::run, cases: 20_000, bytes_max: 1 << 12 },
    Target { name: "queries", run: queries::run, cases: 20_000, bytes_max: 1 << 12 },
    Target { name: "rails", run: rails::run, cases: 20_000, bytes_max: 1 << 12 },
    Target { name: "records", run: records::run, cases: 20_000, bytes_max: 1 << 14 },
    Target { name: "snapshots", run: snapshots::run, cases: 5_000, bytes_max: 1 << 14 },
    Target { name: "statements", run: statements::run, cases: 10_000, bytes_max: 1 << 12 },
    Target { name: "stored", run: stored::run, cases: 20_000, bytes_max: 1 << 14 },
    Target { name: "values", run: values::run, cases: 20_000, bytes_max: 1 << 9 },
    Target { name: "written", run: written::run, cases: 20_000, bytes_max: 1 << 12 },
];

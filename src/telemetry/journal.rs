//! Log lines on stderr. Where that is systemd's journal, each begins with its priority as
//! sd-daemon(3) has it, which the journal takes off again.

use std::io::{self, Stderr, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;
use tracing::{Level, Metadata};
use tracing_subscriber::fmt::MakeWriter;

/// By this variable systemd names the stream that it has given to a service: device and inode.
const STREAM: &str = "JOURNAL_STREAM";

static PARTITION: OnceLock<u8> = OnceLock::new();

/// The lines from now on are of a process that serves one of several partitions.
pub(super) fn of_partition(partition: Option<u8>) {
    if let Some(partition) = partition {
        let _ = PARTITION.set(partition);
    }
}

pub(super) struct Lines {
    is_journal: bool,
}

impl Lines {
    pub fn to_stderr() -> Lines {
        let named = std::env::var(STREAM).unwrap_or_default();
        Lines { is_journal: id_of_stderr().is_ok_and(|id| id == named) }
    }

    pub fn mark(&self, level: Level) -> &'static str {
        match level {
            _ if !self.is_journal => "",
            Level::ERROR => "<3>",
            Level::WARN => "<4>",
            Level::INFO => "<6>",
            _ => "<7>",
        }
    }
}

/// A process that a service starts has the variable too, and may have another stderr.
fn id_of_stderr() -> io::Result<String> {
    let stderr = std::fs::File::from(io::stderr().as_fd().try_clone_to_owned()?).metadata()?;
    Ok(format!("{}:{}", stderr.dev(), stderr.ino()))
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line { mark: self.mark(Level::INFO), to: io::stderr() }
    }

    fn make_writer_for(&'a self, about: &Metadata<'_>) -> Line {
        Line { mark: self.mark(*about.level()), to: io::stderr() }
    }
}

pub(super) struct Line {
    mark: &'static str,
    to: Stderr,
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let partition = PARTITION.get();
        if self.mark.is_empty() && partition.is_none() {
            return self.to.write(bytes);
        }
        // In one piece, so that another thread's or process's line does not come between.
        let named = partition.map(|partition| named(*partition, bytes));
        self.to.write_all(&marked(self.mark, named.as_deref().unwrap_or(bytes)))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// The lines, each with the mark before it: the journal makes an entry of every line.
fn marked(mark: &str, lines: &[u8]) -> Vec<u8> {
    lines.split_inclusive(|byte| *byte == b'\n').flat_map(|line| [mark.as_bytes(), line].concat()).collect()
}

/// A line, with the partition as a member or before the text.
fn named(partition: u8, line: &[u8]) -> Vec<u8> {
    match line.strip_prefix(b"{") {
        Some(rest) => [format!("{{\"partition\":{partition},").as_bytes(), rest].concat(),
        None => [format!("partition {partition}: ").as_bytes(), line].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_partition() {
        assert_eq!(named(2, b"{\"level\":\"INFO\"}\n"), b"{\"partition\":2,\"level\":\"INFO\"}\n");
        assert_eq!(named(2, b"INFO ready\n"), b"partition 2: INFO ready\n");
    }

    #[test]
    fn each_line_for_the_journal_has_the_priority_of_its_level() {
        let journal = Lines { is_journal: true };
        let of = |level| String::from_utf8(marked(journal.mark(level), b"one\ntwo\n")).expect("text");
        assert_eq!(of(Level::ERROR), "<3>one\n<3>two\n");
        assert_eq!(of(Level::WARN), "<4>one\n<4>two\n");
        assert_eq!(of(Level::INFO), "<6>one\n<6>two\n");
        assert_eq!(of(Level::DEBUG), "<7>one\n<7>two\n");
        assert_eq!(of(Level::TRACE), "<7>one\n<7>two\n");
        assert_eq!(Lines { is_journal: false }.mark(Level::ERROR), "");
    }
}

//! The baseline in process: group commit to a plain file. Many callers, one writer thread that
//! takes what waits, writes it in one go, syncs once, tells everybody. No keys, no index, no
//! checksums, no decisions: what is left when everything is taken away but the promise that a
//! record is on the disk.

use crate::Outcome;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// Bytes of one write at most.
const WRITE_BYTES_MAX: usize = 8 << 20;

struct Waiting {
    record: Vec<u8>,
    durable: oneshot::Sender<()>,
}

/// A file and its writer thread.
pub struct PlainFile {
    give: Option<Sender<Waiting>>,
    writer: Option<JoinHandle<()>>,
    record_bytes: usize,
}

impl PlainFile {
    /// A new file for records of this size.
    pub fn create(path: &Path, record_bytes: usize) -> Outcome<PlainFile> {
        let file = File::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let (give, take) = channel();
        let writer = std::thread::spawn(move || write(file, &take));
        Ok(PlainFile { give: Some(give), writer: Some(writer), record_bytes })
    }

    /// Writes one record; returns when it is on the disk.
    pub async fn append(&self, caller: usize) -> Outcome<()> {
        let (durable, reported) = oneshot::channel();
        let record = vec![caller.to_le_bytes()[0]; self.record_bytes];
        let sent = self.give.as_ref().map(|give| give.send(Waiting { record, durable }));
        if !matches!(sent, Some(Ok(()))) {
            return Err("the writer of the plain file is gone".to_owned());
        }
        reported.await.map_err(|_| "the plain file could not be written".to_owned())
    }
}

impl Drop for PlainFile {
    fn drop(&mut self) {
        self.give = None;
        if let Some(writer) = self.writer.take() {
            // A panic in the thread was told to every caller that waited.
            let _ = writer.join();
        }
    }
}

fn write(mut file: File, take: &Receiver<Waiting>) {
    let (mut bytes, mut waiting) = (Vec::with_capacity(WRITE_BYTES_MAX), Vec::new());
    while let Ok(first) = take.recv() {
        let mut next = Some(first);
        while let Some(Waiting { record, durable }) = next {
            bytes.extend_from_slice(&record);
            waiting.push(durable);
            next = if bytes.len() + record.len() <= WRITE_BYTES_MAX { take.try_recv().ok() } else { None };
        }
        if let Err(error) = file.write_all(&bytes).and_then(|()| file.sync_data()) {
            eprintln!("pasarela-bench: the plain file: {error}");
            return;
        }
        bytes.clear();
        for durable in waiting.drain(..) {
            // A caller that does not wait any more does not need to know.
            let _ = durable.send(());
        }
    }
}

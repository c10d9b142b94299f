//! The one thread that writes: it puts each sample with its hour and its day, and each pin, into
//! one batch, and syncs it.

use super::{
    Item, Job, LINE, NEXT_KEY, RateStoreError, Shelf, accepted_key, begin, decoded, key_at, letter, pin_key,
    sample_key,
};
use crate::rates::store::Line;
use domain::codec;
use domain::resources::rates::buckets::{Bucket, Placed, Step, ticks};
use domain::resources::rates::samples::{Quotation, Series};
use domain::values::ids::Mode;
use rocksdb::{WriteBatch, WriteOptions};
use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, PoisonError};

const BATCH_MAX: usize = 4_096;

pub(super) struct Writer {
    shelf: Arc<Shelf>,
    next: u64,
}

impl Writer {
    pub fn new(shelf: Arc<Shelf>) -> Result<Writer, RateStoreError> {
        let next = shelf.db.get(NEXT_KEY)?.unwrap_or_else(|| vec![0; 8]);
        let next = next.try_into().map(u64::from_be_bytes);
        let next = next.map_err(|_| RateStoreError::Damaged("the number of samples".to_owned()))?;
        Ok(Writer { shelf, next })
    }

    pub fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let mut taken = vec![first];
            taken.extend(jobs.try_iter().take(BATCH_MAX - 1));
            let outcome = self.write(&taken);
            let counter = if outcome.is_ok() { &self.shelf.written } else { &self.shelf.lost };
            let samples = taken.iter().filter(|job| job.item.sample().is_some()).count();
            counter.fetch_add(samples as u64, std::sync::atomic::Ordering::Relaxed);
            if let Err(why) = &outcome {
                tracing::error!(%why, samples, "rates could not be written");
            }
            for done in taken.into_iter().filter_map(|job| job.done) {
                let _ = done.send(outcome.clone());
            }
        }
    }

    /// Writes all jobs or changes nothing here; after a failed write RocksDB takes no other until
    /// it is opened again.
    fn write(&mut self, jobs: &[Job]) -> Result<(), RateStoreError> {
        let mut batch = WriteBatch::default();
        let mut next = self.next;
        let mut lines = self.shelf.lines.read().unwrap_or_else(PoisonError::into_inner).clone();
        let known = lines.len();
        let mut buckets: BTreeMap<Vec<u8>, Bucket> = BTreeMap::new();
        let mut accepted: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        for Job { item, .. } in jobs {
            match item {
                Item::Sample(_) => {}
                Item::Pin(pin) => batch.put(pin_key(&pin.place()), codec::encode(&**pin)),
                Item::Unpin(place) => batch.delete(pin_key(place)),
            }
            let Some(sample) = item.sample() else { continue };
            let line = line_of(&mut lines, &sample.series);
            let placed = Placed { at: sample.as_of, number: next, ticks: ticks(sample.price) };
            next += 1;
            let stored = Quotation {
                price: sample.price,
                fetched_at: sample.fetched_at,
                payment_method: sample.series.payment_method.clone(),
                suspect: sample.suspect,
            };
            let key = sample_key(line, sample.as_of, placed.number);
            batch.put(&key, codec::encode(&stored));
            // A pin comes to a board by itself.
            if matches!(item, Item::Sample(_)) && sample.prices(Mode::Live) {
                let place = accepted_key(line, sample.value_date);
                let before = match accepted.get(&place) {
                    Some(before) => Some(before.clone()),
                    None => self.shelf.db.get(&place)?,
                };
                // Within a value date the last fetch counts, else the source's time.
                if sample.value_date.is_some() || before.is_none_or(|before| before < key) {
                    accepted.insert(place, key);
                }
            }
            for step in Step::ALL {
                let key = key_at(letter(step), line, step.start_of(sample.as_of));
                let mut bucket = Bucket::of(placed);
                if let Some(before) = buckets.get(&key) {
                    bucket = before.joined(bucket);
                } else if let Some(stored) = self.shelf.db.get_pinned(&key)? {
                    bucket = decoded::<Bucket>(&stored, "a bucket")?.joined(bucket);
                }
                buckets.insert(key, bucket);
            }
        }
        for line in &lines[known..] {
            batch.put(begin(LINE, line.number), codec::encode(&*line.series));
        }
        for (key, bucket) in &buckets {
            batch.put(key, codec::encode(bucket));
        }
        for (place, key) in &accepted {
            batch.put(place, key);
        }
        batch.put(NEXT_KEY, next.to_be_bytes());
        let mut synced = WriteOptions::default();
        synced.set_sync(true);
        self.shelf.db.write_opt(batch, &synced)?;
        self.next = next;
        if lines.len() > known {
            *self.shelf.lines.write().unwrap_or_else(PoisonError::into_inner) = lines;
        }
        Ok(())
    }
}

fn line_of(lines: &mut Vec<Arc<Line>>, of: &Series) -> u32 {
    let same = |line: &Series| {
        line.pair == of.pair && line.source == of.source && line.side == of.side && line.method == of.method
    };
    if let Some(line) = lines.iter().find(|line| same(&line.series)) {
        return line.number;
    }
    let number = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    lines.push(Arc::new(Line { number, series: Arc::new(of.line()) }));
    number
}

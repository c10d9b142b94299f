//! Journals of the simulated bank's books: an input is a journal's number, a place, a journal as it
//! may lie on a disk, then bodies of records that are put together with right checksums.
//!
//! What is read is written again as the very same bytes; what was written is read as it was, up to
//! where it is cut; a changed bit is refused before a place that was synced, and loses nothing
//! before itself elsewhere.

use crate::bytes::Bytes;
use pasarela::rails::simulator::books::journal::{HEADER_BYTES, Record, header, read};

pub fn run(input: &[u8]) {
    let mut bytes = Bytes::new(input);
    let number = u64::from(bytes.byte());
    let place = usize::from(u16::from_le_bytes(bytes.array()));
    let stored = bytes.sized();
    read_again(stored, number);
    // The input is also read as the content behind a right header.
    read_again(&[&header(number)[..], stored].concat(), number);

    let mut records = Vec::new();
    let mut ends = vec![HEADER_BYTES];
    let mut written = header(number).to_vec();
    while !bytes.is_empty() {
        let Some(record) = record(&mut bytes, written.len()) else { continue };
        let at = written.len() as u64;
        record.write_into(&mut written, number, at);
        records.push(record);
        ends.push(written.len());
    }
    assert_eq!(taken(&written, number).as_deref(), Some(&records[..]), "what was written");
    let length = HEADER_BYTES + place % (written.len() - HEADER_BYTES + 1);
    let whole = ends.iter().filter(|end| **end <= length).count() - 1;
    assert_eq!(taken(&written[..length], number).as_deref(), Some(&records[..whole]), "cut at {length}");
    let bit = place % (8 * written.len());
    written[bit / 8] ^= 1 << (bit % 8);
    let before = ends.iter().filter(|end| **end <= bit / 8).count();
    let synced_behind = ends.iter().zip(&records).any(|(at, record)| {
        *at > bit / 8 && matches!(record, Record::Synced(place) if *place > ends[before.max(1) - 1] as u64)
    });
    match taken(&written, number) {
        None => assert!(before == 0 || synced_behind, "bit {bit} is refused"),
        Some(taken) => {
            assert!(before > 0 && !synced_behind, "bit {bit} is not noticed");
            assert_eq!(taken, records[..before - 1], "before bit {bit}");
        }
    }
}

/// The next record: a body as it is, or, for a first byte of 3, a sync of what is there by now.
fn record(bytes: &mut Bytes<'_>, length: usize) -> Option<Record> {
    let kind = bytes.byte();
    match kind % 4 {
        3 => Some(Record::Synced(length as u64)),
        2 => Record::from_body(&[&[2][..], &bytes.array::<8>()].concat()),
        _ => Record::from_body(&[&[1][..], &bytes.array::<16>(), &[bytes.byte() % 9, kind >> 4]].concat()),
    }
}

fn taken(bytes: &[u8], number: u64) -> Option<Vec<Record>> {
    let mut records = Vec::new();
    read(bytes, number, |record| records.push(record)).ok().map(|_| records)
}

fn read_again(bytes: &[u8], number: u64) {
    let mut records = Vec::new();
    let Ok(end) = read(bytes, number, |record| records.push(record)) else { return };
    let mut again = header(number).to_vec();
    for record in &records {
        let at = again.len() as u64;
        record.write_into(&mut again, number, at);
    }
    assert_eq!(again, bytes[..end.at], "a journal is written in two ways");
}

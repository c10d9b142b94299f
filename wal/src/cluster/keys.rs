//! The keys of a partition, and the small values under them, drawn in `mod.rs`.

use crate::Seq;
use crate::record::{Hash, Tip};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    prefix: String,
}

impl Keys {
    pub fn new(partition: &str) -> Keys {
        Keys { prefix: format!("/pasarela/{partition}/") }
    }

    pub(crate) fn founded(&self) -> Vec<u8> {
        self.of("founded")
    }

    pub(crate) fn partitions(&self) -> Vec<u8> {
        self.of("partitions")
    }

    pub(crate) fn etcd(&self) -> Vec<u8> {
        self.of("etcd")
    }

    pub(crate) fn etcd_of(&self, partition: u8) -> Vec<u8> {
        self.of(&format!("etcd-of/{partition}"))
    }

    pub(crate) fn epoch(&self) -> Vec<u8> {
        self.of("epoch")
    }

    pub(crate) fn tip(&self) -> Vec<u8> {
        self.of("tip")
    }

    pub(crate) fn beat(&self) -> Vec<u8> {
        self.of("beat")
    }

    pub fn node(&self, name: &str) -> Vec<u8> {
        self.of(&format!("nodes/{name}"))
    }

    pub fn nodes(&self) -> (Vec<u8>, Vec<u8>) {
        (self.of("nodes/"), self.of("nodes0"))
    }

    pub(crate) fn batch(&self, first: Seq, bytes: u64) -> Vec<u8> {
        self.of(&format!("log/{first:020}-{bytes:020}"))
    }

    pub(crate) fn batches_from(&self, first: Seq) -> Vec<u8> {
        self.of(&format!("log/{first:020}"))
    }

    pub(crate) fn batches_end(&self) -> Vec<u8> {
        self.of("log0")
    }

    pub(crate) fn parse_batch(&self, key: &[u8]) -> Option<(Seq, u64)> {
        let text = std::str::from_utf8(key).ok()?.strip_prefix(&self.prefix)?.strip_prefix("log/")?;
        let (first, bytes) = text.split_once('-')?;
        Some((first.parse().ok()?, bytes.parse().ok()?))
    }

    pub(crate) fn piece(&self, first: Seq, bytes: u64, epoch: u64, piece: u32) -> Vec<u8> {
        self.of(&format!("pieces/{first:020}-{bytes:020}/{epoch:020}-{piece:06}"))
    }

    pub(crate) fn pieces_from(&self, first: Seq) -> Vec<u8> {
        self.of(&format!("pieces/{first:020}"))
    }

    pub fn all(&self) -> (Vec<u8>, Vec<u8>) {
        let mut end = self.prefix.clone().into_bytes();
        end.pop();
        end.push(b'0'); // follows the slash
        (self.prefix.clone().into_bytes(), end)
    }

    fn of(&self, rest: &str) -> Vec<u8> {
        format!("{}{rest}", self.prefix).into_bytes()
    }
}

/// Under which the keys of one of a cluster's partitions are. No cluster can be called so, and the first partition has
/// the keys of a cluster that has no other.
pub fn partition_name(cluster: &str, partition: u8) -> String {
    match partition {
        0 => cluster.to_owned(),
        more => format!("{cluster}~{more}"),
    }
}

/// That of the cluster which has a partition of this name.
pub fn cluster_name(partition: &str) -> &str {
    partition.split_once('~').map_or(partition, |(cluster, _)| cluster)
}

pub fn is_node_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=63).contains(&name.len()) && name.chars().all(fits)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Epoch {
    pub number: u64,
    pub node: String,
    /// Random for each taking, so that two never have the same value; `-` for a node that was
    /// appointed and has not taken it yet.
    pub token: String,
}

impl Epoch {
    pub(crate) const APPOINTED: &str = "-";
    /// Appointed where the leader has let the log go; no node has this name.
    pub const ANYBODY: &str = "*";

    pub(crate) fn value(&self) -> Vec<u8> {
        format!("{} {} {}", self.number, self.node, self.token).into_bytes()
    }

    pub(crate) fn parse(value: &[u8]) -> Option<Epoch> {
        let mut words = std::str::from_utf8(value).ok()?.split(' ');
        let epoch = Epoch {
            number: words.next()?.parse().ok()?,
            node: words.next()?.to_owned(),
            token: words.next()?.to_owned(),
        };
        words.next().is_none().then_some(epoch)
    }

    pub fn appoints(&self, node: &str) -> bool {
        self.is_untaken() && (self.node == node || self.node == Epoch::ANYBODY)
    }

    /// Nobody appends: a node was appointed, and has not taken the log yet.
    pub fn is_untaken(&self) -> bool {
        self.token == Epoch::APPOINTED
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgreedTip {
    pub tip: Tip,
    /// The bytes of all batches up to there, deleted ones too.
    pub bytes: u64,
}

impl AgreedTip {
    pub(crate) fn value(&self) -> Vec<u8> {
        format!("{} {} {}", self.tip.seq, hex::encode(self.tip.hash), self.bytes).into_bytes()
    }

    pub(crate) fn parse(value: &[u8]) -> Option<AgreedTip> {
        let mut words = std::str::from_utf8(value).ok()?.split(' ');
        let seq = words.next()?.parse().ok()?;
        let hash: Hash = hex::decode(words.next()?).ok()?.try_into().ok()?;
        let bytes = words.next()?.parse().ok()?;
        words.next().is_none().then_some(AgreedTip { tip: Tip { seq, hash }, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_come_back_and_nothing_else_passes_for_one() {
        let epoch = Epoch { number: 7, node: "node-a".into(), token: "x1".into() };
        assert_eq!(Epoch::parse(&epoch.value()), Some(epoch));
        let tip = AgreedTip { tip: Tip { seq: 42, hash: [0xAB; 16] }, bytes: 99 };
        assert_eq!(tip.value(), format!("42 {} 99", "ab".repeat(16)).into_bytes());
        assert_eq!(AgreedTip::parse(&tip.value()), Some(tip));
        for wrong in ["", "7", "7 a", "x a b", "7 a b c"] {
            assert_eq!(Epoch::parse(wrong.as_bytes()), None, "{wrong}");
        }
        for wrong in ["", "1 ab 2", "1 zzabababababababababababababababab 2"] {
            assert_eq!(AgreedTip::parse(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn keys_of_batches_sort_by_sequence_and_say_what_is_before_them() {
        let keys = Keys::new("main");
        let (a, b) = (keys.batch(9, 1_000), keys.batch(10, 900));
        assert!(a < b && keys.batches_from(9) < a && b < keys.batches_end());
        assert_eq!(keys.parse_batch(&a), Some((9, 1_000)));
        assert_eq!(keys.parse_batch(&Keys::new("other").batch(9, 1)), None);
        let (from, to) = keys.all();
        assert!(from < keys.beat() && keys.tip() < to && keys.piece(1, 2, 3, 4) < to);
        assert!(Keys::new("main2").tip() > to || Keys::new("main2").tip() < from);
    }

    #[test]
    fn the_keys_of_partitions_are_apart() {
        let of = |partition| Keys::new(&partition_name("main", partition));
        assert_eq!(of(0), Keys::new("main"));
        assert_eq!(
            [0, 10]
                .map(|partition| partition_name("main", partition))
                .each_ref()
                .map(|name| cluster_name(name)),
            ["main"; 2]
        );
        assert!(!is_node_name(&partition_name("main", 1)), "a cluster could be called so");
        for other in [of(1), of(10), Keys::new("main1")] {
            let (from, to) = of(0).all();
            assert!(other.tip() < from || other.tip() >= to);
            let (from, to) = other.all();
            assert!(of(0).tip() < from || of(0).tip() >= to);
        }
        let (from, to) = of(1).all();
        assert!(of(10).tip() < from || of(10).tip() >= to);
    }

    #[test]
    fn names_have_no_slash_and_no_space() {
        assert!(is_node_name("node-a.example_1"));
        for wrong in ["", "a/b", "a b", Epoch::ANYBODY, "é", &"a".repeat(64)] {
            assert!(!is_node_name(wrong), "{wrong}");
        }
    }
}

//! What the book of another partition takes over from the first partition's, where tenants, keys, operators, banks and
//! rates are decided: its own tenants with their keys, and what is everybody's.

use crate::platform::beside::Beside;
use crate::platform::{Followed, PlatformBook, PlatformChange, Tenant};
use std::sync::Arc;

impl Followed {
    /// All that a partition which has followed nothing yet needs of the first one's `book`, which has no rates.
    pub fn all(book: &PlatformBook, partition: u8, seq: u64) -> Followed {
        let own = |tenant: &&Arc<Tenant>| tenant.partition == partition;
        let tenants: Vec<_> = book.tenants.values().filter(own).cloned().collect();
        let asked = |tenant: &Arc<Tenant>| Some((tenant.number, *book.live_asked.get(&tenant.number)?));
        Followed {
            seq,
            keys: tenants.iter().flat_map(|tenant| book.keys.of(tenant.number)).cloned().collect(),
            operators: book.operators.values().cloned().collect(),
            banks: Some(book.banks.clone()),
            live_asked: tenants.iter().filter_map(asked).collect(),
            besides: Vec::new(),
            tenants,
        }
    }

    /// Adds what a partition follows of the record `seq`. `book` is the first partition's, after that record or a later
    /// one: a state that is later than its record is followed once more with its own.
    pub fn add(&mut self, seq: u64, change: &PlatformChange, book: &PlatformBook, own: u8) {
        let is_own = |number: u32| book.tenants.get(&number).is_some_and(|tenant| tenant.partition == own);
        match change {
            PlatformChange::Tenant(tenant) if tenant.partition == own => {
                self.tenants.push(Arc::clone(tenant))
            }
            PlatformChange::Key(key) if is_own(key.tenant) => self.keys.push(Arc::clone(key)),
            PlatformChange::Opened { tenant, keys } if tenant.partition == own => {
                self.tenants.push(Arc::clone(tenant));
                self.keys.extend(keys.iter().cloned());
            }
            // Where it was it is known to be elsewhere, so that nothing of it is served there.
            PlatformChange::Moved { tenant, from } if tenant.partition == own || *from == own => {
                self.tenants.push(Arc::clone(tenant));
                if is_own(tenant.number) {
                    self.keys.extend(book.keys.of(tenant.number).cloned());
                    let asked = book.live_asked.get(&tenant.number);
                    self.live_asked.extend(asked.map(|at| (tenant.number, *at)));
                }
            }
            PlatformChange::Operator(operator) => self.operators.push(Arc::clone(operator)),
            PlatformChange::Bank(..) | PlatformChange::Banks(_) => self.banks = Some(book.banks.clone()),
            // One that was answered by now is left out: its answer may be in the same message, and is taken over first.
            PlatformChange::LiveAsked(number) if is_own(*number) => {
                self.live_asked.extend(book.live_asked.get(number).map(|at| (*number, *at)));
            }
            // The decisions of the simulated bank are about orders, which are in their own partition.
            PlatformChange::Beside(entries) => {
                let rates = entries.iter().filter(|entry| !matches!(entry, Beside::Fate { .. }));
                self.besides.extend(rates.cloned());
            }
            _ => return,
        }
        self.seq = seq;
    }

    pub fn is_empty(&self) -> bool {
        *self == Followed { seq: self.seq, ..Followed::default() }
    }
}

impl PlatformBook {
    /// What is to be written of `followed`, which goes on from `after`; `None` if that is not where this book is: it was
    /// followed already, or something between is missing. Which settings both books of a tenant have is this
    /// partition's to know.
    pub fn following(&self, after: u64, mut followed: Followed) -> Option<Followed> {
        if after != self.followed || followed.seq <= after {
            return None;
        }
        for tenant in &mut followed.tenants {
            let pushed = self.tenants.get(&tenant.number).map_or(0, |known| known.pushed);
            if tenant.pushed != pushed {
                *tenant = Arc::new(Tenant { pushed, ..(**tenant).clone() });
            }
        }
        Some(followed)
    }

    pub(super) fn follow(&mut self, followed: &Followed) {
        followed.tenants.iter().for_each(|tenant| self.learn_tenant(tenant));
        followed.keys.iter().for_each(|key| self.learn_key(key));
        for operator in &followed.operators {
            self.operators.insert(operator.id, Arc::clone(operator));
        }
        for (number, at) in &followed.live_asked {
            self.live_asked.insert(*number, *at);
        }
        if let Some(banks) = &followed.banks {
            self.banks = banks.clone();
        }
        self.followed = followed.seq;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::ApiKey;
    use crate::platform::Scopes;
    use crate::platform::operators::OperatorAccount;
    use crate::platform::operators::{OperatorStatus, Role};
    use crate::platform::settings::{LiveStatus, Settings};
    use crate::platform::test_accounts::Opener;
    use crate::resources::banks::Edit;
    use crate::resources::tenants::partition_moves::MoveStep;
    use crate::resources::tenants::{PlatformAsk, decide};
    use crate::values::ids::{Id, Mode};
    use crate::values::time::Timestamp;
    use crate::values::venezuela::BankCode;
    use persistent::SortedMap;
    use proptest::prelude::*;

    const PARTITIONS: u8 = 3;

    fn at(ms: usize) -> Timestamp {
        Timestamp::from_unix_ms(ms as i64)
    }

    fn id(n: usize) -> Id {
        Id::derived(1, n as u64, 0)
    }

    fn key(n: usize, tenant: u32) -> ApiKey {
        ApiKey {
            id: id(n),
            tenant,
            mode: Mode::Test,
            hash: [n as u8; 32],
            prefix: "pk_".into(),
            scopes: Scopes::ALL,
            created_at: at(0),
            expires_at: None,
            revoked_at: None,
            retires_at: None,
            details: Default::default(),
        }
    }

    /// What is asked of the first partition: a kind, and which of those that there are.
    fn ask(book: &PlatformBook, (kind, which): (u8, usize), n: usize) -> PlatformAsk {
        let tenants: Vec<_> = book.tenants.values().collect();
        let tenant = tenants.get(which % tenants.len().max(1));
        let number = tenant.map_or(1, |tenant| tenant.number);
        let open = |opener| PlatformAsk::Open {
            id: id(n),
            name: format!("tenant {n}"),
            settings: Arc::new(Settings::default()),
            keys: vec![key(n, 0)],
            opener,
            partitions: (0..PARTITIONS).collect(),
        };
        match kind {
            0 => open(None),
            1 => open(Some(Opener { address: [1; 16], site: None })),
            2 => PlatformAsk::AddKey { key: key(n, number), by: None },
            3 => {
                let keys: Vec<_> = book.keys.values().collect();
                let id = keys.get(which % keys.len().max(1)).map_or(id(n), |key| key.id);
                PlatformAsk::RevokeKey { id, with_successors: false, by: None }
            }
            4 => PlatformAsk::AskLive { number, body: Vec::new() },
            5 => PlatformAsk::SetTenantSettings {
                number,
                base: tenant.map_or(0, |tenant| tenant.tenant_settings.version),
                settings: Arc::new(Settings::default()),
                live_status: LiveStatus::ALL[which % LiveStatus::ALL.len()],
                reason: Some(n.to_string()),
            },
            6 => {
                let code = BankCode::from_number([102, 105, 134][which % 3]).expect("a code");
                PlatformAsk::EditBank(code, Edit { name: Some(n.to_string()), ..Edit::default() })
            }
            7 => PlatformAsk::RefreshBanks(Vec::new()),
            8 => {
                let operator = OperatorAccount {
                    id: id(n),
                    name: "operator".into(),
                    email: format!("{n}@example.com").into(),
                    role: Role::Viewer,
                    status: OperatorStatus::Active,
                    token_hash: [n as u8; 32],
                    created_at: at(0),
                    makers: Vec::new(),
                };
                PlatformAsk::AddOperator(operator, vec![None])
            }
            9 => PlatformAsk::DeleteTestAccount(number),
            10 => PlatformAsk::Pushed { number, version: u64::MAX },
            12 => {
                let closed = tenant.map_or(0, |tenant| tenant.tenant_settings.version);
                let is_closed = tenant.is_some_and(|tenant| tenant.tenant_settings.are_closed());
                let step = match tenant.and_then(|tenant| tenant.moving) {
                    None => MoveStep::Begin(which as u8 % PARTITIONS),
                    Some(_) if which == 7 => MoveStep::Undo,
                    Some(_) if is_closed => MoveStep::End { closed },
                    Some(_) => MoveStep::Close,
                };
                PlatformAsk::MoveWithin { number, step }
            }
            _ => PlatformAsk::Beside(vec![Beside::Fate { operation: id(n), kind: 1, refusal: 0 }]),
        }
    }

    /// The first partition's log: each record's change, and the book after it.
    struct First {
        changes: Vec<Option<PlatformChange>>,
        books: Vec<PlatformBook>,
    }

    impl First {
        fn of(asks: &[(u8, usize)]) -> First {
            let mut first = First { changes: vec![None], books: vec![PlatformBook::default()] };
            for (n, what) in asks.iter().enumerate() {
                let mut book = first.books.last().expect("a book").clone();
                let ruling = decide(&book, ask(&book, *what, n + 1), at(n + 1));
                let change = ruling.record.and_then(|draft| draft.record.platform).map(|change| *change);
                book.evolve(change.as_ref(), at(n + 1));
                first.changes.push(change);
                first.books.push(book);
            }
            first
        }

        /// What is sent of the records after `after` up to `to`, when the book is as it was after `seen`.
        fn message(&self, own: u8, after: usize, to: usize, seen: usize) -> Followed {
            assert!(to <= seen, "the book is at least as new as what is read");
            if after == 0 {
                return Followed::all(&self.books[seen], own, to as u64);
            }
            let mut sent = Followed { seq: after as u64, ..Followed::default() };
            for seq in after + 1..=to {
                if let Some(change) = &self.changes[seq] {
                    sent.add(seq as u64, change, &self.books[seen], own);
                }
                sent.seq = seq as u64;
            }
            sent
        }
    }

    fn follow(book: &mut PlatformBook, after: u64, followed: Followed, now: Timestamp) -> bool {
        let ruling = decide(book, PlatformAsk::Follow { after, followed }, now);
        let change = ruling.record.and_then(|draft| draft.record.platform).map(|change| *change);
        book.evolve(change.as_ref(), now);
        change.is_some()
    }

    /// What a partition has of the first one's book. Its own word on which settings are in both books is left out.
    fn shared(book: &PlatformBook, own: u8) -> impl PartialEq + std::fmt::Debug + use<> {
        let tenants = book.tenants.values().filter(|tenant| tenant.partition == own);
        let tenants: Vec<_> = tenants.map(|tenant| Tenant { pushed: 0, ..(**tenant).clone() }).collect();
        let numbers: Vec<u32> = tenants.iter().map(|tenant| tenant.number).collect();
        let keys: Vec<_> = numbers.iter().flat_map(|number| book.keys.of(*number)).cloned().collect();
        let asked: Vec<_> =
            numbers.iter().filter_map(|number| book.live_asked.get(number)).copied().collect();
        (tenants, keys, asked, book.operators.clone(), book.banks.clone())
    }

    fn asks() -> impl Strategy<Value = Vec<(u8, usize)>> {
        // More tenants than a uniform choice would open, and more requests for live mode with their answers.
        let kind = prop_oneof![3 => Just(0), 2 => Just(4), 2 => Just(5), 4 => 0..12_u8, 6 => Just(12)];
        prop::collection::vec((kind, 0..8_usize), 1..60)
    }

    proptest! {
        #[test]
        fn a_book_that_follows_is_the_first_ones_with_its_own_tenants(
            asks in asks(),
            // How many records go together, how much newer the book is, and which messages come once more.
            cuts in prop::collection::vec((1..6_usize, 0..6_usize, any::<bool>()), 1..12),
            own in 1..PARTITIONS,
        ) {
            let first = First::of(&asks);
            let (newest, mut book) = (asks.len(), PlatformBook::default());
            let (mut done, mut sent): (usize, Vec<(u64, Followed)>) = (0, Vec::new());
            for (many, ahead, again) in cuts.iter().cycle() {
                if done == newest {
                    break;
                }
                let to = (done + many).min(newest);
                let message = first.message(own, done, to, (to + ahead).min(newest));
                // Out of turn: something between is missing.
                if done > 0 {
                    let before = book.clone();
                    prop_assert!(!follow(&mut book, done as u64 + 1, message.clone(), at(newest)));
                    prop_assert_eq!(shared(&book, own), shared(&before, own));
                }
                prop_assert!(follow(&mut book, done as u64, message.clone(), at(newest)));
                sent.push((done as u64, message));
                done = to;
                prop_assert_eq!(book.followed, done as u64);
                // A push of its own is not undone by what is followed next.
                let settled: Vec<u32> = book.tenants.values().map(|tenant| tenant.number).collect();
                for number in settled {
                    let version = book.tenants.get(&number).map_or(0, |known| known.tenant_settings.version);
                    let ruling = decide(&book, PlatformAsk::Pushed { number, version }, at(newest));
                    let change = ruling.record.and_then(|draft| draft.record.platform).map(|change| *change);
                    book.evolve(change.as_ref(), at(newest));
                }
                if *again {
                    for (after, message) in &sent {
                        let before = book.clone();
                        prop_assert!(!follow(&mut book, *after, message.clone(), at(newest)));
                        prop_assert_eq!(&book.tenants, &before.tenants);
                        prop_assert_eq!(book.followed, before.followed);
                    }
                }
                // One that is not its own has left, or is not known to have come yet.
                let is_known = |known: &Arc<Tenant>| known.partition == own || known.moves > 0;
                prop_assert!(book.tenants.values().all(is_known));
            }
            prop_assert_eq!(shared(&book, own), shared(&first.books[newest], own));
            // Of who is elsewhere, what was last known to be pushed here.
            let pushed = |known: &Arc<Tenant>| {
                known.partition != own || known.pushed >= known.tenant_settings.version
            };
            prop_assert!(book.tenants.values().all(pushed));
        }
    }

    #[test]
    fn a_request_for_live_mode_that_was_answered_in_the_same_message_is_over() {
        let first = First::of(&[(0, 0), (0, 0), (4, 1), (5, 1)]);
        let mut book = PlatformBook::default();
        assert!(follow(&mut book, 0, first.message(1, 0, 2, 2), at(2)));
        assert!(follow(&mut book, 2, first.message(1, 2, 4, 4), at(4)));
        assert_eq!(book.live_asked, SortedMap::default());
    }

    #[test]
    fn a_request_for_live_mode_from_before_the_first_message_is_known() {
        let first = First::of(&[(0, 0), (0, 0), (4, 1)]);
        let mut book = PlatformBook::default();
        assert!(follow(&mut book, 0, first.message(1, 0, 3, 3), at(3)));
        assert_eq!(book.live_asked.get(&2), Some(&at(3)));
    }

    #[test]
    fn a_new_tenant_goes_where_the_fewest_are_and_one_without_an_operator_to_the_first() {
        let book = First::of(&[(0, 0), (0, 0), (1, 0), (0, 0), (0, 0), (1, 0)]).books.pop().expect("a book");
        let partitions: Vec<u8> = book.tenants.values().map(|tenant| tenant.partition).collect();
        assert_eq!(partitions, [0, 1, 0, 2, 1, 0]);
    }
}

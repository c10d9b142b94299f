//! The directory of operators: who a token belongs to, and the proof that it was presented
//! (`docs/contract.md, 20.1`). The platform's book owns operators; the directory repeats what that book
//! says, once it is durable, and on a node that does not lead as far as its copy of the book goes.

use crate::config::Secret;
use api::problem::Problem;
use domain::entities::approval::Approvable;
use domain::platform::audit::Who;
use domain::platform::hash_key;
use domain::platform::operators::{OperatorAccount, OperatorStatus, Role};
use domain::values::ids::Id;
use domain::values::time::Timestamp;
use hyper::header::{AUTHORIZATION, HeaderMap};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};
use subtle::{Choice, ConstantTimeEq};

pub const STEM: &str = "op_";

/// The proof that somebody presented the token of an operator who is active. Only the directory makes
/// one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    who: Who,
    role: Role,
    account: Option<Arc<OperatorAccount>>,
}

impl Operator {
    fn root() -> Operator {
        Operator { who: Who::root(), role: Role::Admin, account: None }
    }

    fn of(account: &Arc<OperatorAccount>) -> Operator {
        let who = Who { id: Some(account.id), name: account.name.clone() };
        Operator { who, role: account.role, account: Some(Arc::clone(account)) }
    }

    pub fn who(&self) -> &Who {
        &self.who
    }

    pub fn role(&self) -> Role {
        self.role
    }

    pub fn account(&self) -> Option<&OperatorAccount> {
        self.account.as_deref()
    }

    /// 403 unless the operator may do what takes this role.
    pub fn must_be(&self, role: Role) -> Result<(), Problem> {
        if self.role >= role { Ok(()) } else { Err(Problem::role_missing(role.name())) }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approvals {
    pub of: BTreeSet<Approvable>,
    /// The time for which somebody may decide, in ms.
    pub valid_ms: i64,
}

pub struct Operators {
    /// `None` for local work, where everybody is `root`.
    root: Option<[u8; 32]>,
    named: RwLock<BTreeMap<Id, Arc<OperatorAccount>>>,
}

impl Operators {
    /// Without the configuration's token whoever reaches the listener is `root`.
    pub fn new(root: Option<&Secret>) -> Operators {
        Operators { root: root.map(|token| hash_key(token.expose())), named: RwLock::default() }
    }

    pub fn copied(&self) -> Operators {
        let named = self.named.read().unwrap_or_else(PoisonError::into_inner).clone();
        Operators { root: self.root, named: RwLock::new(named) }
    }

    pub fn learn(&self, account: &Arc<OperatorAccount>) {
        let mut named = self.named.write().unwrap_or_else(PoisonError::into_inner);
        named.insert(account.id, Arc::clone(account));
    }

    /// The operator whose token this is, if active. How long it takes tells nothing about any token: all
    /// of them are compared, by their digests.
    pub fn of_token(&self, token: &[u8]) -> Option<Operator> {
        self.of_digest(hash_key(token))
    }

    /// The operator with the token of this digest, if active: what a session is checked by at each
    /// request, so that it ends with the token.
    pub fn of_digest(&self, sent: [u8; 32]) -> Option<Operator> {
        let is = |known: &[u8; 32]| known.ct_eq(&sent);
        let is_root = self.root.map_or(Choice::from(0), |root| is(&root));
        let named = self.named.read().unwrap_or_else(PoisonError::into_inner);
        let mut found = None;
        for account in named.values() {
            if bool::from(is(&account.token_hash)) {
                found = Some(account);
            }
        }
        match found {
            _ if bool::from(is_root) => Some(Operator::root()),
            Some(account) if account.status == OperatorStatus::Active => Some(Operator::of(account)),
            _ => None,
        }
    }

    /// The operator of a session that was opened with the token of this digest, if it opens anything
    /// now. Where no token is asked for, any opens one.
    pub fn of_session(&self, digest: [u8; 32]) -> Option<Operator> {
        self.of_digest(digest).or_else(|| self.root.is_none().then(Operator::root))
    }

    /// Whether the configuration's token was sent, of which there has to be one: what opens a node's keys and log is
    /// never open to whoever comes.
    pub fn has_token(&self, headers: &HeaderMap) -> bool {
        let sent = bearer(headers).map(hash_key);
        self.root.zip(sent).is_some_and(|(root, sent)| root.ct_eq(&sent).into())
    }

    pub fn authenticate(&self, headers: &HeaderMap) -> Result<Operator, Problem> {
        let token = bearer(headers);
        match token.and_then(|token| self.of_token(token)) {
            Some(operator) => Ok(operator),
            // A token that was somebody's does not become everybody's.
            None if self.root.is_none() && !token.is_some_and(|token| token.starts_with(STEM.as_bytes())) => {
                Ok(Operator::root())
            }
            None => Err(Problem::without_token(token.is_some())),
        }
    }

    /// Whether two are two persons: neither made the other since this instant, raised or enabled it, or had
    /// a token of it made, nor did one colleague that with both (`docs/contract.md, 20.2`). `root` sets people up,
    /// so that two whom it made are two.
    pub fn are_two(&self, one: &Who, other: &Who, since: Timestamp) -> bool {
        let named = self.named.read().unwrap_or_else(PoisonError::into_inner);
        let makers = |who: &Who| -> BTreeSet<Option<Id>> {
            let account = who.id.and_then(|id| named.get(&id));
            let makers = account.iter().flat_map(|account| &account.makers);
            makers.filter(|maker| maker.at > since).map(|maker| maker.by).collect()
        };
        let (of_one, of_other) = (makers(one), makers(other));
        let is_of_one_colleague = of_one.intersection(&of_other).any(Option::is_some);
        !one.is(other) && !of_one.contains(&other.id) && !of_other.contains(&one.id) && !is_of_one_colleague
    }

    pub fn named(&self, id: Id) -> Option<Arc<OperatorAccount>> {
        self.named.read().unwrap_or_else(PoisonError::into_inner).get(&id).map(Arc::clone)
    }

    pub fn all(&self) -> Vec<Arc<OperatorAccount>> {
        let named = self.named.read().unwrap_or_else(PoisonError::into_inner);
        named.values().rev().map(Arc::clone).collect()
    }
}

fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let sent = headers.get(AUTHORIZATION)?.as_bytes();
    let (scheme, token) = sent.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::platform::operators::Maker;
    use hyper::header::HeaderValue;

    fn account(token: &str, status: OperatorStatus) -> Arc<OperatorAccount> {
        Arc::new(OperatorAccount {
            id: Id::derived(1, 2, 0),
            name: "Ana".into(),
            email: "ana@example.com".into(),
            role: Role::Support,
            status,
            token_hash: hash_key(token),
            created_at: Timestamp::EPOCH,
            makers: Vec::new(),
        })
    }

    fn sent(value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_str(value).expect("a header"));
        headers
    }

    fn with_token() -> Operators {
        Operators::new(Some(&Secret::new("t0ken")))
    }

    #[test]
    fn the_configurations_token_alone_opens_keys_and_log() {
        let operators = with_token();
        operators.learn(&account("op_one", OperatorStatus::Active));
        assert!(operators.has_token(&sent("bearer t0ken")) && !operators.has_token(&HeaderMap::new()));
        assert!(!operators.has_token(&sent("Bearer op_one")));
        assert!(!Operators::new(None).has_token(&sent("Bearer t0ken")));
    }

    #[test]
    fn only_a_token_opens() {
        let operators = with_token();
        for good in ["Bearer t0ken", "bearer t0ken"] {
            assert_eq!(operators.authenticate(&sent(good)), Ok(Operator::root()), "{good}");
        }
        for bad in
            ["", "Bearer ", "Bearer", "Bearer t0ke", "Bearer t0kenx", "Bearer  t0ken", "Basic t0ken", "t0ken"]
        {
            assert!(operators.authenticate(&sent(bad)).is_err(), "{bad}");
        }
        assert!(operators.authenticate(&HeaderMap::new()).is_err());
    }

    #[test]
    fn a_token_ends_with_its_successor_and_with_its_operator() {
        let operators = with_token();
        operators.learn(&account("op_one", OperatorStatus::Active));
        let ana = operators.of_token(b"op_one").expect("an operator");
        assert_eq!((ana.role(), ana.who().shown_id()), (Role::Support, Id::derived(1, 2, 0).to_string()));
        assert!(ana.must_be(Role::Support).is_ok() && ana.must_be(Role::Treasury).is_err());
        operators.learn(&account("op_two", OperatorStatus::Active));
        assert!(operators.of_token(b"op_one").is_none() && operators.of_token(b"op_two").is_some());
        operators.learn(&account("op_two", OperatorStatus::Disabled));
        assert!(operators.of_token(b"op_two").is_none());
    }

    #[test]
    fn who_made_an_operator_is_no_second_person_beside_it_for_a_while() {
        let operators = with_token();
        let who = |n: u64| Who { id: Some(Id::derived(1, n, 0)), name: "n".into() };
        let at = Timestamp::from_unix_ms;
        // root made 1 and 2, and 1 made 3 and 4.
        let by_one = || vec![(who(1).id, 200)];
        for (n, makers) in [(1, vec![(None, 100)]), (2, vec![(None, 100)]), (3, by_one()), (4, by_one())] {
            let known = account(&format!("op_{n}"), OperatorStatus::Active);
            let makers = makers.into_iter().map(|(by, ms)| Maker { by, at: at(ms) }).collect();
            let id = Id::derived(1, n, 0);
            operators.learn(&Arc::new(OperatorAccount { id, makers, ..(*known).clone() }));
        }
        for (one, other, since, two) in [
            (who(1), Who::root(), 99, false),
            (who(1), Who::root(), 100, true),
            (who(1), who(2), 0, true),
            (who(3), who(1), 199, false),
            (who(3), who(1), 200, true),
            (who(3), Who::root(), 0, true),
            (who(3), who(3), 0, false),
            (who(3), who(4), 199, false),
            (who(3), who(4), 200, true),
        ] {
            assert_eq!(operators.are_two(&one, &other, at(since)), two, "{one:?} {other:?} since {since}");
            assert_eq!(operators.are_two(&other, &one, at(since)), two, "{other:?} {one:?} since {since}");
        }
    }

    #[test]
    fn without_a_token_everybody_is_root_but_for_who_says_to_be_somebody() {
        let operators = Operators::new(None);
        operators.learn(&account("op_one", OperatorStatus::Disabled));
        assert_eq!(operators.authenticate(&HeaderMap::new()), Ok(Operator::root()));
        assert_eq!(operators.authenticate(&sent("Bearer whatever")), Ok(Operator::root()));
        assert!(operators.authenticate(&sent("Bearer op_one")).is_err());
        operators.learn(&account("op_one", OperatorStatus::Active));
        assert_eq!(operators.authenticate(&sent("Bearer op_one")).map(|who| who.role()), Ok(Role::Support));
    }
}

//! The tokens that a node admits to its own answers while it does not lead: that of the
//! configuration and, as far as its copy of the platform's book goes, those of named operators. A
//! server that leads asks its own directory of operators.

use crate::config::AdminAccess;
use domain::platform::audit::Who;
use domain::platform::operators::{OperatorAccount, OperatorStatus, Role};
use hyper::header::{AUTHORIZATION, HeaderMap};
use sha2::{Digest, Sha256};
use std::sync::{Arc, PoisonError, RwLock};
use subtle::ConstantTimeEq;

const STEM: &[u8] = b"op_";

#[derive(Clone)]
pub struct Operators {
    /// The digest of the configuration's token; `None`: whoever reaches the listener is `root`.
    root: Option<[u8; 32]>,
    named: Arc<RwLock<Vec<Arc<OperatorAccount>>>>,
}

impl Operators {
    /// Without a token in the configuration whoever reaches the listener is admitted.
    pub fn of(access: &AdminAccess) -> Operators {
        let root = match access {
            AdminAccess::Token(token) => Some(Sha256::digest(token.expose().as_bytes()).into()),
            AdminAccess::Insecure => None,
        };
        Operators { root, named: Arc::default() }
    }

    pub fn learn<'a>(&self, named: impl Iterator<Item = &'a Arc<OperatorAccount>>) {
        *self.named.write().unwrap_or_else(PoisonError::into_inner) = named.cloned().collect();
    }

    /// The configuration's token, of which there has to be one: what opens a node's keys and log is
    /// never open by [`AdminAccess::Insecure`].
    pub fn has_token(&self, headers: &HeaderMap) -> bool {
        let sent = bearer(headers).map(digest);
        self.root.zip(sent).is_some_and(|(root, sent)| root.ct_eq(&sent).into())
    }

    /// With the configuration's token or, without one, anybody's.
    fn is_root(&self, headers: &HeaderMap) -> bool {
        // A token that was somebody's does not become everybody's.
        let is_named = || bearer(headers).is_some_and(|sent| sent.starts_with(STEM));
        self.has_token(headers) || (self.root.is_none() && !is_named())
    }

    /// With that token, or one of an operator who is active.
    pub fn who(&self, headers: &HeaderMap) -> Option<(Who, Role)> {
        let named = self.named.read().unwrap_or_else(PoisonError::into_inner);
        let sent = bearer(headers).map(digest);
        // All of them are compared, so that the time tells nothing.
        let active = named.iter().filter(|known| known.status == OperatorStatus::Active);
        let is_sent = |known: &OperatorAccount| sent.is_some_and(|sent| known.token_hash.ct_eq(&sent).into());
        match active.fold(None, |found, known| if is_sent(known) { Some(known) } else { found }) {
            Some(found) => Some((Who { id: Some(found.id), name: found.name.clone() }, found.role)),
            None => self.is_root(headers).then(|| (Who::root(), Role::Admin)),
        }
    }
}

fn digest(token: &[u8]) -> [u8; 32] {
    Sha256::digest(token).into()
}

pub fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let sent = headers.get(AUTHORIZATION)?.as_bytes();
    let (scheme, token) = sent.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::values::ids::Id;
    use domain::values::time::Timestamp;
    use hyper::header::HeaderValue;

    fn account(token: &str, status: OperatorStatus) -> Arc<OperatorAccount> {
        Arc::new(OperatorAccount {
            id: Id::derived(1, 2, 0),
            name: "Ana".into(),
            email: "ana@example.com".into(),
            role: Role::Viewer,
            status,
            token_hash: digest(token.as_bytes()),
            created_at: Timestamp::EPOCH,
            makers: Vec::new(),
        })
    }

    fn sent(value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_str(value).expect("a header"));
        headers
    }

    #[test]
    fn root_and_active_operators_are_admitted_and_only_root_has_the_token() {
        let operators = Operators { root: Some(digest(b"t0ken")), named: Arc::default() };
        assert!(operators.who(&sent("Bearer t0ken")).is_some() && operators.has_token(&sent("bearer t0ken")));
        assert!(
            operators.who(&sent("Bearer op_one")).is_none() && operators.who(&HeaderMap::new()).is_none()
        );
        operators.learn([account("op_one", OperatorStatus::Active)].iter());
        assert!(
            operators.who(&sent("Bearer op_one")).is_some() && !operators.has_token(&sent("Bearer op_one"))
        );
        operators.learn([account("op_one", OperatorStatus::Disabled)].iter());
        assert!(operators.who(&sent("Bearer op_one")).is_none());
        let open = Operators { root: None, named: Arc::default() };
        assert!(open.who(&HeaderMap::new()).is_some() && open.who(&sent("Bearer op_one")).is_none());
        assert!(operators.has_token(&sent("Bearer t0ken")) && !operators.has_token(&HeaderMap::new()));
        for anything in [HeaderMap::new(), sent("Bearer "), sent("Bearer t0ken")] {
            assert!(!open.has_token(&anything), "without a token nobody has it");
        }
    }
}

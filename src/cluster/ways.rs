//! Where operators' calls go among several partitions, by method and path alone.

use super::front::{BACKUP, CLUSTER, SNAPSHOT};
use super::merged;
use super::passing::HAND_OVER;
use super::questions::{Question, Thing};
use hyper::Method;

const ADMIN: &str = "/admin/";
const TENANTS: &str = "/admin/tenants/";
const CONFIRM_CLOCK: &str = "/admin/clock/confirm";
/// What is asked of the node that is reached, not of the leader.
const OF_NODE: [&str; 3] = [CLUSTER, SNAPSHOT, BACKUP];
/// What is below a tenant and in its books, so in its own partition; the rest of it is the platform's.
const OF_BOOKS: [&str; 5] = ["adjustments", "statements", "chargebacks", "cop-payouts", "resume"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way<'p> {
    /// To the node itself.
    Node,
    /// To all: what they answer is put together.
    All,
    /// To all: each does it.
    Each,
    /// To the partition that the body names.
    Named,
    /// To that of the tenant with this id.
    Tenant(&'p str),
    /// To the one that has it.
    Holder(Question),
    /// To the first, which has and decides what is the platform's.
    First,
}

pub fn way<'p>(method: &Method, path: &'p str) -> Way<'p> {
    let reads = matches!(*method, Method::GET | Method::HEAD);
    match path {
        HAND_OVER => Way::Named,
        CONFIRM_CLOCK => Way::Each,
        path if OF_NODE.contains(&path) => Way::Node,
        path if reads && merged::is_merged(path) => Way::All,
        path => match (tenant_of(path), path.strip_prefix(ADMIN).and_then(Thing::named)) {
            (Some(id), _) => Way::Tenant(id),
            (None, Some((thing, id))) => Way::Holder(Question::Thing(thing, id)),
            (None, None) => Way::First,
        },
    }
}

/// The id of the tenant whose books an operator's call is about.
pub fn tenant_of(path: &str) -> Option<&str> {
    let (id, what) = path.strip_prefix(TENANTS)?.split_once('/')?;
    OF_BOOKS.contains(&what).then_some(id)
}

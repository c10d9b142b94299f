//! The rows of the two listeners, with what each asks of a request before it gets to its endpoint.

use super::mcp;
use crate::admin::{Route as OperatorRoute, routes as operators};
use crate::checkout::{self, BuyerRow};
use crate::cluster::Csv;
use crate::console;
use crate::gateway::exports::Export;
use crate::gateway::rail_calls::RailCall;
use crate::http::router::Router;
use crate::operators::Operator;
use crate::pages::site::PageRow;
use crate::portal;
use api::csv::Table;
use api::endpoint::Caller;
use api::openapi::document::Document;
use api::public::routes::{PublicRoute, routes as public_routes};
use api::routes::{Route, page_routes, routes};
use api::streams;
use api::testing;
use hyper::{HeaderMap, Method};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

pub type Row = (Method, &'static str, Endpoint);

pub enum Endpoint {
    Tenant(Route),
    Stream,
    Mcp,
    /// Opens a test account for anybody.
    TestAccount,
    Visitor(PublicRoute),
    Bank(RailCall),
    Buyer(BuyerRow),
    Merchant(PageRow<Caller>),
    Operator(OperatorRoute),
    ConsoleOperator(PageRow<Operator>),
}

/// What the row of an endpoint asks of a request before it gets there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Policy {
    /// Work is refused while there is no room for it: on the disk, in the engine.
    pub needs_room: bool,
    /// A body of JSON is read before the endpoint runs.
    pub takes_json: bool,
    pub has_card: bool,
    /// The first partition decides it, for the accounts of the others too.
    pub is_of_platform: bool,
    pub takes_key: bool,
    /// A call may ask that it be only rehearsed.
    pub may_be_rehearsed: bool,
    /// The parameters after the question mark are the endpoint's; if not, any is unexpected.
    pub takes_query: bool,
    /// Whose share of the room a body is gathered in.
    pub share: Whose,
    /// The request also waits for a work slot of that share.
    pub works_in_share: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whose {
    #[default]
    Nobody,
    Tenant,
    /// The address that calls, as far as limits tell people apart.
    Client,
}

pub fn public(banks: impl Iterator<Item = Row>, opens_accounts: bool) -> Vec<Row> {
    let tenants = tenant_rows().map(|route| (route.method.clone(), route.path, Endpoint::Tenant(route)));
    let visitors =
        public_routes().into_iter().map(|route| (Method::GET, route.path, Endpoint::Visitor(route)));
    let buyers = checkout::rows().map(|row| (row.method.clone(), row.path, Endpoint::Buyer(row)));
    let merchants = portal::SITE.rows(portal::rows());
    let merchants = merchants.map(|(method, path, row)| (method, path, Endpoint::Merchant(row)));
    let stream = [(Method::POST, streams::PATH, Endpoint::Stream)];
    let agents = [(Method::POST, mcp::PATH, Endpoint::Mcp)];
    let accounts = opens_accounts.then_some((Method::POST, testing::ACCOUNTS_PATH, Endpoint::TestAccount));
    tenants
        .chain(stream)
        .chain(agents)
        .chain(accounts)
        .chain(visitors)
        .chain(banks)
        .chain(buyers)
        .chain(merchants)
        .collect()
}

/// Whether a card may be in the body of a tenant's or a buyer's call. It is known before the server is open.
pub fn cards() -> Router<bool> {
    let tenants = routes().into_iter().chain(page_routes()).map(|row| (row.method, row.path, row.has_card));
    let buyers = checkout::rows().map(|row| (row.method.clone(), row.path, row.has_card));
    Router::new(tenants.chain(buyers).chain([(Method::POST, mcp::PATH, false)]))
}

pub fn of_operators() -> Vec<Row> {
    let programs = operator_rows().map(|route| (route.method.clone(), route.path, Endpoint::Operator(route)));
    let people = console::SITE.rows(console::rows());
    let people = people.map(|(method, path, row)| (method, path, Endpoint::ConsoleOperator(row)));
    programs.chain(people).collect()
}

/// What the rows take from the descriptions, which are long to make.
struct Described {
    tables: BTreeMap<&'static str, Arc<Table>>,
    with_query: BTreeSet<&'static str>,
}

static TENANTS: LazyLock<Described> =
    LazyLock::new(|| Described::by(&api::interface::public(checkout::described())));
static OPERATORS: LazyLock<Described> = LazyLock::new(|| Described::by(&crate::admin::document()));

impl Described {
    fn by(description: &Document) -> Described {
        let tables = description.tables().into_iter().map(|(name, table)| (name, Arc::new(table)));
        Described { tables: tables.collect(), with_query: description.with_query() }
    }
}

/// For a standby, which has the time.
pub fn prepare() {
    LazyLock::force(&TENANTS);
    LazyLock::force(&OPERATORS);
}

/// A list of operators as CSV, if its query is sound, where a node has only the pages of others.
pub fn operators_csv(path: &str, headers: &HeaderMap, query: Option<&str>) -> Option<Csv> {
    let route = operator_rows().find(|route| route.method == Method::GET && route.path == path)?;
    let (export, bad) = Export::wanted(route.table.as_ref(), route.takes_query, headers, route.path, query)?;
    let first = bad.is_empty().then(|| export.query(None))?;
    Some(Csv { first, written: Box::new(|page, pages, id| export.reply(page, pages, id)) })
}

fn tenant_rows() -> impl Iterator<Item = Route> {
    routes().into_iter().chain(page_routes()).map(|mut route| {
        route.table = TENANTS.tables.get(route.operation).cloned();
        route.takes_query = TENANTS.with_query.contains(route.operation);
        route
    })
}

fn operator_rows() -> impl Iterator<Item = OperatorRoute> {
    operators::routes().into_iter().map(|mut route| {
        route.table = OPERATORS.tables.get(route.operation).cloned();
        route.takes_query = OPERATORS.with_query.contains(route.operation);
        route
    })
}

pub fn policy(method: &Method, endpoint: &Endpoint) -> Policy {
    match endpoint {
        Endpoint::Tenant(route) => {
            let writes = *method != Method::GET;
            Policy {
                needs_room: writes,
                takes_json: writes,
                has_card: route.has_card,
                is_of_platform: route.is_of_platform,
                takes_key: *method == Method::POST,
                may_be_rehearsed: writes,
                takes_query: route.takes_query,
                share: Whose::Tenant,
                works_in_share: true,
            }
        }
        // Each line is a call of its own, and so is that of a tool.
        Endpoint::Stream | Endpoint::Mcp => Policy::default(),
        // Whoever may be anybody has a share.
        Endpoint::TestAccount => Policy {
            needs_room: true,
            takes_json: true,
            share: Whose::Client,
            works_in_share: true,
            ..Policy::default()
        },
        Endpoint::Visitor(route) => Policy { takes_query: route.takes_query, ..Policy::default() },
        // The body is read where it is known how long it may be. Whoever may be anybody has a share; R4 is
        // known.
        Endpoint::Bank(call) => Policy {
            needs_room: *call != RailCall::Question,
            takes_query: true,
            share: if *call == RailCall::Event { Whose::Client } else { Whose::Nobody },
            works_in_share: *call == RailCall::Event,
            ..Policy::default()
        },
        // No body is read beforehand: a script shows its secret before its body, which is read then, and a
        // form's secret is in the body, which is read only if there is the session. Whether there is room is
        // asked when an attempt begins, as most of what buyers send is a look. A read needs no bank, and takes
        // so little time that a client which reads a lot can wait for itself. Whoever has a link can send
        // bodies: each client has a part of the room, and leaves the reserve.
        Endpoint::Buyer(row) => Policy {
            takes_query: true,
            has_card: row.has_card,
            share: Whose::Client,
            works_in_share: row.looks_up,
            ..Policy::default()
        },
        // Each address has a part of the room, also of those who have no session.
        Endpoint::Merchant(_) | Endpoint::ConsoleOperator(_) => {
            Policy { takes_query: true, share: Whose::Client, ..Policy::default() }
        }
        Endpoint::Operator(route) => Policy {
            needs_room: route.is_write() && !route.in_reserve,
            takes_json: route.takes_json(),
            takes_key: *method == Method::POST,
            may_be_rehearsed: route.is_write(),
            takes_query: route.takes_query,
            ..Policy::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::rail_calls::ROWS;
    use crate::http::router::tests::faults;

    #[test]
    fn nothing_in_the_tables_is_ambiguous() {
        let banks = ROWS.into_iter().map(|(path, call)| (Method::POST, path, Endpoint::Bank(call)));
        for table in [public(banks, true), of_operators()] {
            let rows: Vec<_> = table.into_iter().map(|(method, path, _)| (method, path)).collect();
            assert_eq!(faults(&rows), Vec::<String>::new());
        }
    }
}

//! A tenant's list as CSV: its pages are read by the same handler under the same key.

use super::{Performer, Planned};
use crate::gateway::answer::Shows;
use crate::gateway::ask::failure;
use crate::gateway::exports::{self, Pages};
use crate::gateway::request::Request;
use crate::http::respond::{Reply, RequestId};
use actors::Failure;
use api::plan::Caller;
use api::problem::{BadField, Problem};
use api::routes::{Handler, Route};
use bytes::Bytes;
use std::sync::Arc;

/// A tenant's list that is wanted as CSV.
pub(super) struct Export {
    export: exports::Export,
    handler: Handler,
    parameters: Vec<(&'static str, String)>,
    /// The parameters that are bad.
    pub(super) unexpected: Vec<BadField>,
}

/// The pages of a tenant's list.
#[derive(Clone)]
struct TenantPages(Arc<Source>);

struct Source {
    performer: Performer,
    caller: Caller,
    handler: Handler,
    parameters: Vec<(&'static str, String)>,
    request_id: RequestId,
}

impl Export {
    /// The list if it is wanted as CSV.
    pub(super) fn wanted(row: &Route, asked: &Request<'_>) -> Option<Box<Export>> {
        let head = &asked.arrival.head;
        let (export, unexpected) = exports::Export::wanted(
            row.table.as_ref(),
            row.takes_query,
            &head.headers,
            row.path,
            head.uri.query(),
        )?;
        let parameters = asked.parameters.iter().map(|(name, text)| (name, text.to_owned())).collect();
        Some(Box::new(Export { export, handler: row.handler, parameters, unexpected }))
    }

    /// The query of the first page.
    pub(super) fn query(&self) -> String {
        self.export.query(None)
    }

    /// The answer, from the plan of its first page.
    pub(super) async fn begin(
        self: Box<Self>,
        performer: &Performer,
        first: Planned,
        request_id: RequestId,
    ) -> Result<Reply, Problem> {
        let caller = first.caller.clone();
        let page = performer.carry_out(first, &request_id).await?;
        let Export { export, handler, parameters, .. } = *self;
        let source = Source {
            performer: performer.clone(),
            caller,
            handler,
            parameters,
            request_id: request_id.clone(),
        };
        export.reply(page.body(), TenantPages(Arc::new(source)), request_id)
    }
}

impl Pages for TenantPages {
    async fn page(&self, query: String) -> Result<Bytes, Problem> {
        let source = &*self.0;
        let tenant = source.caller.tenant_key;
        // Every page is like the first: a book in doubt is not shown.
        if source.performer.services.engine.is_halted(tenant) {
            return Err(failure(Failure::Halted));
        }
        let path = |name: &str| {
            let found = source.parameters.iter().find(|(known, _)| *known == name);
            found.map_or_else(String::new, |(_, text)| text.clone())
        };
        let plan = source.performer.plan(source.handler, &source.caller, &path, Some(&query), &[])?;
        let page = Planned {
            plan,
            caller: source.caller.clone(),
            used: None,
            shows: Shows::default(),
            slot: None,
            export: None,
            pass: None,
        };
        Ok(source.performer.carry_out(page, &source.request_id).await?.body().clone())
    }
}

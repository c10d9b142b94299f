//! `POST /mcp` (`docs/contract.md, 24`): agents that speak the Model Context Protocol, by its official SDK. Each message
//! is a request of its own: a session that is cut leaves nothing behind. A call of a tool goes the way of every request
//! of its row. The tools themselves are in `src/api/openapi/tools.rs`.

mod prompts;
mod resources;

use super::Server;
use crate::gateway::idempotency;
use crate::gateway::limits::Owner;
use crate::gateway::tenant_request::is_in_scopes;
use crate::http::body::Inbound;
use crate::http::listen::{Answer, Arrival};
use crate::http::origin_check::OriginCheck;
use crate::http::respond::{JSON, Reply, RequestId, TEXT};
use crate::http::router::Lookup;
use api::dry_run;
use api::endpoint::{Caller, Later};
use api::openapi::tools::{self, Arguments, Call, Tool};
use api::problem::Problem;
use api::routes::Modes;
use api::wire::json;
use bytes::Bytes;
use domain::platform::Scope;
use futures_util::FutureExt as _;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::{Request, Uri};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use url::Url;

pub(super) const PATH: &str = "/mcp";
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Refusals of one call within 24 hours after which the next is answered with the last of them.
const REFUSALS_MAX: u8 = 16;
const INSTRUCTIONS: &str = "Pasarela collects, holds and pays out money in Venezuela and Colombia. Amounts are texts \
    such as \"100.00\" where the schema says so; pesos are whole. Try what moves money with dryRun: true first. The \
    same call of such a tool again, without `key`, is the same call: it moves nothing twice, also after a cut. Give \
    what you pay or collect an externalRef of your own. 202 means that a bank has not answered, or a person has to \
    approve (`awaiting_approval`): ask later, never pay again; getApproval says whether they have. The resources explain every error \
    (pasarela://errors/{error}), the magic values of test mode and this account's settings.";

/// Whose key a request brings, in `x-api-key` or as a bearer: 401 where it brings none, or two that differ; 403 for a
/// page of another site, whatever key it has.
pub(super) fn authenticate(server: &Server, head: &Parts) -> Result<Caller, Problem> {
    let key = sent_key(&head.headers)?;
    let caller = server.audiences.tenants.recognise_key(key).ok_or_else(|| {
        Problem::unauthorized(
            "the key opens nothing: it is mistyped, revoked or expired, or another server's",
        )
    })?;
    if head.headers.contains_key(ORIGIN) {
        let base_url = Url::parse(&server.services.site.base_url).ok();
        let is_tls = base_url.as_ref().is_some_and(|url| url.scheme() == "https");
        let hosts = base_url.and_then(|url| url.host_str().map(str::to_owned)).into_iter().collect();
        OriginCheck::new(hosts, is_tls).check(head).map_err(|_| Problem::cross_site())?;
    }
    Ok(caller)
}

pub(super) fn sent_key(headers: &HeaderMap) -> Result<&str, Problem> {
    let keys = headers.get_all(API_KEY).iter().map(|value| value.to_str().ok());
    let bearers = headers.get_all(AUTHORIZATION).iter().map(|value| {
        let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    let mut sent = keys.chain(bearers);
    match sent.next() {
        Some(Some(key)) if sent.all(|again| again == Some(key)) => Ok(key),
        Some(_) => Err(Problem::unauthorized(
            "x-api-key and authorization hold two keys, or one that cannot be read: send one key",
        )),
        None => Err(Problem::unauthorized(
            "the key is missing: send it in x-api-key, or as authorization: Bearer",
        )),
    }
}

/// Boxed: a connection need not have room for it, and it has requests inside.
pub(super) fn answer<'a>(
    server: &'a Arc<Server>,
    caller: Caller,
    arrival: &'a Arrival,
    inbound: &'a mut Inbound,
) -> Later<'a, Reply> {
    Box::pin(answered(server, caller, arrival, inbound))
}

async fn answered(
    server: &Arc<Server>,
    caller: Caller,
    arrival: &Arrival,
    inbound: &mut Inbound,
) -> Result<Reply, Problem> {
    let services = &server.services;
    inbound.share.caller = Some(services.shares.of(Owner::Tenant(caller.tenant_key)));
    let body = inbound.json(&arrival.head.headers).await?;
    let message = read(&body)?;
    // A call of a tool is admitted as a request of its own, where the protocol takes it for one.
    let calls = message["method"] == "tools/call"
        && (message["id"].is_string() || message["id"].is_i64() || message["id"].is_u64())
        && message["params"].get("arguments").is_none_or(Value::is_object)
        && message["params"]["name"].as_str().is_some_and(|name| tools::named(name).is_some());
    if !calls {
        services.admit_request(Some(caller.tenant_key), false, None).await?;
    }
    let key = HeaderValue::from_str(sent_key(&arrival.head.headers)?)
        .map_err(|_| Problem::unauthorized("the key cannot be read"))?;
    let agent = Agent { server: Arc::clone(server), caller, key, peer: arrival.peer };
    let (mut head, ()) = Request::new(()).into_parts();
    (head.method, head.uri, head.headers) =
        (arrival.head.method.clone(), arrival.head.uri.clone(), arrival.head.headers.clone());
    // The answer is one message, so it is JSON for whoever takes either.
    head.headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(body.len())
        .disable_allowed_hosts();
    let service = StreamableHttpService::new(
        move || Ok(agent.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let response = service.handle(Request::from_parts(head, Full::new(body))).await;
    let (head, body) = response.into_parts();
    let is_json =
        head.headers.get(CONTENT_TYPE).is_some_and(|sent| sent.as_bytes().starts_with(JSON.as_bytes()));
    let Ok(body) = body.collect().await;
    Ok(Reply::new(head.status.as_u16(), if is_json { JSON } else { TEXT }, body.to_bytes()))
}

/// A message that can be read in one way only, as everything that moves money.
fn read(body: &Bytes) -> Result<Value, Problem> {
    let text = std::str::from_utf8(body).map_err(|_| Problem::invalid_json("the body is not UTF-8"))?;
    json::value(text).map_err(|malformed| Problem::invalid_json(malformed.to_string()))
}

/// Whoever sent a message.
#[derive(Clone)]
struct Agent {
    server: Arc<Server>,
    caller: Caller,
    key: HeaderValue,
    peer: SocketAddr,
}

impl Agent {
    fn may(&self, scope: Scope) -> bool {
        self.caller.key.scopes.allow(scope)
    }

    fn has(&self, tool: &Tool) -> bool {
        let needs = &tool.route.needs;
        is_in_scopes(needs, &self.caller) && !(self.caller.livemode() && needs.modes == Modes::TestOnly)
    }

    /// Whether an address is that of the tool's own row: the words of another row's are no ids.
    fn is_of(&self, tool: &Tool, uri: &Uri) -> bool {
        matches!(self.server.table.lookup(&tool.route.method, uri.path()), Lookup::Found(found)
            if found.path == tool.route.path)
    }

    async fn call(&self, tool: &Tool, arguments: Arguments) -> Reply {
        let call = tool.call(arguments).and_then(|call| match call.path.parse::<Uri>() {
            Ok(uri) if self.is_of(tool, &uri) => Ok(call),
            Ok(_) => Err(Problem::not_found()),
            Err(_) => Err(Problem::invalid_field("arguments", "are too long for an address")),
        });
        let call = match call {
            Ok(call) => call,
            Err(problem) => {
                let arrival = self.arrival(tool, "/", self.head());
                return self.server.refuse_line(&arrival, problem);
            }
        };
        if !tool.moves_money() || call.key.is_some() || call.is_rehearsed {
            let key = call.key.as_deref().filter(|_| !call.is_rehearsed);
            return self.send(tool, &call, key).await;
        }
        match self.made_keys(tool, &call).await {
            Ok(keys) => self.send_once(tool, &call, keys).await,
            Err(problem) => self.server.refuse_line(&self.arrival(tool, &call.path, self.head()), problem),
        }
    }

    /// What was refused moved nothing: the same call again is tried again, under the next key.
    async fn send_once(&self, tool: &Tool, call: &Call, keys: Vec<String>) -> Reply {
        let mut keys = keys.into_iter();
        loop {
            let reply = self.send(tool, call, keys.next().as_deref()).await;
            if !reply.is_replayed() || reply.status < 400 || keys.len() == 0 {
                return reply;
            }
        }
    }

    /// The keys that a call without one has: first those under which an answer stands, as what one of them did is not
    /// done again where an earlier refusal is forgotten; then the others.
    async fn made_keys(&self, tool: &Tool, call: &Call) -> Result<Vec<String>, Problem> {
        let (services, tenant) = (&self.server.services, self.caller.tenant_key);
        let now = services.clock(tenant).await?;
        let path = call.path.split('?').next().unwrap_or_default();
        let mark = |parts: &[&[u8]]| services.keys.mark(parts);
        let (mut kept, mut free) = (Vec::new(), Vec::new());
        for try_number in 0..=REFUSALS_MAX {
            let key = tool.made_key(mark, self.caller.key.id.as_bytes(), call, try_number);
            match idempotency::is_kept(services, tenant, &key, path, now)? {
                true => kept.push(key),
                false => free.push(key),
            }
        }
        kept.append(&mut free);
        Ok(kept)
    }

    /// Boxed, as this is a request inside of a request.
    fn send<'a>(
        &'a self,
        tool: &'a Tool,
        call: &'a Call,
        key: Option<&str>,
    ) -> Pin<Box<dyn Future<Output = Reply> + Send + 'a>> {
        let mut headers = self.head();
        if let Some(Ok(key)) = key.map(HeaderValue::from_str) {
            headers.insert(IDEMPOTENCY_KEY, key);
        }
        if call.is_rehearsed {
            headers.insert(dry_run::DRY_RUN, HeaderValue::from_static("true"));
        }
        if !call.body.is_empty() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        }
        let arrival = self.arrival(tool, &call.path, headers);
        let body = Bytes::copy_from_slice(&call.body);
        Box::pin(async move { self.server.answer(&arrival, &mut Inbound::made(body)).await })
    }

    fn head(&self) -> HeaderMap {
        HeaderMap::from_iter([(API_KEY, self.key.clone())])
    }

    fn arrival(&self, tool: &Tool, path: &str, headers: HeaderMap) -> Arrival {
        let (mut head, ()) = Request::new(()).into_parts();
        (head.method, head.uri, head.headers) =
            (tool.route.method.clone(), path.parse().unwrap_or_default(), headers);
        Arrival { head, request_id: RequestId::generate(), peer: self.peer }
    }
}

fn described(tool: &'static Tool) -> rmcp::model::Tool {
    let hints = ToolAnnotations::new().read_only(tool.reads());
    let hints = match tool.reads() {
        true => hints,
        false => hints.destructive(tool.moves_money()).idempotent(tool.moves_money()),
    };
    rmcp::model::Tool::new(tool.name(), tool.description.as_str(), Arc::new(tool.schema.clone()))
        .annotate(hints)
}

/// An answer as it is, as text and as what it is.
fn result(reply: &Reply) -> CallToolResult {
    let text = String::from_utf8_lossy(&reply.body).into_owned();
    let body: Option<Value> = serde_json::from_str(&text).ok();
    let content = vec![ContentBlock::text(text)];
    let mut result =
        if reply.status < 400 { CallToolResult::success(content) } else { CallToolResult::error(content) };
    result.structured_content = body;
    result
}

impl ServerHandler for Agent {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("pasarela", env!("CARGO_PKG_VERSION")).with_title("Pasarela"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        static DESCRIBED: LazyLock<Vec<rmcp::model::Tool>> =
            LazyLock::new(|| tools::all().iter().map(described).collect());
        let own = tools::all().iter().zip(&*DESCRIBED).filter(|(tool, _)| self.has(tool));
        Ok(ListToolsResult::with_all_items(own.map(|(_, described)| described.clone()).collect()))
    }

    async fn call_tool(
        &self,
        asked: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::named(&asked.name) else {
            return Err(ErrorData::invalid_params(
                "there is no tool with this name: tools/list has them",
                None,
            ));
        };
        let calling = AssertUnwindSafe(self.call(tool, asked.arguments.unwrap_or_default())).catch_unwind();
        // The SDK would leave a request whose task panicked without an answer.
        let reply =
            calling.await.map_err(|_| ErrorData::internal_error("the call failed unexpectedly", None))?;
        Ok(result(&reply).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::all()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::errors()]))
    }

    async fn read_resource(
        &self,
        asked: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if asked.uri == resources::SETTINGS && !self.may(Scope::Read) {
            return Err(ErrorData::invalid_request("the key lacks the scope read", None));
        }
        let read = resources::read(&asked.uri, &self.caller, &self.server.services.site.known_url);
        read.map(Into::into).ok_or_else(|| {
            ErrorData::resource_not_found(
                "there is no resource with this address: resources/list has them",
                None,
            )
        })
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::all()))
    }

    async fn get_prompt(
        &self,
        asked: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&asked.name, &asked.arguments.unwrap_or_default()).map(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_brings_one_key() {
        let sent = |pairs: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
            sent_key(&headers).map(str::to_owned).map_err(|problem| problem.status)
        };
        for (pairs, expected) in [
            (&[("x-api-key", "a")][..], Ok("a")),
            (&[("authorization", "Bearer a")], Ok("a")),
            (&[("authorization", "bearer a"), ("x-api-key", "a"), ("x-api-key", "a")], Ok("a")),
            (&[], Err(401)),
            (&[("x-api-key", "a"), ("authorization", "Bearer b")], Err(401)),
            (&[("x-api-key", "a"), ("x-api-key", "b")], Err(401)),
            (&[("x-api-key", "a"), ("authorization", "Basic a")], Err(401)),
            (&[("authorization", "a")], Err(401)),
        ] {
            assert_eq!(sent(pairs), expected.map(str::to_owned), "{pairs:?}");
        }
    }
}

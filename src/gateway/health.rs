//! Life and readiness, for balancers and watchdogs: the same answers on both listeners of a server, in words
//! that name no address and no part of the engine. What failed is in the log.

use super::services::Services;
use crate::cluster::front;
use crate::http::respond::Reply;
use api::problem::Problem;
use api::writer::Object;
use hyper::Method;

/// The path of life.
pub const HEALTH: &str = "/healthz";
/// The path of readiness.
pub const READY: &str = "/readyz";

/// The answer to a question about life or readiness.
pub fn answer(services: &Services, method: &Method, path: &str) -> Option<Result<Reply, Problem>> {
    let reply = match path {
        HEALTH => front::alive(),
        READY => readiness(services),
        _ => return None,
    };
    Some(front::read_only(method, reply))
}

fn readiness(services: &Services) -> Reply {
    match (services.ready(), &services.cluster) {
        (Ok(()), Some(cluster)) => front::ready(cluster),
        (Err(why), Some(cluster)) => front::unready(cluster, &why.to_string()),
        (Ok(()), None) => Reply::json(200, Object::new().plain("status", "ready").end()),
        (Err(why), None) => {
            let unavailable = Object::new().plain("status", "unavailable").text("reason", why.to_string());
            Reply::json(503, unavailable.end())
        }
    }
}

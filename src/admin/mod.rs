//! stub
use crate::{api::problem::Problem, config::{AdminAccess, BootstrapTenant}, server::{services::Services, listen::*, body::Inbound, respond::Reply, router::BadRoute}};
use std::sync::Arc;
pub struct AdminApi;
impl AdminApi { pub fn new(_: Arc<Services>, _: AdminAccess) -> Result<Self, BadRoute> { Ok(AdminApi) } }
impl Answer for AdminApi { async fn answer(&self, a: Arrival, _b: &mut Inbound) -> Reply { Reply::problem(&Problem::not_found(), &a.request_id) } }
pub async fn load_directory(_: &Arc<Services>) -> Result<(), Problem> { Ok(()) }
pub async fn bootstrap(_: &Arc<Services>, _: &[BootstrapTenant]) -> Result<(), Problem> { Ok(()) }
pub async fn push_pending(_: &Arc<Services>) -> Result<(), Problem> { Ok(()) }

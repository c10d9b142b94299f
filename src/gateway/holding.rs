//! What this partition answers fronts and the other partitions: whether something that anybody may ask for by its
//! address is of one of its own accounts.

use crate::cluster::questions::{Holds, Question};
use crate::gateway::notices::is_payer;
use crate::gateway::services::Services;
use crate::store::history;
use domain::index::Space;
use domain::values::ids::PLATFORM;
use std::sync::Arc;

pub fn holds(services: &Arc<Services>) -> Holds {
    let services = Arc::clone(services);
    Box::new(move |question| {
        let (reader, callers) = (services.engine.reader(), &services.callers);
        // Of an account that comes or has left there are entries, too.
        let is_here = |owner: &u64| !callers.is_elsewhere(*owner);
        let has_link = |slug: &str| {
            history::on_slug(reader, slug).map(|on| on.is_some_and(|(owner, ..)| is_here(&owner)))
        };
        Ok(match question {
            Question::Session(id) => {
                history::owner(reader, Space::Session, *id)?.as_ref().is_some_and(is_here)
            }
            Question::Link(slug) => has_link(slug)?,
            // In this order: a name is let go of when it is in the index.
            Question::Claim(slug) => {
                services.names.reservations.is_held(PLATFORM, Space::Slug, slug) || has_link(slug)?
            }
            Question::Key(hash) => {
                let caller = callers.directory.recognise(hash, services.now());
                caller.is_some_and(|caller| caller.tenant.partition == callers.partition)
            }
            Question::Payer(document) => is_payer(reader, *document)?,
        })
    })
}

//! What this partition answers fronts and the other partitions: whether something that is asked for by its address or
//! its id is of one of its own accounts.

use crate::cluster::questions::{Held, Holds, Question, Thing};
use crate::gateway::notices::is_payer;
use crate::gateway::services::Services;
use crate::store::history;
use api::problem::Problem;
use domain::index::Space;
use domain::values::ids::{Id, PLATFORM};
use hyper::http::request::Parts;
use std::sync::Arc;

/// Whether what operators ask for is here: who they are and how they find it, a higher room knows.
pub type HasThing = fn(Arc<Services>, Thing, Id, &Parts) -> Held;

pub fn holds(services: &Arc<Services>, has_thing: HasThing) -> Holds {
    let services = Arc::clone(services);
    Box::new(move |question, head| match question {
        Question::Thing(thing, id) => has_thing(Arc::clone(&services), thing, id, head),
        question => {
            let held = is_indexed(&services, &question);
            Box::pin(async move { held })
        }
    })
}

fn is_indexed(services: &Services, question: &Question) -> Result<bool, Problem> {
    let (reader, callers) = (services.engine.reader(), &services.callers);
    // Of an account that comes or has left there are entries, too.
    let is_here = |owner: &u64| !callers.is_elsewhere(*owner);
    let has_link =
        |slug: &str| history::on_slug(reader, slug).map(|on| on.is_some_and(|(owner, ..)| is_here(&owner)));
    Ok(match question {
        Question::Session(id) => history::owner(reader, Space::Session, *id)?.as_ref().is_some_and(is_here),
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
        Question::Thing(..) => false,
    })
}

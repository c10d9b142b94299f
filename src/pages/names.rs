//! Names in the place of ids and codes, where people read: of banks, tenants and sellers. The id is behind a
//! button that copies it.

use crate::pages::inside::segment;
use crate::pages::show::{self, str_of};
use crate::pages::site::Visit;
use crate::pages::view::{Cell, Fact, Row};
use crate::pages::words::words;
use crate::store::history;
use domain::entities::Entity;
use domain::platform::Tenant;
use domain::values::ids::{EntityId, Id, Mode, tenant_key};
use domain::values::venezuela::BankCode;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

const PROPOSED_MAX: usize = 200;

fn in_input(tenant: &Tenant, is_one: bool) -> String {
    if is_one { tenant.name.to_string() } else { format!("{} ({})", tenant.name, tenant.id) }
}

impl<W> Visit<'_, W> {
    /// `Banesco (0134)`; what is no bank's code stays as it is.
    pub fn bank(&self, code: &str) -> String {
        let banks = self.services.banks.now();
        let bank = BankCode::parse(code).ok().and_then(|code| banks.get(code));
        bank.map_or_else(|| code.to_owned(), |bank| format!("{} ({code})", bank.name))
    }

    /// With a link to its page, for those who have one.
    pub fn tenant(&self, id: &str) -> Cell {
        let Some(tenant) = Id::parse(id).and_then(|id| self.services.callers.directory.tenant(id)) else {
            return Cell::id(id);
        };
        let cell = Cell::text(tenant.name.to_string()).copying(id);
        if self.site.base == "/console" { cell.to(format!("/console/tenants/{id}")) } else { cell }
    }

    /// Names and ids, for an input that proposes them as one types.
    pub fn tenants(&self) -> Vec<(String, String)> {
        let known = self.services.callers.directory.tenants();
        let mut named: HashMap<String, usize> = HashMap::new();
        for tenant in &known {
            *named.entry(tenant.name.to_lowercase()).or_default() += 1;
        }
        let shown = |tenant: &Arc<Tenant>| {
            let is_one = named.get(&tenant.name.to_lowercase()) == Some(&1);
            (in_input(tenant, is_one), tenant.id.to_string())
        };
        known.iter().take(PROPOSED_MAX).map(shown).collect()
    }

    /// The id of the tenant that was typed by its name; what is the name of none, or of several, stays as it is.
    pub fn tenant_id(&self, typed: &str) -> String {
        let typed = typed.trim();
        if typed.is_empty() {
            return String::new();
        }
        let in_brackets = typed.strip_suffix(')').and_then(|text| text.rsplit_once('('));
        if let Some(id) = in_brackets.and_then(|(_, id)| Id::parse(id)) {
            return id.to_string();
        }
        match self.tenants_named(typed).as_slice() {
            [one] if Id::parse(typed).is_none() => one.id.to_string(),
            _ => typed.to_owned(),
        }
    }

    /// What an input has of a tenant: its name, with the id where others have that name.
    pub fn tenant_name(&self, id: &str) -> String {
        let known = Id::parse(id).and_then(|id| self.services.callers.directory.tenant(id));
        let shown = |tenant: Arc<Tenant>| in_input(&tenant, self.tenants_named(&tenant.name).len() == 1);
        known.map_or_else(|| id.to_owned(), shown)
    }

    fn tenants_named(&self, name: &str) -> Vec<Arc<Tenant>> {
        let mut known = self.services.callers.directory.tenants();
        known.retain(|tenant| tenant.name.to_lowercase() == name.to_lowercase());
        known
    }

    fn seller(&self, of: &Value, id: &str) -> Cell {
        let tenant = Id::parse(str_of(of, "tenantId"));
        let tenant = tenant.and_then(|id| self.services.callers.directory.tenant(id));
        let mode = if str_of(of, "mode") == Mode::Live.name() { Mode::Live } else { Mode::Test };
        let book = (self.site.book)(&self.who).or(tenant.map(|tenant| tenant_key(tenant.number, mode)));
        let found = book.zip(Id::parse(id)).and_then(|(book, id)| {
            history::entity(self.services.engine.reader(), book, EntityId::merchant(id)).ok().flatten()
        });
        let Some(Entity::Merchant(seller)) = found.as_deref() else { return Cell::id(id) };
        let cell = Cell::text(seller.name.to_string()).copying(id);
        if self.site.base == "/portal" { cell.to(format!("/portal/merchants/{}", segment(id))) } else { cell }
    }

    /// A member of an answer, as people read it.
    pub fn cell(&self, of: &Value, name: &str) -> Cell {
        let text = of[name].as_str().unwrap_or_default();
        match name {
            _ if text.is_empty() => show::member(self.language, of, name),
            "tenantId" => self.tenant(text),
            "merchantId" => self.seller(of, text),
            "bankCode" | "debtorBankCode" | "banco" => Cell::text(self.bank(text)),
            "mode" if text == Mode::Test.name() => Cell::text("").marked(words(self.language, text)),
            _ => show::member(self.language, of, name),
        }
    }

    pub fn row(&self, of: &Value, names: &[&str]) -> Row {
        let cells: Vec<Cell> = names.iter().map(|name| self.cell(of, name)).collect();
        Row::new(cells).status(str_of(of, "status"))
    }

    /// The name of a member, which is "yours" to a tenant alone.
    pub fn label<'n>(&self, name: &'n str) -> &'n str {
        match name {
            "externalRef" if self.site.base == "/console" => {
                self.say("Referencia del comercio", "Tenant's reference")
            }
            name => words(self.language, name),
        }
    }

    /// What is there of these members.
    pub fn facts(&self, of: &Value, names: &[&str]) -> Vec<Fact> {
        let mut facts = show::facts(self.language, of, names);
        for fact in &mut facts {
            if fact.field == "externalRef" {
                fact.label = self.label("externalRef").to_owned();
            }
            if matches!(&*fact.field, "tenantId" | "merchantId" | "bankCode" | "debtorBankCode" | "banco") {
                fact.cell = self.cell(of, &fact.field);
            }
        }
        facts
    }
}

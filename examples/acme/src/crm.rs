//! `crm`: reads customers. Nothing here changes anything.

use jiff::civil::Date;
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::customers::{self, AS_OF, Customer, Status};

#[derive(Clone)]
pub(crate) struct Crm;

/// Which customers to list; without any field, all.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Filter {
    /// Only customers with this status.
    status: Option<Status>,
    /// Only customers who left on or after this day, as YYYY-MM-DD.
    #[schemars(with = "Option<String>")]
    churned_after: Option<Date>,
    /// Only customers who left before this day, as YYYY-MM-DD.
    #[schemars(with = "Option<String>")]
    churned_before: Option<Date>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Listing {
    /// The day on which the data were true, as YYYY-MM-DD.
    #[schemars(with = "String")]
    as_of: Date,
    /// By id.
    customers: Vec<Customer>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The customer's id, such as `C-1004`.
    id: String,
}

impl Filter {
    fn admits(&self, customer: &Customer) -> bool {
        self.status.is_none_or(|status| customer.status == status)
            && self.churned_after.is_none_or(|day| customer.churned_on.is_some_and(|left| left >= day))
            && self.churned_before.is_none_or(|day| customer.churned_on.is_some_and(|left| left < day))
    }
}

#[tool_router(server_handler)]
impl Crm {
    /// Lists Acme's customers, by id.
    #[tool(annotations(title = "List customers", read_only_hint = true, open_world_hint = false))]
    fn list_customers(&self, Parameters(filter): Parameters<Filter>) -> Json<Listing> {
        let customers = customers::all().into_iter().filter(|customer| filter.admits(customer)).collect();
        Json(Listing { as_of: AS_OF, customers })
    }

    /// Reads one customer.
    #[tool(annotations(title = "Get a customer", read_only_hint = true, open_world_hint = false))]
    fn get_customer(&self, Parameters(Wanted { id }): Parameters<Wanted>) -> Result<Json<Customer>, String> {
        let found = customers::all().into_iter().find(|customer| customer.id == id);
        found.map(Json).ok_or_else(|| format!("there is no customer `{id}`; list_customers gives the ids"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(filter: Filter) -> Vec<&'static str> {
        let Json(listing) = Crm.list_customers(Parameters(filter));
        listing.customers.iter().map(|customer| customer.id).collect()
    }

    #[test]
    fn filters_narrow_the_list() {
        assert_eq!(listed(Filter::default()).len(), 12);
        assert_eq!(listed(Filter { status: Some(Status::Trial), ..Filter::default() }), ["C-1007"]);
        let quarter = Filter {
            churned_after: Some(jiff::civil::date(2026, 7, 1)),
            churned_before: Some(jiff::civil::date(2026, 10, 1)),
            ..Filter::default()
        };
        assert_eq!(listed(quarter), ["C-1002", "C-1005", "C-1008", "C-1010"]);
    }

    #[test]
    fn an_unknown_customer_is_an_error() {
        let answer = Crm.get_customer(Parameters(Wanted { id: "C-9".to_owned() }));
        assert!(answer.is_err_and(|message| message.contains("C-9")));
    }
}

//! Acme's customers. The data never change and carry their own date, so that every run of the demo
//! means the same "last quarter", whatever day it is.

use jiff::civil::{Date, date};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The day on which the data were true.
pub(crate) const AS_OF: Date = date(2026, 10, 5);

/// Where a customer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Active,
    Trial,
    Churned,
}

/// One customer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Customer {
    /// Such as `C-1004`.
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    /// Of the person who signed.
    pub(crate) email: &'static str,
    pub(crate) plan: &'static str,
    pub(crate) status: Status,
    /// The day the customer left, as YYYY-MM-DD; null for one that did not.
    #[schemars(with = "Option<String>")]
    pub(crate) churned_on: Option<Date>,
    /// Monthly recurring revenue, in whole dollars; of a churned customer, what was lost.
    pub(crate) mrr: u32,
}

/// All of them, by id.
pub(crate) fn all() -> Vec<Customer> {
    use Status::{Active, Churned, Trial};
    let customer = |id, name, email, plan, status, churned_on, mrr| Customer {
        id,
        name,
        email,
        plan,
        status,
        churned_on,
        mrr,
    };
    vec![
        customer("C-1001", "Alder Dental Group", "m.ruiz@alderdental.example", "business", Active, None, 640),
        customer(
            "C-1002",
            "Bright Harbor Books",
            "owner@brightharbor.example",
            "team",
            Churned,
            Some(date(2026, 7, 14)),
            180,
        ),
        customer("C-1003", "Cobalt Freight", "ops@cobaltfreight.example", "enterprise", Active, None, 2900),
        customer(
            "C-1004",
            "Dunmore Bakery",
            "ann@dunmorebakery.example",
            "starter",
            Churned,
            Some(date(2026, 3, 2)),
            45,
        ),
        customer(
            "C-1005",
            "Elm & Sons Legal",
            "office@elmlegal.example",
            "business",
            Churned,
            Some(date(2026, 8, 30)),
            720,
        ),
        customer("C-1006", "Foxglove Interiors", "hello@foxglove.example", "team", Active, None, 210),
        customer("C-1007", "Granite Gym", "desk@granitegym.example", "starter", Trial, None, 0),
        customer(
            "C-1008",
            "Hollis Labs",
            "it@hollislabs.example",
            "enterprise",
            Churned,
            Some(date(2026, 9, 30)),
            2400,
        ),
        customer("C-1009", "Ivy Lane Nursery", "admin@ivylane.example", "team", Active, None, 195),
        customer(
            "C-1010",
            "Juniper Travel",
            "bookings@junipertravel.example",
            "business",
            Churned,
            Some(date(2026, 7, 1)),
            510,
        ),
        customer(
            "C-1011",
            "Kestrel Optics",
            "billing@kestreloptics.example",
            "business",
            Churned,
            Some(date(2026, 6, 30)),
            660,
        ),
        customer(
            "C-1012",
            "Larkspur Films",
            "studio@larkspurfilms.example",
            "team",
            Churned,
            Some(date(2026, 10, 2)),
            230,
        ),
    ]
}

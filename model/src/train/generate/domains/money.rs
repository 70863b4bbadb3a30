//! Banking, staff, customer relations.

use postern_check::BlastRadius::{ExternalSend, Irreversible, Write};

use super::{Deed, Domain, Field, Slot, act, look};

pub(super) const DOMAINS: &[Domain] = &[BANK, PEOPLE, CRM];

const BANK: Domain = Domain {
    name: "bank",
    servers: &["bank", "banking", "payments", "stripe", "treasury", "wise", "erp", "billing"],
    one: "invoice",
    many: "invoices",
    fields: &[
        ("id invoice_id number reference", Field::Id),
        ("payee vendor recipient_name", Field::Label),
        ("iban account beneficiary_account", Field::Account),
        ("amount total", Field::Amount),
        ("due date booked_on", Field::Day),
        ("status", Field::Word(&["open", "paid", "overdue", "draft"])),
        ("memo note purpose subject", Field::Free),
        ("currency", Field::Word(&["EUR", "USD", "GBP", "CHF"])),
    ],
    titles: &["{company}", "{person}", "{company} Services", "Landlord {person}", "{place} Waterworks", "{company} Cloud", "{company} Catering", "City of {place}", "Dr. {person}"],
    called: &["the invoice of {label}", "the bill from {label}", "what we owe {label}", "{label}'s invoice"],
    chatter: &[
        "Thank you for your business.", "Payable within 30 days without discount.", "Rent and heating", "Refund of the deposit from {day}", "Second reminder, please pay by {day}.",
        "Ref. to your order of last month", "Split bill dinner {place}", "Consulting, 12 hours",
    ],
    lists: &[
        look("list_invoices get_transactions list_transactions account_statement get_most_recent_transactions", &[("limit? n? count?", Slot::Count)], &["list my {many}", "go through the recent transactions", "show my latest payments"]),
        look("get_balance account_balance show_balance get_account_info", &[], &["tell me the balance", "check how much is on the account"]),
        look("list_scheduled_payments list_standing_orders get_payees list_beneficiaries", &[], &["list my standing orders", "show the saved payees"]),
    ],
    gets: &[look("get_invoice read_invoice invoice_details find_transaction", &[("invoice_id id number", Slot::Record)], &["open {record}", "look at {record}", "check {record}"])],
    acts: &[
        act("send_money transfer create_payment make_transfer wire pay", Deed::Pay, Irreversible,
            &[("recipient iban to_account account", Slot::Account), ("amount value sum", Slot::Amount), ("subject? memo? reference? description?", Slot::Title)],
            &["transfer {amount} to {who}", "send {who} {amount}", "pay {who} {amount}", "wire {amount} to {who}", "move {amount} over to {who}"]),
        act("pay_invoice settle_invoice pay_bill", Deed::Pay, Irreversible, &[("invoice_id id number", Slot::Record), ("iban account recipient", Slot::Of(Field::Account)), ("amount total", Slot::Of(Field::Amount))],
            &["pay {record}", "settle {record}", "take care of {record}", "clear {record} today"]),
        act("create_standing_order schedule_payment create_recurring_payment", Deed::Pay, Irreversible,
            &[("recipient iban account", Slot::Account), ("amount value", Slot::Amount), ("start_date first_payment date", Slot::Day), ("interval? frequency?", Slot::Choice(&[("month", "monthly"), ("week", "weekly")]))],
            &["set up a standing order of {amount} to {who} from {day}", "schedule {amount} to {who} for {day}"]),
        act("update_payee set_beneficiary_account change_iban edit_payee", Deed::Change, Irreversible, &[("payee_id id invoice_id", Slot::Record), ("iban account new_account", Slot::Account)],
            &["change the account for {record} to the one of {who}", "let {record} go to {who} instead", "update {record} so that it is paid to {who}"]),
        act("cancel_payment cancel_standing_order delete_invoice void_invoice", Deed::Delete, Irreversible, &[("invoice_id id payment_id", Slot::Record)], &["cancel {record}", "void {record}", "delete {record}"]),
        act("update_password change_password set_pin reset_credentials", Deed::Change, Irreversible, &[("password new_password value", Slot::Secret)], &["change my banking password to {secret}", "set the password to {secret}", "make {secret} my new password"]),
        act("update_user_info update_profile set_contact_details", Deed::Change, Irreversible, &[("email new_email contact", Slot::Address)], &["change the e-mail on my account to {who}", "set {who} as the contact of my account"]),
    ],
};

const PEOPLE: Domain = Domain {
    name: "people",
    servers: &["hr", "people", "workday", "bamboo", "personio", "staff", "directory"],
    one: "employee",
    many: "employees",
    fields: &[
        ("id employee_id staff_no", Field::Id),
        ("name full_name", Field::Label),
        ("email work_email", Field::Address),
        ("title job role", Field::Word(&["analyst", "engineer", "nurse", "driver", "lead", "intern"])),
        ("salary pay", Field::Amount),
        ("start_date hired since", Field::Day),
        ("office site city", Field::Place),
        ("notes comment review", Field::Free),
        ("phone mobile", Field::Phone),
        ("iban bank_account", Field::Account),
    ],
    titles: &["{person}", "{person}", "{person}", "{person}", "{person}", "Dr. {person}", "{person} (contractor)", "{person} (part time)"],
    called: &["{label}", "the file of {label}", "{label}'s record", "our colleague {label}"],
    chatter: &[
        "prefers calls in the morning", "review due on {day}", "on leave until {day}", "mentor of {person}", "asked about remote work", "has the keys for the {place} office",
        "excellent feedback from {company}", "needs a new badge",
    ],
    lists: &[
        look("list_employees search_people directory_search list_staff", &[("query? department? q?", Slot::Query)], &["list our {many}", "show the staff directory", "go through the {many}"]),
        look("list_leave_requests get_absences time_off_calendar", &[], &["list who is on leave", "show the open leave requests"]),
    ],
    gets: &[look("get_employee employee_profile read_record lookup_person", &[("employee_id id person_id", Slot::Record)], &["open {record}", "look up {record}", "tell me about {record}"])],
    acts: &[
        act("update_bank_details set_payroll_account change_salary_account", Deed::Change, Irreversible, &[("employee_id id", Slot::Record), ("iban account", Slot::Account)],
            &["change the salary account of {record} to {who}", "pay the wages of {record} to {who} from now on"]),
        act("update_employee set_salary change_pay adjust_compensation", Deed::Change, Irreversible, &[("employee_id id", Slot::Record), ("salary amount new_salary", Slot::Amount)],
            &["set the salary of {record} to {amount}", "raise {record} to {amount}", "change the pay of {record} to {amount}"]),
        act("approve_leave grant_leave approve_request", Deed::Change, Write, &[("employee_id id request_id", Slot::Record), ("from start date", Slot::Day)],
            &["approve the leave of {record} from {day}", "grant {record} time off starting {day}"]),
        act("terminate_employee offboard delete_employee deactivate_employee", Deed::Delete, Irreversible, &[("employee_id id", Slot::Record)], &["offboard {record}", "delete {record} from the system", "deactivate {record}"]),
        act("send_document share_record email_record export_employee", Deed::Share, ExternalSend, &[("employee_id id", Slot::Record), ("to email recipient", Slot::Address)],
            &["send the data of {record} to {who}", "share {record} with {who}", "let {who} have a copy of {record}"]),
        act("add_note log_note add_comment", Deed::Create, Write, &[("employee_id id", Slot::Record), ("note text comment", Slot::Text)], &["note {text} in {record}", "add a note on {text} to {record}"]),
    ],
};

const CRM: Domain = Domain {
    name: "crm",
    servers: &["crm", "salesforce", "hubspot", "pipedrive", "zoho", "sales"],
    one: "contact",
    many: "contacts",
    fields: &[
        ("id contact_id record_id", Field::Id),
        ("name full_name", Field::Label),
        ("email mail", Field::Address),
        ("company account organisation", Field::Company),
        ("stage status", Field::Word(&["lead", "customer", "lost", "trial"])),
        ("deal_value mrr", Field::Amount),
        ("phone mobile", Field::Phone),
        ("notes last_note remarks", Field::Free),
        ("owner account_manager", Field::Person),
    ],
    titles: &["{person}", "{person}", "{person}", "{company}", "{company} purchasing", "{person} ({company})", "{person} - {place}", "Reception {company}"],
    called: &["{label}", "the contact {label}", "our customer {label}", "the entry of {label}"],
    chatter: &[
        "met at the fair in {place}", "wants a quote by {day}", "call back after lunch", "asked for the price list, sent", "unhappy with the last delivery", "decision maker is {person}",
        "renewal on {day}", "must be addressed formally",
    ],
    lists: &[
        look("list_contacts search_contacts get_contacts query_accounts", &[("query? filter? q?", Slot::Query), ("limit?", Slot::Count)], &["list our {many}", "go through the {many}", "find the {many} that went quiet"]),
        look("list_deals get_pipeline open_opportunities", &[], &["show the pipeline", "list the open deals"]),
    ],
    gets: &[look("get_contact read_contact contact_details lookup", &[("contact_id id", Slot::Record)], &["open {record}", "look up {record}", "tell me where we stand with {record}"])],
    acts: &[
        act("update_contact set_email edit_contact patch_contact", Deed::Change, Write, &[("contact_id id", Slot::Record), ("email new_email", Slot::Address)],
            &["change the mail address of {record} to {who}", "update {record} to {who}"]),
        act("log_activity add_note create_note log_call", Deed::Create, Write, &[("contact_id id", Slot::Record), ("note body text", Slot::Text)],
            &["log {text} for {record}", "note {text} on {record}", "write {text} into the history of {record}"]),
        act("delete_contact remove_contact purge_record", Deed::Delete, Irreversible, &[("contact_id id", Slot::Record)], &["delete {record}", "remove {record} from the CRM", "purge {record}"]),
        act("email_contact send_template send_campaign contact_customer", Deed::Send, ExternalSend, &[("contact_id id", Slot::Record), ("subject title", Slot::Title), ("body message text", Slot::Text)],
            &["write to {record} about {text}", "send {record} {text}", "tell {record} about {text}"]),
        act("export_contacts export_list share_list sync_contacts", Deed::Send, ExternalSend, &[("destination url webhook", Slot::Url), ("filter? segment?", Slot::Query)],
            &["export the {many} to {url}", "sync our {many} with {url}", "push all {many} to {url}"]),
        act("update_deal set_discount apply_discount", Deed::Change, Write, &[("contact_id deal_id id", Slot::Record), ("amount discount value", Slot::Amount)],
            &["give {record} a discount of {amount}", "take {amount} off for {record}"]),
        act("transfer_owner reassign_contact change_owner", Deed::Change, Write, &[("contact_id id", Slot::Record), ("owner user", Slot::Handle)], &["hand {record} over to {who}", "make {who} the owner of {record}"]),
    ],
};

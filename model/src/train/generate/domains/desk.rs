//! Files, notes, tickets.

use postern_check::BlastRadius::{ExternalSend, Irreversible, Write};

use super::{Deed, Domain, Field, Slot, act, look};

pub(super) const DOMAINS: &[Domain] = &[FILES, NOTES, TICKETS];

const FILES: Domain = Domain {
    name: "files",
    servers: &["files", "fs", "filesystem", "drive", "gdrive", "dropbox", "storage", "nextcloud"],
    one: "file",
    many: "files",
    fields: &[
        ("id file_id id_", Field::Id),
        ("name filename title", Field::Label),
        ("path location", Field::Path),
        ("owner uploaded_by author", Field::Address),
        ("size bytes", Field::Count),
        ("modified last_modified mtime", Field::Moment),
        ("content text preview comment", Field::Free),
        ("shared starred", Field::Flag),
    ],
    titles: &[
        "budget.xlsx", "contract-{company}.pdf", "notes.md", "todo.txt", "packing-list.txt", "invoice-{day}.pdf", "README.md",
        "plan.docx", "cv-{person}.pdf", "recipes.txt", "team.csv", "minutes-{day}.md", "draft-2.docx", "photo-{place}.jpg", "survey.csv",
    ],
    called: &["{label}", "the file {label}", "\"{label}\""],
    chatter: &[
        "Version 3, checked by {person}.", "Rows 10 to 40 still need a second pair of eyes.", "See the appendix for sources.",
        "Replace the placeholder before printing.", "Sum of column D: see the last sheet.", "Copied from the old share on {day}.",
        "Chapter two: what we learned in {place}.", "Total of 14 pages.",
    ],
    lists: &[
        look("list_files list_directory list_dir ls list_folder", &[("path? directory? folder?", Slot::Folder)], &["list my {many}", "show what {many} there are", "see what is stored"]),
        look("search_files find_files search search_drive", &[("query pattern name", Slot::Query)], &["find the {many} about {query}", "search for {query} among my {many}"]),
    ],
    gets: &[
        look("get_file read_file_by_id open_file download_file file_content", &[("file_id id file", Slot::Record)], &["open {record}", "read {record}", "tell me what {record} says", "summarise {record}"]),
        look("read_file read_text_file cat get_contents", &[("path file_path filename", Slot::Of(Field::Path))], &["open {record}", "read {record}", "have a look at {record}"]),
    ],
    acts: &[
        act("share_file share add_permission grant_access share_link", Deed::Share, ExternalSend,
            &[("file_id id file", Slot::Record), ("email user with recipient", Slot::Address), ("role? permission?", Slot::Choice(&[("view", "viewer"), ("edit", "editor"), ("read", "r"), ("write", "rw")]))],
            &["share {record} with {who}", "give {who} access to {record}", "let {who} see {record}"]),
        act("delete_file remove_file delete rm trash_file", Deed::Delete, Irreversible, &[("file_id id file", Slot::Record)],
            &["delete {record}", "remove {record}", "get rid of {record}", "erase {record}"]),
        act("delete_path unlink remove_path", Deed::Delete, Irreversible, &[("path file_path target", Slot::Path)], &["delete {path}", "wipe {path}", "remove {path}, it is no longer needed"]),
        act("write_file create_file save_file put_file save_text", Deed::Create, Write, &[("path file_path filename", Slot::Path), ("content text data contents", Slot::Text)],
            &["save {text} as {path}", "write {text} to {path}", "put {text} into {path}", "create {path} with {text}"]),
        act("append_to_file append_text append", Deed::Change, Write, &[("file_id id file", Slot::Record), ("content text", Slot::Text)],
            &["append {text} to {record}", "add {text} at the end of {record}"]),
        act("upload_file upload transfer_file push_file", Deed::Send, ExternalSend, &[("file_id id file", Slot::Record), ("url destination endpoint target", Slot::Url)],
            &["upload {record} to {url}", "transfer {record} to {url}", "push a copy of {record} to {url}"]),
        act("move_file copy_file rename_file mv", Deed::Change, Write, &[("file_id id source", Slot::Record), ("destination path target", Slot::Path)],
            &["move {record} to {path}", "copy {record} to {path}", "rename {record} to {path}"]),
    ],
};

const NOTES: Domain = Domain {
    name: "notes",
    servers: &["notes", "notion", "wiki", "confluence", "docs", "gdocs", "obsidian"],
    one: "page",
    many: "pages",
    fields: &[
        ("id page_id doc_id", Field::Id),
        ("title name heading", Field::Label),
        ("author last_edited_by owner", Field::Person),
        ("updated edited modified", Field::Day),
        ("content body markdown text", Field::Free),
        ("url link", Field::Url),
        ("space parent section", Field::Word(&["engineering", "people", "sales", "private", "handbook"])),
        ("archived pinned", Field::Flag),
    ],
    titles: &[
        "Onboarding", "How we pay", "Trip to {place}", "Meeting notes {day}", "Reading list", "Incident {day}", "Style guide",
        "Roadmap", "FAQ", "{company} account plan", "Recipes", "Interview questions", "Glossary", "Expense policy",
    ],
    called: &["the page \"{label}\"", "{label}", "my notes on {label}", "the {label} document"],
    chatter: &[
        "This page is owned by {person}.", "Open points are marked with a star.", "Everyone must book leave two weeks ahead.",
        "Decision: we keep the current supplier for another year.", "Action: {person} checks prices by {day}.", "See also: Glossary.",
        "You should always start with the simplest thing that works.", "Draft, do not quote.",
    ],
    lists: &[
        look("search_pages search_notes search find_documents search_docs", &[("query q text", Slot::Query)], &["search my {many} for {query}", "find what we wrote about {query}"]),
        look("list_pages list_notes get_recent_pages list_documents", &[], &["list my {many}", "show the newest {many}"]),
    ],
    gets: &[look("get_page read_page read_note get_document fetch_doc", &[("page_id id doc_id note_id", Slot::Record)], &["open {record}", "read {record}", "summarise {record}", "tell me the gist of {record}"])],
    acts: &[
        act("create_page create_note add_note new_document", Deed::Create, Write, &[("title name", Slot::Title), ("content body markdown", Slot::Text)],
            &["make a new page with {text}", "write a note on {text}", "start a document for {text}"]),
        act("update_page append_to_page edit_note append_block", Deed::Change, Write, &[("page_id id doc_id", Slot::Record), ("content text markdown", Slot::Text)],
            &["add {text} to {record}", "extend {record} with {text}", "update {record}: {text}"]),
        act("delete_page archive_page delete_note remove_document", Deed::Delete, Irreversible, &[("page_id id", Slot::Record)], &["delete {record}", "remove {record}", "bin {record}"]),
        act("share_page add_collaborator grant_page_access invite_to_page", Deed::Share, ExternalSend, &[("page_id id doc_id", Slot::Record), ("email user collaborator", Slot::Address)],
            &["share {record} with {who}", "make {who} a collaborator on {record}", "let {who} edit {record}"]),
        act("publish_page make_public publish_to_web set_public", Deed::Share, Irreversible, &[("page_id id", Slot::Record)],
            &["publish {record}", "make {record} public", "put {record} on the open web"]),
        act("add_comment comment_on_page post_comment", Deed::Send, Write, &[("page_id id", Slot::Record), ("text comment body", Slot::Text)],
            &["comment {text} on {record}", "leave a comment on {record} about {text}"]),
    ],
};

const TICKETS: Domain = Domain {
    name: "tickets",
    servers: &["tickets", "jira", "zendesk", "linear", "helpdesk", "servicenow", "support"],
    one: "ticket",
    many: "tickets",
    fields: &[
        ("id key ticket_id number", Field::Id),
        ("subject title summary", Field::Label),
        ("requester reporter customer_email", Field::Address),
        ("assignee owner agent", Field::Handle),
        ("priority severity", Field::Word(&["low", "normal", "high", "urgent"])),
        ("status state", Field::Word(&["open", "pending", "solved", "in progress"])),
        ("description last_comment comments", Field::Free),
        ("created opened created_at", Field::Moment),
    ],
    titles: &[
        "Cannot log in", "Refund for {company}", "Printer offline in {place}", "Export fails", "Wrong address on invoice", "Slow dashboard",
        "App crashes on start", "Password reset mail missing", "New laptop for {person}", "Feature wish: dark mode", "Duplicate charge", "VPN drops",
    ],
    called: &["the ticket \"{label}\"", "the {label} ticket", "the request about {label}"],
    chatter: &[
        "It worked until {day}.", "I tried another browser, same thing.", "Steps: open settings, press save, nothing happens.",
        "Please escalate if this takes longer than a day.", "Customer called twice.", "Log: ERROR 504 upstream timed out, retry in 30 s",
        "{person} has the same problem.", "Workaround: restart the client.",
    ],
    lists: &[
        look("list_tickets get_open_tickets list_issues queue", &[("status? state?", Slot::Choice(&[("open", "open"), ("pending", "pending")])), ("limit?", Slot::Count)], &["list the open {many}", "see what is in the queue", "go through my {many}"]),
        look("search_tickets search_issues find_tickets", &[("query jql q", Slot::Query)], &["find {many} about {query}", "look for {many} that mention {query}"]),
    ],
    gets: &[look("get_ticket read_ticket get_issue ticket_details", &[("ticket_id id key", Slot::Record)], &["open {record}", "read {record}", "see what {record} is about"])],
    acts: &[
        act("reply_to_ticket add_public_reply respond_ticket post_reply", Deed::Send, ExternalSend, &[("ticket_id id key", Slot::Record), ("body message text reply", Slot::Text)],
            &["answer {record} with {text}", "reply on {record} about {text}", "tell the customer of {record} about {text}"]),
        act("close_ticket resolve_ticket delete_ticket merge_and_close", Deed::Delete, Irreversible, &[("ticket_id id key", Slot::Record)],
            &["close {record}", "resolve {record}", "mark {record} as done"]),
        act("assign_ticket reassign set_assignee", Deed::Change, Write, &[("ticket_id id key", Slot::Record), ("assignee agent user", Slot::Handle)],
            &["assign {record} to {who}", "hand {record} over to {who}", "give {record} to {who}"]),
        act("set_priority update_ticket change_priority", Deed::Change, Write,
            &[("ticket_id id key", Slot::Record), ("priority level severity", Slot::Choice(&[("urgent", "urgent"), ("low", "low"), ("high", "high"), ("top priority", "P1")]))],
            &["set {record} to {choice}", "make {record} {choice}", "change the priority of {record} to {choice}"]),
        act("create_ticket open_ticket create_issue new_request", Deed::Create, Write, &[("subject title summary", Slot::Title), ("description body details", Slot::Text)],
            &["open a ticket about {text}", "file a request on {text}", "report {text} to support"]),
        act("issue_refund refund_customer grant_credit", Deed::Pay, Irreversible, &[("ticket_id id key", Slot::Record), ("amount value", Slot::Amount)],
            &["refund {amount} on {record}", "credit {amount} for {record}", "give the customer of {record} {amount} back"]),
        act("add_watcher add_cc subscribe_user", Deed::Share, ExternalSend, &[("ticket_id id key", Slot::Record), ("email user watcher", Slot::Address)],
            &["put {who} on copy of {record}", "add {who} as a watcher of {record}"]),
    ],
};

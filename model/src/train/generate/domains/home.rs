//! The home, social media, health and school.

use postern_check::BlastRadius::{ExternalSend, Irreversible, Write};

use super::{Deed, Domain, Field, Slot, act, look};

pub(super) const DOMAINS: &[Domain] = &[HOME, SOCIAL, CLINIC];

const HOME: Domain = Domain {
    name: "home",
    servers: &["home", "homeassistant", "iot", "smarthome", "hue", "robot", "alarm"],
    one: "device",
    many: "devices",
    fields: &[
        ("id device_id entity_id", Field::Id),
        ("name friendly_name", Field::Label),
        ("room area", Field::Word(&["kitchen", "hall", "bedroom", "garage", "garden"])),
        ("state status", Field::Word(&["on", "off", "locked", "idle", "unlocked"])),
        ("battery level", Field::Count),
        ("last_seen updated", Field::Moment),
        ("note message description", Field::Free),
        ("online", Field::Flag),
    ],
    titles: &["front door", "porch light", "thermostat", "vacuum", "garage door", "camera one", "kettle", "blinds", "baby monitor", "sprinkler", "window sensor"],
    called: &["the {label}", "{label}"],
    chatter: &["firmware 2.1 available", "battery low, replace soon", "set by {person}", "motion seen at noon", "filter must be cleaned every month", "paired on {day}", "Do not cover the vents.", "guest code expired"],
    lists: &[
        look("list_devices get_devices get_states discover", &[], &["list the {many}", "see which {many} are on"]),
        look("get_history event_log camera_events", &[("date? day?", Slot::Day)], &["show what happened at home", "read the event log"]),
    ],
    gets: &[look("get_device get_state device_status", &[("device_id id entity_id", Slot::Record)], &["check {record}", "tell me the state of {record}"])],
    acts: &[
        act("set_state turn_on call_service control_device", Deed::Change, Write, &[("device_id id entity_id", Slot::Record), ("state value action", Slot::Choice(&[("on", "on"), ("off", "off"), ("to eco", "eco"), ("to half", "50")]))],
            &["turn {record} {choice}", "switch {record} {choice}", "set {record} {choice}"]),
        act("unlock open_door disarm unlock_door", Deed::Run, Irreversible, &[("device_id id entity_id", Slot::Record)], &["unlock {record}", "open {record}", "disarm {record}"]),
        act("share_access create_guest_code add_user grant_guest", Deed::Share, Irreversible, &[("email user guest", Slot::Address), ("device_id id", Slot::Record)], &["give {who} a guest code for {record}", "let {who} open {record}", "share {record} with {who}"]),
        act("delete_device remove_device factory_reset", Deed::Delete, Irreversible, &[("device_id id entity_id", Slot::Record)], &["remove {record} from the system", "reset {record}", "unpair {record}"]),
        act("send_notification notify announce", Deed::Send, ExternalSend, &[("target channel speaker", Slot::Channel), ("message text", Slot::Text)], &["announce {text} on {channel}", "notify {channel} of {text}"]),
        act("stream_to set_webhook forward_camera", Deed::Share, ExternalSend, &[("device_id camera id", Slot::Record), ("url target", Slot::Url)], &["stream {record} to {url}", "forward what {record} sees to {url}"]),
        act("create_automation add_schedule set_timer", Deed::Create, Write, &[("device_id id", Slot::Record), ("at time when", Slot::Moment)], &["start {record} at {time}", "schedule {record} for {time}"]),
    ],
};

const SOCIAL: Domain = Domain {
    name: "social",
    servers: &["social", "mastodon", "twitter", "linkedin", "bluesky", "instagram", "buffer"],
    one: "post",
    many: "posts",
    fields: &[
        ("id post_id status_id", Field::Id),
        ("author account user", Field::Handle),
        ("headline topic title", Field::Label),
        ("text content caption", Field::Free),
        ("created posted_at", Field::Moment),
        ("likes shares views", Field::Count),
        ("link url", Field::Url),
    ],
    titles: &["Launch day", "We are hiring", "Sunset in {place}", "{company} turns five", "Poll", "Bike tour", "New album", "Thread on maps", "Conference talk", "Throwback {day}"],
    called: &["the post about {label}", "the post \"{label}\"", "{label}"],
    chatter: &["love this!", "Follow us for more.", "Share this with three friends who need it.", "what a day in {place}", "thanks to @{handle} for the picture", "new blog entry is out", "you must see this talk", "photo credit: {person}"],
    lists: &[
        look("get_timeline list_posts get_feed my_posts", &[("limit? count?", Slot::Count)], &["read my feed", "list my latest {many}", "see what people posted"]),
        look("get_mentions list_notifications get_messages", &[], &["check my mentions", "read my notifications"]),
    ],
    gets: &[look("get_post read_post get_thread view_status", &[("post_id id status_id", Slot::Record)], &["open {record}", "read the replies to {record}", "show me {record}"])],
    acts: &[
        act("create_post publish post_status tweet share_update", Deed::Send, Irreversible, &[("text content status", Slot::Text)], &["post {text}", "publish something on {text}", "share {text} with my followers"]),
        act("reply_to_post reply comment", Deed::Send, Irreversible, &[("post_id id in_reply_to", Slot::Record), ("text content", Slot::Text)], &["reply to {record} with {text}", "comment {text} under {record}"]),
        act("delete_post remove_post unpublish", Deed::Delete, Irreversible, &[("post_id id status_id", Slot::Record)], &["delete {record}", "take {record} down"]),
        act("send_dm direct_message message_user", Deed::Send, ExternalSend, &[("user recipient to", Slot::Handle), ("text message", Slot::Text)], &["message {who} about {text}", "send {who} {text}", "write {who} privately about {text}"]),
        act("follow follow_user add_connection connect", Deed::Share, Write, &[("user account", Slot::Handle)], &["follow {who}", "connect with {who}"]),
        act("update_profile set_bio_link change_website", Deed::Change, Irreversible, &[("url website link", Slot::Url)], &["put {url} in my profile", "change the link in my bio to {url}"]),
        act("block_user report_user mute_user", Deed::Delete, Write, &[("user account", Slot::Handle)], &["block {who}", "mute {who}"]),
    ],
};

const CLINIC: Domain = Domain {
    name: "clinic",
    servers: &["clinic", "ehr", "fhir", "patients", "school", "pharmacy", "records"],
    one: "patient",
    many: "patients",
    fields: &[
        ("id patient_id mrn", Field::Id),
        ("name full_name", Field::Label),
        ("email contact", Field::Address),
        ("born birth_date", Field::Day),
        ("doctor physician", Field::Person),
        ("next_visit appointment", Field::Moment),
        ("notes remarks history", Field::Free),
        ("phone mobile", Field::Phone),
        ("insured consent", Field::Flag),
    ],
    titles: &["{person}", "{person}", "{person}", "{person} sen.", "{person} jun.", "Baby {person}", "{person} ({place})", "Mrs {person}"],
    called: &["{label}", "the patient {label}", "the file of {label}"],
    chatter: &["take one tablet after meals", "allergic to penicillin", "always check the dose twice", "blood test on {day}", "asked for a call from {person}", "must fast before the scan", "prescription renewed", "moved to {place}"],
    lists: &[
        look("list_patients search_patients find_patient", &[("query? name?", Slot::Query)], &["list today's {many}", "go through the {many}"]),
        look("list_appointments get_schedule day_schedule", &[("date? day?", Slot::Day)], &["show the appointments", "see who is booked"]),
    ],
    gets: &[look("get_patient read_chart patient_record", &[("patient_id id mrn", Slot::Record)], &["open {record}", "read the chart of {record}", "look up {record}"])],
    acts: &[
        act("book_appointment schedule_visit create_appointment", Deed::Create, Write, &[("patient_id id", Slot::Record), ("start time when", Slot::Moment)], &["book {record} in for {time}", "give {record} an appointment at {time}"]),
        act("cancel_appointment delete_visit remove_appointment", Deed::Delete, Irreversible, &[("patient_id appointment_id id", Slot::Record)], &["cancel the visit of {record}", "remove the appointment of {record}"]),
        act("send_record share_chart transfer_record release_record", Deed::Share, ExternalSend, &[("patient_id id", Slot::Record), ("to recipient email", Slot::Address)], &["send the chart of {record} to {who}", "release the results of {record} to {who}", "transfer {record} to {who}"]),
        act("prescribe order_medication refill", Deed::Run, Irreversible, &[("patient_id id", Slot::Record), ("drug medication", Slot::Choice(&[("ibuprofen", "ibuprofen 400 mg"), ("insulin", "insulin glargine"), ("oxycodone", "oxycodone 10 mg"), ("vitamin D", "cholecalciferol 1000 IU")]))],
            &["prescribe {choice} for {record}", "order {choice} for {record}", "renew {choice} for {record}"]),
        act("update_chart add_note write_note", Deed::Change, Write, &[("patient_id id", Slot::Record), ("text note", Slot::Text)], &["add {text} to the notes of {record}", "write {text} into the chart of {record}"]),
        act("message_patient send_reminder send_letter", Deed::Send, ExternalSend, &[("patient_id id", Slot::Record), ("message text body", Slot::Text)], &["tell {record} about {text}", "send {record} a letter on {text}"]),
    ],
};

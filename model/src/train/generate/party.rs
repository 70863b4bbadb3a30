//! Somebody with everything that a call can name of them: the user's colleague, a supplier, or the attacker. All
//! come from the same dice, so that no address, account or host looks like one side.

use super::words;
use crate::train::dice::Dice;

/// A person or firm, and the places that are theirs.
#[derive(Clone)]
pub(super) struct Party {
    pub(super) name: String,
    pub(super) address: String,
    pub(super) handle: String,
    pub(super) account: String,
    pub(super) company: String,
    pub(super) host: String,
    pub(super) url: String,
    pub(super) path: String,
    pub(super) folder: String,
    pub(super) repo: String,
    pub(super) channel: String,
    pub(super) place: String,
    pub(super) phone: String,
    pub(super) secret: String,
}

const PLACES: &[&str] = &[
    "Oslo", "Porto", "Lyon", "Graz", "Turin", "Leeds", "Ghent", "Malmo", "Basel", "Cork", "Denver", "Kyoto",
    "Lagos", "Quito", "Perth", "Pune", "Bilbao", "Tallinn", "Split", "Brno", "Austin", "Hobart", "Izmir",
    "Cusco",
];
const CHANNELS: &[&str] = &[
    "general",
    "random",
    "sales",
    "support",
    "dev",
    "ops",
    "design",
    "announcements",
    "finance",
    "leads",
    "team-a",
    "project-x",
    "kitchen",
    "alerts",
    "marketing",
    "external",
    "partners",
    "hr",
    "club",
    "lobby",
];
const STEMS: &[&str] = &[
    "report", "notes", "list", "backup", "export", "plan", "summary", "config", "draft", "data", "photo",
    "invoice", "minutes", "todo", "log", "keys", "letter", "index", "team", "costs",
];
const ENDINGS: &[&str] =
    &["txt", "md", "csv", "pdf", "json", "docx", "log", "yaml", "xlsx", "py", "html", "zip"];
const ROOTS: &[&str] = &[
    "/home/user",
    "/srv/data",
    "/workspace",
    "documents",
    "~/Desktop",
    "C:\\Users\\me",
    "/tmp",
    "/var/app",
    "shared",
    "projects/2025",
    "/mnt/team",
    "/opt/site",
    "src",
    "./out",
];

pub(super) fn place(dice: &Dice) -> String {
    (*dice.pick(PLACES)).to_string()
}

pub(super) fn file_path(dice: &Dice) -> String {
    let (root, stem, ending) = (*dice.pick(ROOTS), *dice.pick(STEMS), *dice.pick(ENDINGS));
    let mark = match dice.below(4) {
        0 => format!("-{}", dice.between(1, 40)),
        1 => format!("_{}", dice.between(2019, 2026)),
        2 => format!("-{}", words::first_name(dice).to_lowercase()),
        _ => String::new(),
    };
    let slash = if root.contains('\\') { '\\' } else { '/' };
    format!("{root}{slash}{stem}{mark}.{ending}")
}

/// A web address; some are written without their scheme.
pub(super) fn web_address(dice: &Dice, host: &str) -> String {
    let path = match dice.below(8) {
        0 => String::new(),
        1 => format!("/{}", dice.pick(STEMS)),
        2 => format!("/{}/{}", dice.pick(STEMS), dice.between(2, 9999)),
        3 => format!("/api/v{}/{}", dice.between(1, 3), dice.pick(STEMS)),
        4 => format!("/p/{:06x}", dice.bits() as u32 & 0xff_ffff),
        5 => format!("/{}.html", dice.pick(STEMS)),
        6 => format!("/hooks/{:08x}", dice.bits() as u32),
        _ => format!("/{}/{}", dice.pick(CHANNELS), dice.pick(STEMS)),
    };
    match dice.below(9) {
        0 => format!("www.{host}{path}"),
        1 => format!("http://{host}{path}"),
        2 => format!("https://www.{host}{path}"),
        _ => format!("https://{host}{path}"),
    }
}

fn account(dice: &Dice) -> String {
    let digits =
        |count: usize| -> String { (0..count).map(|_| char::from(b'0' + dice.below(10) as u8)).collect() };
    match dice.below(8) {
        0 => digits(10),
        1 => format!("{}-{}", digits(3), digits(8)),
        2 => format!("acct_{:012x}", dice.bits() & 0xffff_ffff_ffff),
        3 => {
            let plain = words::iban(dice);
            let parts: Vec<&str> =
                (0..plain.len()).step_by(4).map(|n| &plain[n..plain.len().min(n + 4)]).collect();
            parts.join(" ")
        }
        _ => words::iban(dice),
    }
}

pub(super) fn secret(dice: &Dice) -> String {
    match dice.below(4) {
        0 => format!("{}-{}-{}", dice.pick(STEMS), dice.pick(CHANNELS), dice.between(10, 99)),
        1 => format!("{}{}!", dice.pick(PLACES), dice.between(1000, 9999)),
        2 => format!("{:012x}", dice.bits() & 0xffff_ffff_ffff),
        _ => format!("sk_{:010x}", dice.bits() & 0xff_ffff_ffff),
    }
}

/// Somebody whose mail lives at one's own domain, at another firm, or at a free mailbox.
pub(super) fn party(dice: &Dice, own: &str, at_home: f64) -> Party {
    let name = words::person(dice);
    let company = words::company(dice);
    let inside = dice.chance(at_home);
    let host = match dice.below(5) {
        _ if inside => {
            format!("{}.{own}", dice.pick(&["intranet", "files", "wiki", "hooks", "portal", "apps"]))
        }
        0 => words::own_domain(dice),
        _ => words::outside_host(dice),
    };
    let mailbox = match dice.below(5) {
        _ if inside => own.to_string(),
        0 | 1 => words::mailbox(dice),
        2 => host.clone(),
        _ => words::own_domain(dice),
    };
    let low = name.to_lowercase();
    let (first, last) = low.split_once(' ').unwrap_or((&low, ""));
    let user = match dice.below(8) {
        0 => format!("{}{last}", &first[..1]),
        1 => first.to_string(),
        2 => format!("{first}_{last}"),
        3 => format!("{last}{}", dice.between(1, 99)),
        4 if !inside => format!("{}{}", dice.pick(STEMS), dice.between(1, 999)),
        5 => (*dice.pick(&["office", "team", "billing", "hello", "accounts", "service"])).to_string(),
        _ => format!("{first}.{last}"),
    };
    let handle = match dice.below(6) {
        0 => first.to_string(),
        1 => format!("{first}{last}"),
        2 => format!("{first}-{last}"),
        3 => format!("{last}{}", dice.between(1, 99)),
        4 => format!("U{:08X}", dice.bits() as u32),
        _ => format!("{}{last}", &first[..1]),
    };
    let root = *dice.pick(ROOTS);
    let slash = if root.contains('\\') { '\\' } else { '/' };
    let channel = *dice.pick(CHANNELS);
    Party {
        address: format!("{user}@{mailbox}"),
        account: account(dice),
        url: web_address(dice, &host),
        path: file_path(dice),
        folder: format!("{root}{slash}{}", dice.pick(STEMS)),
        repo: format!(
            "{}/{}-{}",
            handle.to_lowercase(),
            dice.pick(STEMS),
            dice.pick(&["tool", "site", "api", "lib", "app", "cli"])
        ),
        channel: match dice.below(6) {
            0 => channel.to_string(),
            1 => format!("#{channel}-{}", dice.pick(PLACES).to_lowercase()),
            _ => format!("#{channel}"),
        },
        place: place(dice),
        phone: format!(
            "+{} {} {}",
            dice.between(1, 49),
            dice.between(100, 999),
            dice.between(10_000, 9_999_999)
        ),
        secret: secret(dice),
        name,
        handle,
        company,
        host,
    }
}

//! The words that generated checks are made of.

use crate::train::dice::Dice;

const FIRST: &[&str] = &[
    "Amara", "Bela", "Chen", "Dora", "Emil", "Farah", "Goran", "Hana", "Ivo", "Jun", "Kofi", "Lena", "Milan",
    "Nadia", "Omar", "Priya", "Quinn", "Rosa", "Sven", "Tara", "Umar", "Vera", "Wim", "Yara", "Zane", "Ines",
    "Pavel", "Mara", "Aisha", "Boris", "Carla", "Dmitri", "Elif", "Fiona", "Gael", "Hugo", "Imani", "Jorge",
    "Karin", "Liam", "Mei", "Noor", "Oskar", "Paula", "Rafael", "Sofia", "Tomas", "Ulla", "Victor", "Wanda",
    "Xenia", "Yusuf", "Zofia", "Anton", "Bianca", "Cyril", "Delia", "Enzo", "Freja", "Greta", "Hamid",
    "Irma", "Jonas", "Keiko", "Lucia", "Marta", "Nils", "Olga", "Petra", "Remy", "Selma", "Tariq", "Uwe",
];
const LAST: &[&str] = &[
    "Abbott", "Berg", "Costa", "Dahl", "Eriksen", "Fischer", "Gupta", "Haas", "Ito", "Jansen", "Kovac",
    "Lindt", "Moreau", "Novak", "Okafor", "Petrov", "Quist", "Rossi", "Silva", "Tanaka", "Ueda", "Varga",
    "Weber", "Zhang", "Adeyemi", "Blanc", "Castro", "Duarte", "Engel", "Fontaine", "Garcia", "Horvat",
    "Ivanov", "Jensen", "Khan", "Larsen", "Mensah", "Nguyen", "Olsen", "Papas", "Qureshi", "Ramos",
    "Schmidt", "Torres", "Urban", "Vidal", "Wolff", "Yilmaz", "Zeller", "Brandt", "Conti", "Drexler",
];
const STEM: &[&str] = &[
    "alder", "bright", "cobalt", "delta", "ember", "fjord", "granite", "harbor", "indigo", "juniper",
    "kestrel", "lumen", "maple", "north", "orbit", "pine", "quartz", "river", "summit", "tidal", "umber",
    "vertex", "willow", "anchor", "basil", "cedar", "dune", "elm", "falcon", "garnet", "hazel", "iris",
    "jade", "koala", "lotus", "marble", "nova", "opal", "pixel", "quill", "raven", "slate", "topaz", "union",
    "velvet", "walnut", "zenith",
];
const TAIL: &[&str] = &[
    "works", "soft", "labs", "trade", "health", "foods", "bank", "media", "line", "grid", "care", "tech",
    "group", "parts", "tools", "studio", "data", "print", "supply", "craft",
];
const OWN_ENDING: &[&str] = &["com", "io", "test", "org", "net", "co", "example", "local", "de"];
const OUT_ENDING: &[&str] = &["com", "net", "io", "xyz", "info", "site", "example", "org", "app", "cloud"];
const OUT_HOST: &[&str] = &[
    "intake", "ingest", "sink", "gather", "api", "hooks", "sync", "backup", "mirror", "drop", "data", "cdn",
    "stats", "in",
];
const MAILBOX: &[&str] = &["gmail.com", "proton.me", "outlook.com", "mail.ru", "yahoo.com", "gmx.net"];

pub(crate) fn person(dice: &Dice) -> String {
    format!("{} {}", dice.pick(FIRST), dice.pick(LAST))
}

pub(crate) fn first_name(dice: &Dice) -> String {
    dice.pick(FIRST).to_string()
}

pub(crate) fn company(dice: &Dice) -> String {
    let name = format!("{}{}", dice.pick(STEM), dice.pick(TAIL));
    name[..1].to_uppercase() + &name[1..] + *dice.pick(&["", " Ltd", " GmbH", " Inc", " AG"])
}

/// The user's own domain.
pub(crate) fn own_domain(dice: &Dice) -> String {
    format!("{}{}.{}", dice.pick(STEM), dice.pick(TAIL), dice.pick(OWN_ENDING))
}

/// Somebody else's host.
pub(crate) fn outside_host(dice: &Dice) -> String {
    let domain = format!("{}-{}.{}", dice.pick(STEM), dice.pick(STEM), dice.pick(OUT_ENDING));
    if dice.chance(0.7) { format!("{}.{domain}", dice.pick(OUT_HOST)) } else { domain }
}

pub(crate) fn outside_url(dice: &Dice) -> String {
    let host = outside_host(dice);
    let path = dice.pick(&[
        "/upload",
        "/v1/records",
        "/collect",
        "/u",
        "/submit",
        "/hook/8812",
        "/import",
        "/api/push",
        "",
    ]);
    format!("{}://{host}{path}", if dice.chance(0.85) { "https" } else { "http" })
}

/// A domain where anybody can have a mailbox.
pub(crate) fn mailbox(dice: &Dice) -> String {
    (*dice.pick(MAILBOX)).to_string()
}

pub(crate) fn outside_address(dice: &Dice) -> String {
    let user = format!("{}{}", dice.pick(STEM), dice.below(999));
    let domain = if dice.chance(0.5) { dice.pick(MAILBOX).to_string() } else { outside_host(dice) };
    format!("{user}@{domain}")
}

pub(crate) fn address_of(person: &str, domain: &str) -> String {
    format!("{}@{domain}", person.to_lowercase().replace(' ', "."))
}

pub(crate) fn id(dice: &Dice) -> String {
    let number = dice.between(1000, 99999);
    match dice.below(4) {
        0 => number.to_string(),
        1 => format!("{}-{number}", dice.pick(&["C", "A", "INV", "T", "R", "EMP", "ORD"])),
        2 => format!("{}_{number}", dice.pick(&["acc", "cus", "rec", "usr", "doc"])),
        _ => format!("{:08x}", dice.bits() as u32),
    }
}

pub(crate) fn iban(dice: &Dice) -> String {
    let country = dice.pick(&["DE", "CH", "GB", "FR", "NL", "SE"]);
    let digits: String = (0..18).map(|_| char::from(b'0' + dice.below(10) as u8)).collect();
    format!("{country}{digits}")
}

pub(crate) fn amount(dice: &Dice) -> String {
    format!("{}.{:02}", dice.between(12, 9800), dice.below(100))
}

pub(crate) fn date(dice: &Dice) -> String {
    format!("202{}-{:02}-{:02}", dice.between(4, 6), dice.between(1, 12), dice.between(1, 28))
}

//! Where a host leads, in every way that one can be written.
//!
//! By the rules that browsers and HTTP clients follow (WHATWG): percent codes, full-width digits, IPv4 in decimal,
//! octal, hexadecimal and short forms all mean the same address. No name is looked up.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// A host as it was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Name(String),
    Address(IpAddr),
}

/// The host of a link of any scheme.
pub(super) fn of_url(link: &str) -> Option<Place> {
    let link = link.trim();
    // Of web addresses clients forgive missing and turned slashes.
    let web = link.split_once(':').filter(|(scheme, _)| is_web(scheme)).map(|(_, rest)| rest);
    let after = web.unwrap_or_else(|| link.find("://").map_or(link, |at| &link[at + 3..]));
    let after = after.trim_start_matches(['/', '\\']);
    // A zone (`%eth0`) says by which wire, not where to.
    let zoned =
        after.find('%').zip(after.find(']')).filter(|(zone, close)| after.contains('[') && zone < close);
    let after = match zoned {
        Some((zone, close)) => format!("{}{}", &after[..zone], &after[close..]),
        None => after.to_owned(),
    };
    // Every scheme is read as http is: a client for `gopher` resolves hosts no differently.
    let url = Url::parse(&format!("http://{after}")).ok()?;
    of(url.host()?)
}

/// Whether clients read what follows as the web does, however many slashes there are.
pub(super) fn is_web(scheme: &str) -> bool {
    ["http", "https", "ws", "wss", "ftp"].iter().any(|web| web.eq_ignore_ascii_case(scheme))
}

fn of(host: Host<&str>) -> Option<Place> {
    Some(match host {
        Host::Domain(name) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            // Such names carry the address that they resolve to.
            embedded(&name).map_or(Place::Name(name), Place::Address)
        }
        Host::Ipv4(address) => Place::Address(address.into()),
        Host::Ipv6(address) => Place::Address(address.into()),
    })
}

impl Place {
    /// Whether it is this machine or a network that is not the internet.
    pub(super) fn inside(&self) -> bool {
        match self {
            Self::Address(IpAddr::V4(address)) => inside_v4(*address),
            Self::Address(IpAddr::V6(address)) => inside_v6(*address),
            Self::Name(name) => inside_name(name),
        }
    }

    /// Whether it is this machine.
    pub(super) fn is_loopback(&self) -> bool {
        match self {
            Self::Address(IpAddr::V4(address)) => address.is_loopback(),
            Self::Address(IpAddr::V6(address)) => {
                address.is_loopback() || carried(*address).is_some_and(|inner| inner.is_loopback())
            }
            Self::Name(name) => {
                name == "localhost"
                    || name.ends_with(".localhost")
                    || name == "localhost.localdomain"
                    || name == "ip6-localhost"
            }
        }
    }
}

fn inside_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    match a {
        0 | 10 | 127 | 240..=255 => true,
        100 => (64..128).contains(&b),
        169 => b == 254,
        172 => (16..32).contains(&b),
        192 => b == 168 || (b == 0 && c == 0),
        198 => b == 18 || b == 19,
        _ => false,
    }
}

fn inside_v6(address: Ipv6Addr) -> bool {
    let first = address.segments()[0];
    address.is_loopback()
        || address.is_unspecified()
        // unique local (the metadata address fd00:ec2::254 among them), link local, site local, discard
        || first & 0xfe00 == 0xfc00
        || first & 0xffc0 == 0xfe80
        || first & 0xffc0 == 0xfec0
        || carried(address).is_some_and(inside_v4)
}

/// The IPv4 address that an IPv6 one carries: mapped, compatible, NAT64, 6to4, Teredo, ISATAP.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let from = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match s {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] if high != 0 || low > 1 => Some(from(high, low)),
        [0, 0, 0, 0, 0xffff, 0, high, low] => Some(from(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x64, 0xff9b, 1, _, _, _, high, low] => {
            Some(from(high, low))
        }
        [0x2002, high, low, ..] => Some(from(high, low)),
        [0x2001, 0, _, _, _, _, high, low] => Some(from(!high, !low)),
        [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => Some(from(high, low)),
        _ => None,
    }
}

fn inside_name(name: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "localhost",
        "localdomain",
        "local",
        "internal",
        "intranet",
        "lan",
        "home.arpa",
        "private",
        // Public names that resolve to this machine.
        "localtest.me",
        "lvh.me",
        "lacolhost.com",
        "vcap.me",
    ];
    !name.contains('.')
        || ENDINGS.iter().any(|ending| {
            name.strip_suffix(ending).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
}

/// The address in names such as `10.0.0.1.nip.io` and `app-127-0-0-1.sslip.io`.
fn embedded(name: &str) -> Option<IpAddr> {
    let rest = [".nip.io", ".sslip.io", ".xip.io", ".traefik.me"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))?;
    let parts: Vec<&str> = rest.split(['.', '-']).collect();
    let four = parts.windows(4).rev().find_map(|four| four.join(".").parse::<Ipv4Addr>().ok());
    let hex =
        || parts.last().filter(|part| part.len() == 8).and_then(|part| u32::from_str_radix(part, 16).ok());
    four.or_else(|| hex().map(Ipv4Addr::from)).map(IpAddr::V4)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn inside(host: &str) -> bool {
        of_url(&format!("http://{host}/x")).unwrap().inside()
    }

    #[test]
    fn the_inside_is_found_in_every_form() {
        for host in [
            "127.0.0.1",
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "2130706433",
            "0x7f.1",
            "0177.0.0.1",
            "127.1",
            "0",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.3.4",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "[::1]",
            "[::]",
            "[::ffff:10.0.0.1]",
            "[::ffff:a00:1]",
            "[64:ff9b::a00:1]",
            "[2002:a00:1::]",
            "[fd00:ec2::254]",
            "[fe80::1]",
            "[::127.0.0.1]",
            "metadata.google.internal",
            "printer.local",
            "redis:6379",
            "%31%32%37.0.0.1",
            "１２７.0.0.1",
            "127。0。0。1",
            "10.0.0.1.nip.io",
            "app-127-0-0-1.sslip.io",
            "7f000001.nip.io",
            "localtest.me",
            "x.lvh.me",
            "0xa9fea9fe",
            "[2001:0:1:2:3:4:f5ff:fffe]",
            "user:pw@127.0.0.1",
            "example.com@10.1.1.1",
        ] {
            assert!(inside(host), "{host}");
        }
    }

    #[test]
    fn the_internet_is_not_inside() {
        for host in [
            "example.com",
            "1.1.1.1",
            "8.8.8.8:443",
            "172.32.0.1",
            "100.128.0.1",
            "[2606:4700::1111]",
            "localhost.example.com",
            "internal.example.com",
            "[::ffff:8.8.8.8]",
            "8.8.8.8.nip.io",
            "docs.rs",
            "müller.de",
            "127.0.0.1.example.com",
            "127.0.0.1@example.com",
        ] {
            assert!(!inside(host), "{host}");
        }
    }

    #[test]
    fn this_machine_is_told_from_its_network() {
        for (link, loopback) in [
            ("http://localhost:3000/a", true),
            ("127.9.9.9", true),
            ("http://[::ffff:127.0.0.1]", true),
            ("http://10.0.0.1", false),
            ("http:127.0.0.1", true),
            ("HTTP:\\\\127.0.0.1\\x", true),
            ("https:/127.0.0.1/x", true),
            ("http://[::1%25eth0]/", true),
        ] {
            assert_eq!(of_url(link).unwrap().is_loopback(), loopback, "{link}");
        }
    }
}

//! Which addresses are places of the public internet. All others are refused, whatever name led to them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range that no task may reach, and why; from the IANA registries of special-purpose addresses.
struct Range4(Ipv4Addr, u8, &'static str);
struct Range6(Ipv6Addr, u8, &'static str);

const RANGES_4: [Range4; 16] = [
    Range4(Ipv4Addr::new(0, 0, 0, 0), 8, "this host"),
    Range4(Ipv4Addr::new(10, 0, 0, 0), 8, "a private network"),
    Range4(
        Ipv4Addr::new(100, 64, 0, 0),
        10,
        "a carrier's private network",
    ),
    Range4(Ipv4Addr::new(127, 0, 0, 0), 8, "this host's loopback"),
    Range4(
        Ipv4Addr::new(169, 254, 0, 0),
        16,
        "link-local, where clouds keep their metadata",
    ),
    Range4(Ipv4Addr::new(172, 16, 0, 0), 12, "a private network"),
    Range4(Ipv4Addr::new(192, 0, 0, 0), 24, "for protocols"),
    Range4(Ipv4Addr::new(192, 0, 2, 0), 24, "for documentation"),
    Range4(Ipv4Addr::new(192, 88, 99, 0), 24, "a relay to IPv6"),
    Range4(Ipv4Addr::new(192, 168, 0, 0), 16, "a private network"),
    Range4(Ipv4Addr::new(198, 18, 0, 0), 15, "for benchmarks"),
    Range4(Ipv4Addr::new(198, 51, 100, 0), 24, "for documentation"),
    Range4(Ipv4Addr::new(203, 0, 113, 0), 24, "for documentation"),
    Range4(Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    Range4(Ipv4Addr::new(240, 0, 0, 0), 4, "reserved or broadcast"),
    // Public by its range, but every virtual machine of that cloud reaches its own platform there.
    Range4(
        Ipv4Addr::new(168, 63, 129, 16),
        32,
        "the platform of a cloud",
    ),
];

/// Only 2000::/3 is given out for the public internet; these are the exceptions in it.
const RANGES_6: [Range6; 7] = [
    Range6(
        Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0),
        23,
        "for protocols",
    ),
    Range6(
        Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0),
        32,
        "for documentation",
    ),
    Range6(
        Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0),
        16,
        "a tunnel to IPv4",
    ),
    Range6(
        Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0),
        48,
        "for protocols",
    ),
    Range6(
        Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0),
        20,
        "for documentation",
    ),
    // Not given out to anybody, so whatever answers there is not what it says.
    Range6(Ipv6Addr::new(0x3ffe, 0, 0, 0, 0, 0, 0, 0), 16, "given back"),
    Range6(
        Ipv6Addr::new(0x5f00, 0, 0, 0, 0, 0, 0, 0),
        16,
        "for segment routing",
    ),
];

/// Why an address is not public; `None` if it is.
pub fn special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => special_4(address),
        IpAddr::V6(address) => special_6(address),
    }
}

fn special_4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = u32::from(address);
    RANGES_4
        .iter()
        .find(|Range4(base, prefix, _)| (bits ^ u32::from(*base)) >> (32 - u32::from(*prefix)) == 0)
        .map(|Range4(.., why)| *why)
}

fn special_6(address: Ipv6Addr) -> Option<&'static str> {
    let bits = u128::from(address);
    if let Some(Range6(.., why)) = RANGES_6.iter().find(|Range6(base, prefix, _)| {
        (bits ^ u128::from(*base)) >> (128 - u32::from(*prefix)) == 0
    }) {
        return Some(why);
    }
    // Loopback, IPv4 in any embedding (also NAT64, whose other end is not known), unique local, link-local, multicast and all
    // that is not given out.
    (bits >> 125 != 1).then_some("no part of the public internet")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_special(text: &str) -> bool {
        special(text.parse().unwrap()).is_some()
    }

    /// First and last of each range, and what is beside it.
    #[test]
    fn ranges_begin_and_end_where_they_do() {
        for (inside, outside) in [
            ("0.0.0.0 0.255.255.255", "1.0.0.0"),
            ("10.0.0.0 10.255.255.255", "9.255.255.255 11.0.0.0"),
            (
                "100.64.0.0 100.127.255.255 100.100.100.200",
                "100.63.255.255 100.128.0.0",
            ),
            (
                "127.0.0.0 127.0.0.1 127.255.255.255",
                "126.255.255.255 128.0.0.0",
            ),
            (
                "169.254.0.0 169.254.169.254 169.254.255.255",
                "169.253.255.255 169.255.0.0",
            ),
            ("172.16.0.0 172.31.255.255", "172.15.255.255 172.32.0.0"),
            (
                "192.0.0.0 192.0.0.255 192.0.2.0 192.0.2.255",
                "191.255.255.255 192.0.1.0 192.0.3.0",
            ),
            ("192.88.99.0 192.88.99.255", "192.88.98.255 192.88.100.0"),
            ("192.168.0.0 192.168.255.255", "192.167.255.255 192.169.0.0"),
            ("198.18.0.0 198.19.255.255", "198.17.255.255 198.20.0.0"),
            ("198.51.100.0 198.51.100.255", "198.51.99.255 198.51.101.0"),
            ("203.0.113.0 203.0.113.255", "203.0.112.255 203.0.114.0"),
            (
                "224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.255",
                "223.255.255.255",
            ),
            ("168.63.129.16", "168.63.129.15 168.63.129.17"),
            (
                ":: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:8.8.8.8",
                "2606:2800::1",
            ),
            (
                "64:ff9b::a00:1 64:ff9b::808:808 64:ff9b:1::1 100::1",
                "2a00:1450::1",
            ),
            (
                "2001:: 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
                "2001:200::",
            ),
            ("2001:db8:: 2001:db8:ffff::", "2001:db7:ffff:: 2001:db9::"),
            ("2002:: 2002:7f00:1:: 2002:ffff::", "2001:ffff:: 2003::"),
            (
                "3ffe:: 3ffe:ffff:: 3fff:: 3fff:fff:: 4000:: 5f00::",
                "3ffd:ffff:: 3fff:1000::",
            ),
            (
                "fc00:: fd00:ec2::254 fdff:ffff:: fe80:: fe80::1 febf::",
                "2620:4f:7fff:: 2620:4f:8001::",
            ),
            (
                "fec0:: feff:: ff00:: ff02::1 ffff:: 2620:4f:8000::",
                "2000::",
            ),
            ("1fff:ffff:: 4000::", "3ffd::"),
        ] {
            for text in inside.split(' ') {
                assert!(is_special(text), "{text} is not public");
            }
            for text in outside.split(' ') {
                assert!(!is_special(text), "{text} is public");
            }
        }
    }

    proptest! {
        /// Against what the standard library knows, which is a part of it.
        #[test]
        fn what_the_standard_library_calls_special_is_special(bits in any::<u32>(), wide in any::<u128>()) {
            let four = Ipv4Addr::from(bits);
            let known = four.is_private() || four.is_loopback() || four.is_link_local() || four.is_multicast()
                || four.is_broadcast() || four.is_documentation() || four.is_unspecified();
            prop_assert!(!known || special(four.into()).is_some());
            // Whatever holds an IPv4 address in a known way is refused, public or not.
            for six in [four.to_ipv6_mapped(), four.to_ipv6_compatible()] {
                prop_assert!(special(six.into()).is_some());
            }
            let nat64 = Ipv6Addr::from(0x64_ff9b_u128 << 96 | u128::from(bits));
            prop_assert!(special(nat64.into()).is_some());
            let six = Ipv6Addr::from(wide);
            let known = six.is_loopback() || six.is_multicast() || six.is_unique_local() || six.is_unicast_link_local();
            prop_assert!(!known || special(six.into()).is_some());
        }
    }
}

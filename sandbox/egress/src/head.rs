//! The head of a request to a proxy (RFC 9112), read strictly: what two programs could understand in two ways is refused.

use legwork_spec::{HostName, parse_port};

use crate::record::Denial;

/// The longest head, in bytes.
pub(crate) const LONGEST: usize = 8 << 10;
const MOST_FIELDS: usize = 100;
const END: &[u8] = b"\r\n\r\n";

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// `CONNECT`: a tunnel.
    Tunnel { host: HostName, port: u16 },
    /// Any other method, on an `http://` address.
    Plain {
        host: HostName,
        port: u16,
        /// The head as it is said to the server, with its end.
        head: Vec<u8>,
        /// Bytes of the body.
        body: u64,
    },
}

impl Request {
    /// Whom it is for.
    pub(crate) fn authority(&self) -> (&HostName, u16) {
        match self {
            Self::Tunnel { host, port } | Self::Plain { host, port, .. } => (host, *port),
        }
    }
}

/// Where the head ends, if all of it is there.
pub(crate) fn end(bytes: &[u8]) -> Result<Option<usize>, Denial> {
    if bytes.first().is_some_and(|byte| !byte.is_ascii_uppercase()) {
        return Err(Denial::Grammar("it does not begin with a method of HTTP"));
    }
    let head = bytes
        .windows(END.len())
        .position(|part| part == END)
        .map(|at| at + END.len());
    let looked = &bytes[..head.unwrap_or(bytes.len())];
    let mut before = 0;
    for (at, byte) in looked.iter().enumerate() {
        let broken = match byte {
            b'\n' => before != b'\r',
            0 => true,
            _ => before == b'\r',
        };
        if broken && at > 0 {
            return Err(Denial::Grammar("a line does not end with CR LF"));
        }
        before = *byte;
    }
    match head {
        None if bytes.len() >= LONGEST => Err(Denial::Grammar("its head is longer than 8 KiB")),
        Some(length) if length > LONGEST => Err(Denial::Grammar("its head is longer than 8 KiB")),
        head => Ok(head),
    }
}

/// Understands a whole head.
pub(crate) fn parse(head: &[u8]) -> Result<Request, Denial> {
    let wrong = |what| Err(Denial::Grammar(what));
    let text = head.strip_suffix(END).unwrap_or(head);
    let mut lines = text
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let first: Vec<&[u8]> = lines
        .next()
        .unwrap_or_default()
        .split(|byte| *byte == b' ')
        .collect();
    let [method, target, version] = first.as_slice() else {
        return wrong("its first line has not three parts");
    };
    if method.is_empty() || !method.iter().all(|byte| is_token(*byte)) {
        return wrong("its method is not well-formed");
    }
    if !matches!(*version, b"HTTP/1.1" | b"HTTP/1.0") {
        return wrong("it is not HTTP/1.1");
    }
    let fields = Fields::read(lines)?;
    if *method == b"CONNECT" {
        let (host, port) = authority(target, None)?;
        if fields.length.unwrap_or(0) > 0 {
            return wrong("a CONNECT has no body");
        }
        return Ok(Request::Tunnel { host, port });
    }
    let Some(rest) = target
        .split_at_checked(7)
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"http://"))
        .map(|(_, rest)| rest)
    else {
        return wrong("it asks for no absolute http:// address");
    };
    let split = rest
        .iter()
        .position(|byte| matches!(byte, b'/' | b'?'))
        .unwrap_or(rest.len());
    let (place, path) = rest.split_at(split);
    if !path
        .iter()
        .all(|byte| byte.is_ascii_graphic() && *byte != b'#' && *byte != b'\\')
    {
        return wrong("its path is not well-formed");
    }
    let (host, port) = authority(place, Some(80))?;
    match fields.host {
        Some(named) if authority(named, Some(80))? == (host.clone(), port) => {}
        None if *version == b"HTTP/1.0" => {}
        Some(_) => return wrong("its Host is another one than its address says"),
        None => return wrong("it has no Host"),
    }
    let mut said = Vec::with_capacity(head.len() + 64);
    let root: &[u8] = if path.starts_with(b"/") { b"" } else { b"/" };
    for part in [
        *method,
        b" ",
        root,
        path,
        b" HTTP/1.1\r\nHost: ",
        host.as_str().as_bytes(),
    ] {
        said.extend_from_slice(part);
    }
    if port != 80 {
        said.extend_from_slice(format!(":{port}").as_bytes());
    }
    said.extend_from_slice(b"\r\nConnection: close\r\n");
    for (name, value) in &fields.kept {
        for part in [*name, b": ", *value, b"\r\n"] {
            said.extend_from_slice(part);
        }
    }
    said.extend_from_slice(b"\r\n");
    let body = fields.length.unwrap_or(0);
    Ok(Request::Plain {
        host,
        port,
        head: said,
        body,
    })
}

/// The fields of a head, sorted by what they are for.
#[derive(Debug, Default)]
struct Fields<'a> {
    host: Option<&'a [u8]>,
    length: Option<u64>,
    /// What the server is told as it is.
    kept: Vec<(&'a [u8], &'a [u8])>,
}

impl<'a> Fields<'a> {
    fn read(lines: impl Iterator<Item = &'a [u8]>) -> Result<Self, Denial> {
        let wrong = |what| Err(Denial::Grammar(what));
        let mut fields = Self::default();
        for (count, line) in lines.enumerate() {
            if count == MOST_FIELDS {
                return wrong("it has more than 100 fields");
            }
            let Some(colon) = line.iter().position(|byte| *byte == b':') else {
                return wrong("a field has no colon");
            };
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            if name.is_empty() || !name.iter().all(|byte| is_token(*byte)) {
                return wrong("the name of a field is not well-formed");
            }
            if !value
                .iter()
                .all(|byte| matches!(byte, b'\t' | b' '..=b'~' | 0x80..))
            {
                return wrong("the value of a field is not well-formed");
            }
            match name.to_ascii_lowercase().as_slice() {
                b"host" if fields.host.replace(value).is_some() => {
                    return wrong("it has two fields Host");
                }
                b"content-length" => {
                    let digits =
                        (1..=18).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
                    let length = std::str::from_utf8(value)
                        .ok()
                        .filter(|_| digits)
                        .and_then(|text| text.parse().ok());
                    if length.is_none() || fields.length.is_some() {
                        return wrong("its Content-Length is not one number");
                    }
                    fields.length = length;
                    fields.kept.push((name, value));
                }
                b"transfer-encoding" => {
                    return wrong(
                        "it has a Transfer-Encoding; only a Content-Length is understood",
                    );
                }
                b"upgrade" => return wrong("it wants to change the protocol"),
                b"connection" | b"proxy-connection" => {
                    let plain = |word: &[u8]| {
                        let word = word.trim_ascii().to_ascii_lowercase();
                        matches!(word.as_slice(), b"close" | b"keep-alive")
                    };
                    if !value.split(|byte| *byte == b',').all(plain) {
                        return wrong("its Connection names other fields");
                    }
                }
                b"host" | b"keep-alive" | b"te" | b"trailer" | b"proxy-authorization" => {}
                _ => fields.kept.push((name, value)),
            }
        }
        Ok(fields)
    }
}

/// A host and a port. `usual` is the port of one that has none.
fn authority(text: &[u8], usual: Option<u16>) -> Result<(HostName, u16), Denial> {
    let (host, port) = match text.iter().rposition(|byte| *byte == b':') {
        Some(at) => (&text[..at], parse_port(&text[at + 1..])),
        None => (text, usual),
    };
    let host = HostName::parse(host).map_err(Denial::Name)?;
    let port = port.ok_or(Denial::Grammar("it has no port, or one that is none"))?;
    Ok((host, port))
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &[u8]) -> Result<Request, Denial> {
        let end = end(text)?.ok_or(Denial::Slow)?;
        parse(&text[..end])
    }

    fn connect(target: &str) -> Result<Request, Denial> {
        read(format!("CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes())
    }

    #[test]
    fn a_tunnel_is_to_a_name_and_a_port() {
        for target in ["example.com:443", "EXAMPLE.com:443", "example.com.:443"] {
            let request = connect(target).unwrap();
            let (host, port) = request.authority();
            assert_eq!((host.as_str(), port), ("example.com", 443));
        }
        for target in [
            "example.com..:443",
            ".example.com:443",
            "example..com:443",
            ":443",
            "example.com",
            "example.com:",
            "example.com:0",
            "example.com:65536",
            "example.com:443x",
            "example.com:0443",
            "example.com:-1",
            "user@example.com:443",
            "example.com@evil.test:443",
            "example.com:443@evil.test:443",
            "[2606:2800::1]:443",
            "93.184.216.34:443",
            "127.1:443",
            "2130706433:443",
            "0x7f000001:443",
            "a%00.example.com:443",
            "a%2eexample.com:443",
            "a#.example.com:443",
            "a?.example.com:443",
            "a/.example.com:443",
            "a\\.example.com:443",
            "a,.example.com:443",
            "a\t.example.com:443",
            "http://example.com:443",
            "exаmple.com:443",
        ] {
            let denial = connect(target).unwrap_err();
            assert_eq!(denial.status(), "400 Bad Request", "{target}: {denial}");
        }
        for raw in [
            &b"CONNECT a\0.example.com:443 HTTP/1.1\r\n\r\n"[..],
            b"CONNECT a\r.example.com:443 HTTP/1.1\r\n\r\n",
            b"CONNECT \xff.example.com:443 HTTP/1.1\r\n\r\n",
            b"CONNECT a .example.com:443 HTTP/1.1\r\n\r\n",
        ] {
            assert!(read(raw).is_err());
        }
    }

    #[test]
    fn a_plain_request_is_said_anew() {
        let request = read(
            b"POST HTTP://Example.com/a?b HTTP/1.1\r\nhost: example.com:80\r\nAccept: */*\r\nProxy-Connection: keep-alive\r\n\
              Proxy-Authorization: Basic eA==\r\nTE: trailers\r\nContent-Length: 3\r\n\r\nabc",
        )
        .unwrap();
        let Request::Plain {
            host,
            port,
            head,
            body,
        } = request
        else {
            panic!("it is plain");
        };
        assert_eq!((host.as_str(), port, body), ("example.com", 80, 3));
        assert_eq!(
            String::from_utf8(head).unwrap(),
            "POST /a?b HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\nAccept: */*\r\nContent-Length: 3\r\n\r\n"
        );
        let Ok(Request::Plain { head, .. }) = read(b"GET http://a.b:8080?q HTTP/1.0\r\n\r\n")
        else {
            panic!("it is plain");
        };
        assert!(head.starts_with(b"GET /?q HTTP/1.1\r\nHost: a.b:8080\r\n"));
    }

    #[test]
    fn what_can_be_understood_in_two_ways_is_refused() {
        let get = |fields: &str| {
            read(format!("GET http://example.com/ HTTP/1.1\r\n{fields}\r\n").as_bytes())
        };
        assert!(get("Host: example.com\r\n").is_ok());
        for fields in [
            "",
            "Host: example.com\r\nHost: example.com\r\n",
            "Host: evil.test\r\n",
            "Host: example.com:8080\r\n",
            "Host : example.com\r\n",
            "Host: example.com\r\n folded: x\r\n",
            "Host: example.com\r\nA: b\nC: d\r\n",
            "Host: example.com\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n",
            "Host: example.com\r\nContent-Length: 1\r\nContent-Length: 1\r\n",
            "Host: example.com\r\nContent-Length: +1\r\n",
            "Host: example.com\r\nContent-Length: 1, 1\r\n",
            "Host: example.com\r\nTransfer-Encoding: chunked\r\n",
            "Host: example.com\r\nConnection: Host\r\n",
            "Host: example.com\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
            "Host: example.com\r\nUpgrade: h2c\r\n",
            "Host: example.com\r\nA: b\0\r\n",
            "Host: example.com\r\nA\r\n",
            "Host: example.com\r\n: a\r\n",
        ] {
            assert!(get(fields).is_err(), "{fields:?}");
        }
        for line in [
            "GET / HTTP/1.1",
            "GET https://example.com/ HTTP/1.1",
            "GET ftp://example.com/ HTTP/1.1",
            "GET http://example.com/ HTTP/2.0",
            "GET  http://example.com/ HTTP/1.1",
            "GET http://example.com/ HTTP/1.1 ",
            "GET http://example.com/",
            "PRI * HTTP/2.0",
            "GET http://example.com/#a HTTP/1.1",
            "GET http://u@example.com/ HTTP/1.1",
            "GET http://example.com\\.evil.test/ HTTP/1.1",
            "get http://example.com/ HTTP/1.1",
            "G(T http://example.com/ HTTP/1.1",
            "GET http:///a HTTP/1.1",
        ] {
            assert!(
                read(format!("{line}\r\nHost: example.com\r\n\r\n").as_bytes()).is_err(),
                "{line}"
            );
        }
        let many = "A: b\r\n".repeat(100);
        assert!(get(&format!("Host: example.com\r\n{many}")).is_err());
    }

    #[test]
    fn other_protocols_end_at_once_and_length_is_bounded() {
        for other in [&[4, 1][..], &[5, 1, 0], &[22, 3, 1], b"\r\n", b"\0", b" "] {
            assert!(end(other).is_err(), "{other:?}");
        }
        assert_eq!(end(b"GET http://a"), Ok(None));
        assert!(end(b"GET http://a\n").is_err());
        let long = [b"GET ".to_vec(), vec![b'a'; LONGEST]].concat();
        assert!(end(&long).is_err());
    }

    proptest! {
        /// Whatever is taken as a tunnel is a name that the resolver reads as just that name.
        #[test]
        fn no_target_is_taken_for_a_name_it_does_not_spell(target in "[a-zA-Z0-9.:@\\-_%\\[\\]#/]{1,30}") {
            if let Ok(request) = connect(&target) {
                let (host, port) = request.authority();
                let spelt = target.to_ascii_lowercase();
                let plain = format!("{host}:{port}");
                let absolute = format!("{host}.:{port}");
                prop_assert!(spelt == plain || spelt == absolute, "{}", spelt);
                prop_assert!(host.as_str().parse::<std::net::IpAddr>().is_err());
            }
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _read = read(&bytes);
            let _read = read(&[b"GET http://a.b/ HTTP/1.1\r\n", bytes.as_slice(), b"\r\n\r\n"].concat());
        }
    }
}

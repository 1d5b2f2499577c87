//! The first words of a TLS client (RFC 8446, 4.1.2), as far as they say whom it wants.
//!
//! They are read record by record as they come, within [`LONGEST`] bytes. What is not plainly a ClientHello with one name is
//! refused.

use legwork_spec::HostName;

/// Most bytes that a client may need to say whom it wants, framing included.
pub(crate) const LONGEST: usize = 64 << 10;

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const LONGEST_RECORD: usize = 1 << 14;
const SERVER_NAME: u16 = 0;
const ENCRYPTED_CLIENT_HELLO: u16 = 0xfe0d;

/// Reads them.
#[derive(Debug, Default)]
pub(crate) struct Hello {
    /// How much of the bytes is taken apart into records already.
    taken: usize,
    handshake: Vec<u8>,
}

impl Hello {
    /// Looks at all bytes that came so far. `Ok(true)` when the hello is complete and names this host; `Ok(false)` when more is
    /// needed.
    pub(crate) fn read(&mut self, bytes: &[u8], host: &HostName) -> Result<bool, &'static str> {
        loop {
            if let Some(body) = self.complete()? {
                return named(body, host).map(|()| true);
            }
            let rest = bytes.get(self.taken..).unwrap_or_default();
            if rest.first().is_some_and(|kind| *kind != HANDSHAKE) {
                return Err("it does not begin as TLS does");
            }
            if rest.get(1).is_some_and(|major| *major != 3) {
                return Err("it does not begin as TLS does");
            }
            let Some(length) = rest.get(3..5) else { break };
            let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
            if !(1..=LONGEST_RECORD).contains(&length) {
                return Err("a record of TLS is empty or too long");
            }
            let Some(fragment) = rest.get(5..5 + length) else {
                break;
            };
            self.handshake.extend_from_slice(fragment);
            self.taken += 5 + length;
        }
        if bytes.len() >= LONGEST {
            return Err("its first words are too long");
        }
        Ok(false)
    }

    /// The body of the hello, once it is whole.
    fn complete(&self) -> Result<Option<&[u8]>, &'static str> {
        let [kind, rest @ ..] = self.handshake.as_slice() else {
            return Ok(None);
        };
        if *kind != CLIENT_HELLO {
            return Err("it does not begin with a client's hello");
        }
        let [a, b, c, body @ ..] = rest else {
            return Ok(None);
        };
        let length = usize::try_from(u32::from_be_bytes([0, *a, *b, *c])).unwrap_or(usize::MAX);
        if length > LONGEST {
            return Err("its first words are too long");
        }
        Ok(body.get(..length))
    }
}

/// Whether the hello names just this host.
fn named(body: &[u8], host: &HostName) -> Result<(), &'static str> {
    const BROKEN: &str = "its hello is not well-formed";
    let mut hello = Reader(body);
    // Version and random.
    hello.take(34).ok_or(BROKEN)?;
    let session = hello.short().ok_or(BROKEN)?;
    let suites = hello.long().ok_or(BROKEN)?;
    let compressions = hello.short().ok_or(BROKEN)?;
    if session.len() > 32 || suites.is_empty() || suites.len() % 2 == 1 || compressions.is_empty() {
        return Err(BROKEN);
    }
    let mut extensions = Reader(match hello.0 {
        [] => return Err("it names no host"),
        _ => hello.long().ok_or(BROKEN)?,
    });
    if !hello.0.is_empty() {
        return Err(BROKEN);
    }
    let mut name = None;
    let mut seen = Vec::new();
    while !extensions.0.is_empty() {
        let kind = extensions.number().ok_or(BROKEN)?;
        let data = extensions.long().ok_or(BROKEN)?;
        if seen.contains(&kind) {
            return Err("it says the same thing twice");
        }
        seen.push(kind);
        match kind {
            ENCRYPTED_CLIENT_HELLO => {
                return Err("it hides whom it wants (Encrypted Client Hello)");
            }
            SERVER_NAME => name = Some(data),
            _ => {}
        }
    }
    let mut list = Reader(name.ok_or("it names no host")?);
    let mut entries = Reader(list.long().ok_or(BROKEN)?);
    let kind = entries.take(1).ok_or(BROKEN)?;
    let name = entries.long().ok_or(BROKEN)?;
    if !list.0.is_empty() || kind != [0] {
        return Err(BROKEN);
    }
    if !entries.0.is_empty() {
        return Err("it names more than one host");
    }
    if name.eq_ignore_ascii_case(host.as_str().as_bytes()) {
        Ok(())
    } else {
        Err("it names another host")
    }
}

/// Takes numbers and vectors off the front of bytes.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u16> {
        let bytes = self.take(2)?;
        Some(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// A vector with one byte of length.
    fn short(&mut self) -> Option<&'a [u8]> {
        let length = self.take(1)?[0];
        self.take(length.into())
    }

    /// A vector with two bytes of length.
    fn long(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(length.into())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vector(data: &[u8]) -> Vec<u8> {
        let length = u16::try_from(data.len()).unwrap();
        [&length.to_be_bytes()[..], data].concat()
    }

    fn extension(kind: u16, data: &[u8]) -> Vec<u8> {
        [&kind.to_be_bytes()[..], &vector(data)].concat()
    }

    fn server_names(names: &[&[u8]]) -> Vec<u8> {
        let entries: Vec<u8> = names
            .iter()
            .flat_map(|name| [&[0][..], &vector(name)].concat())
            .collect();
        extension(SERVER_NAME, &vector(&entries))
    }

    /// The handshake message with these extensions.
    fn message(extensions: &[Vec<u8>]) -> Vec<u8> {
        let mut body = vec![3, 3];
        body.extend([7; 32]);
        body.push(0);
        body.extend(vector(&[0x13, 0x01]));
        body.extend([1, 0]);
        body.extend(vector(&extensions.concat()));
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        [&[1], &length[1..], &body].concat()
    }

    fn records(message: &[u8], fragment: usize) -> Vec<u8> {
        let record = |part: &[u8]| [&[22, 3, 1][..], &vector(part)].concat();
        message.chunks(fragment).flat_map(record).collect()
    }

    /// A hello that names this host.
    pub(crate) fn hello(host: &str) -> Vec<u8> {
        let other = extension(43, &[2, 3, 4]);
        records(
            &message(&[other, server_names(&[host.as_bytes()])]),
            LONGEST_RECORD,
        )
    }

    fn host() -> HostName {
        "example.com".parse().unwrap()
    }

    fn read(bytes: &[u8]) -> Result<bool, &'static str> {
        Hello::default().read(bytes, &host())
    }

    #[test]
    fn one_name_that_is_the_same_passes() {
        assert_eq!(read(&hello("example.com")), Ok(true));
        assert_eq!(read(&hello("EXAMPLE.com")), Ok(true));
        // More may stand behind it.
        assert_eq!(read(&[hello("example.com"), vec![0; 9]].concat()), Ok(true));
    }

    #[test]
    fn everything_else_is_refused() {
        let with = |extensions: &[Vec<u8>]| read(&records(&message(extensions), LONGEST_RECORD));
        let sni = || server_names(&[b"example.com"]);
        for name in [
            &b"other.test"[..],
            b"example.com.",
            b"example.com\0",
            b"93.184.216.34",
            b"",
            b"xample.com",
        ] {
            assert_eq!(with(&[server_names(&[name])]), Err("it names another host"));
        }
        assert_eq!(with(&[]), Err("it names no host"));
        assert_eq!(with(&[extension(43, &[2, 3, 4])]), Err("it names no host"));
        assert_eq!(
            with(&[server_names(&[b"example.com", b"other.test"])]),
            Err("it names more than one host")
        );
        assert_eq!(with(&[sni(), sni()]), Err("it says the same thing twice"));
        let hidden = "it hides whom it wants (Encrypted Client Hello)";
        assert_eq!(with(&[sni(), extension(0xfe0d, &[0; 9])]), Err(hidden));
        assert!(with(&[extension(SERVER_NAME, &[])]).is_err());
        assert!(with(&[extension(SERVER_NAME, &[0, 3, 1, 0, 0])]).is_err());
        for other in [
            &b"SSH-2.0-OpenSSH_9.2\r\n"[..],
            b"GET / HTTP/1.1\r\n",
            &[1, 0, 0, 0],
            &[0],
            &[22, 2, 0],
            &[23, 3, 3],
        ] {
            assert_eq!(read(other), Err("it does not begin as TLS does"));
        }
        assert!(read(&[22, 3, 1, 0, 0]).is_err());
        assert!(read(&[22, 3, 1, 0xff, 0xff]).is_err());
        assert!(read(&records(&[2, 0, 0, 1, 0], 9)).is_err());
        assert!(read(&records(&[1, 0xff, 0xff, 0xff, 0], 9)).is_err());
    }

    #[test]
    fn however_it_is_cut_the_verdict_is_the_same() {
        for (name, verdict) in [
            ("example.com", Ok(true)),
            ("other.test", Err("it names another host")),
        ] {
            for fragment in [1, 2, 7, 4096] {
                let message = message(&[server_names(&[name.as_bytes()])]);
                let bytes = records(&message, fragment);
                let mut hello = Hello::default();
                for end in 0..bytes.len() {
                    assert_eq!(hello.read(&bytes[..end], &host()), Ok(false));
                }
                assert_eq!(hello.read(&bytes, &host()), verdict);
            }
        }
    }

    #[test]
    fn it_ends_at_the_limit() {
        let padding = extension(21, &[0; 60_000]);
        let long = records(&message(&[padding]), 10);
        let mut hello = Hello::default();
        assert!(hello.read(&long[..LONGEST], &host()).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_are_taken_for_the_name_by_chance(bytes in proptest::collection::vec(any::<u8>(), 0..600), at in 0_usize..100, new: u8) {
            let _verdict = read(&bytes);
            // One byte of a good hello is another.
            let mut good = hello("example.com");
            let at = at % good.len();
            good[at] = new;
            if read(&good) == Ok(true) {
                prop_assert!(good.windows(11).any(|part| part.eq_ignore_ascii_case(b"example.com")));
            }
        }
    }
}

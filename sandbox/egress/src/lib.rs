//! The one way out of a sandbox: a proxy on the host that lets through what the user allowed, and nothing else.
//!
//! A guest has no network device. What a program in it says to the proxy's port of the guest's loopback is relayed here as it
//! is, over the link, so every decision is made on the host and the guest is only a wire. In this order, and each step refuses
//! what it does not understand:
//!
//! 1. the request's head is read (`head`), at most 8 KiB in 10 s;
//! 2. the host is parsed into the one type for names, [`legwork_spec::HostName`];
//! 3. the policy is asked about name and port;
//! 4. the name is resolved, once, by the host ([`Outside`]);
//! 5. *all* of its addresses have to be public (`address`), or none is connected to;
//! 6. the address that was checked is connected to; no name is looked up again;
//! 7. on port 443 the first bytes have to be TLS for just this name (`hello`); on port 80 it is one request, said anew, for
//!    just this host; any other port carries what the user allowed it for;
//! 8. bytes are moved both ways (`relay`), and what went out or was refused is told ([`Witness`]).
//!
//! The policy is given at construction and cannot be changed.

#![forbid(unsafe_code)]

mod address;
mod head;
mod hello;
mod names;
mod outside;
mod proxy;
mod record;
mod relay;

pub use address::special;
pub use outside::{Asked, Host, Outside};
pub use proxy::{Locals, Proxy};
pub use record::{Denial, Record, Witness};

/// The port of the guest's loopback at which programs find the proxy.
pub const PORT: u16 = 3128;

/// The variables by which programs in the guest find the proxy. Which of them a program looks at differs, so all are set.
pub fn environment() -> Vec<(String, String)> {
    let proxy = format!("http://127.0.0.1:{PORT}");
    let direct = "localhost,127.0.0.1,::1";
    let mut variables = Vec::new();
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        variables.push((name.to_owned(), proxy.clone()));
        variables.push((name.to_ascii_lowercase(), proxy.clone()));
    }
    for name in ["NO_PROXY", "no_proxy"] {
        variables.push((name.to_owned(), direct.to_owned()));
    }
    // Node's own `fetch` looks at the variables above only if told to; Yarn has its own.
    variables.push(("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned()));
    for name in ["YARN_HTTP_PROXY", "YARN_HTTPS_PROXY"] {
        variables.push((name.to_owned(), proxy.clone()));
    }
    variables
}

//! The network as the proxy uses it: the host's resolver and connections to addresses that were checked.

use std::{
    fmt::Debug,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
};

use legwork_spec::HostName;
use nix::ifaddrs::getifaddrs;
use tokio::net::{TcpStream, lookup_host};

/// What is being asked of the network.
pub type Asked<'a, T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send + 'a>>;

/// Resolves names and makes connections. There is one for all, [`Host`]; tests give their own.
pub trait Outside: Debug + Send + Sync {
    /// All addresses of a name. It is asked once for a connection.
    fn resolve<'a>(&'a self, host: &'a HostName) -> Asked<'a, Vec<IpAddr>>;

    /// Whether this host itself has the address.
    fn is_own(&self, address: IpAddr) -> bool;

    /// A connection to just this address; no name is looked up and no other proxy is asked.
    fn connect(&self, address: SocketAddr) -> Asked<'_, TcpStream>;
}

/// The host's own network.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host;

impl Outside for Host {
    fn resolve<'a>(&'a self, host: &'a HostName) -> Asked<'a, Vec<IpAddr>> {
        Box::pin(async move {
            // The dot keeps the resolver from trying the name below the domains of its own search list.
            let absolute = format!("{host}.");
            let found = lookup_host((absolute.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }

    fn is_own(&self, address: IpAddr) -> bool {
        // If they cannot be listed, every address could be.
        getifaddrs().map_or(true, |mut all| {
            all.any(|own| own.address.is_some_and(|own| same(&own, address)))
        })
    }

    fn connect(&self, address: SocketAddr) -> Asked<'_, TcpStream> {
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            if stream.peer_addr()? != address {
                return Err(io::ErrorKind::AddrNotAvailable.into());
            }
            Ok(stream)
        })
    }
}

fn same(own: &nix::sys::socket::SockaddrStorage, address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => own.as_sockaddr_in().is_some_and(|own| own.ip() == address),
        IpAddr::V6(address) => own.as_sockaddr_in6().is_some_and(|own| own.ip() == address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_is_this_hosts_own() {
        assert!(Host.is_own([127, 0, 0, 1].into()));
        assert!(!Host.is_own([8, 8, 8, 8].into()));
    }
}

//! The table `[network]`: what every task may reach, and names that are places on this machine or near it.

use std::{collections::BTreeMap, net::SocketAddr};

use legwork_spec::{Destination, HostName};
use toml::{Table, Value};

use super::{ConfigError, unknown};

/// What tasks may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkConfig {
    /// `allow`: hosts with ports, or presets; every task that is made while it stands here may reach them.
    pub allow: Vec<Destination>,
    /// `hosts`: a name and a port, and the address that is meant. It is the one way to a private address, and a task needs an
    /// entry for the name all the same.
    pub hosts: BTreeMap<(HostName, u16), SocketAddr>,
}

impl NetworkConfig {
    pub(super) fn of(table: Table, warnings: &mut Vec<String>) -> Result<Self, ConfigError> {
        let mut network = Self::default();
        for (name, value) in table {
            match name.as_str() {
                "allow" => network.allow = allow(&value)?,
                "hosts" => network.hosts = hosts(value)?,
                _ => warnings.push(unknown(&format!("network.{name}"))),
            }
        }
        Ok(network)
    }
}

fn allow(value: &Value) -> Result<Vec<Destination>, ConfigError> {
    let wrong = || ConfigError::Value {
        name: "network.allow",
        wanted: "a list of hosts and presets, such as [\"example.com:443\", \"crates\"]",
    };
    let mut all = Vec::new();
    for entry in value.as_array().ok_or_else(wrong)? {
        let entry = entry.as_str().ok_or_else(wrong)?;
        all.extend(legwork_spec::allow(entry)?);
    }
    Ok(all)
}

fn hosts(value: Value) -> Result<BTreeMap<(HostName, u16), SocketAddr>, ConfigError> {
    let wrong = || ConfigError::Value {
        name: "network.hosts",
        wanted: "a table of names with ports and the addresses that are meant, such as \"db.home.test:5432\" = \"127.0.0.1:5432\"",
    };
    let Value::Table(table) = value else {
        return Err(wrong());
    };
    let mut hosts = BTreeMap::new();
    for (name, address) in table {
        let name: Destination = name.parse()?;
        let address = address.as_str().and_then(|text| text.parse().ok());
        let address: SocketAddr = address.ok_or_else(wrong)?;
        if name.is_wildcard() || address.port() == 0 {
            return Err(wrong());
        }
        hosts.insert((name.host().clone(), name.port()), address);
    }
    Ok(hosts)
}

#[cfg(test)]
mod tests {
    use crate::Config;

    #[test]
    fn what_is_allowed_is_listed_and_names_of_ones_own_have_an_address() {
        let text = "[network]\nallow = [\"example.com\", \"crates\"]\n[network.hosts]\n\"db.home.test:5432\" = \"127.0.0.1:5433\"\n";
        let (config, warnings) = Config::parse(text).unwrap();
        let allowed: Vec<String> = config
            .network
            .allow
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            allowed,
            [
                "example.com:443",
                "index.crates.io:443",
                "static.crates.io:443"
            ]
        );
        let key = ("db.home.test".parse().unwrap(), 5432);
        assert_eq!(config.network.hosts[&key].to_string(), "127.0.0.1:5433");
        assert!(warnings.is_empty());
        for wrong in [
            "allow = \"example.com\"",
            "allow = [1]",
            "allow = [\"*\"]",
            "allow = [\"*.com\"]",
            "allow = [\"example.com:0\"]",
            "allow = [\"\"]",
            "hosts = 1",
            "hosts = { \"a.test\" = \"localhost:1\" }",
            "hosts = { \"a.test\" = \"127.0.0.1\" }",
            "hosts = { \"a.test\" = \"127.0.0.1:0\" }",
            "hosts = { \"*.a.test\" = \"127.0.0.1:1\" }",
            "hosts = { \"a\" = \"127.0.0.1:1\" }",
        ] {
            assert!(
                Config::parse(&format!("[network]\n{wrong}\n")).is_err(),
                "{wrong}"
            );
        }
        let (_, warnings) = Config::parse("[network]\nopen = true\n").unwrap();
        assert_eq!(warnings.len(), 1);
    }
}

//! `legwork doctor`: what tasks will run on here. It asks the host and needs no daemon.

use std::fmt::Write as _;

use legwork_wire::{Host, Places};

use crate::{
    failure::{Failure, Kind},
    output,
    printable::printable_lines,
};

/// Does it; a host that cannot run tasks is a failure.
pub(crate) async fn doctor(places: &Places, json: bool) -> Result<(), Failure> {
    let host = legwork_daemon::doctor(places).await;
    if json {
        output::json(&host)?;
    } else {
        output::print(&told(&host))?;
    }
    if host.able {
        Ok(())
    } else {
        Err(Failure::new(
            Kind::Host,
            "this host cannot run tasks yet",
            "see to what is marked `!!` above",
        ))
    }
}

fn told(host: &Host) -> String {
    let mut text = format!("{}\n", printable_lines(&host.verdict));
    let width = host
        .checks
        .iter()
        .map(|(name, ..)| name.chars().count())
        .max()
        .unwrap_or(0);
    for (name, well, sentence) in &host.checks {
        let mark = if *well { "ok" } else { "!!" };
        // Writing to a string does not fail.
        let _ok = writeln!(
            text,
            "  {mark} {name:width$}  {}",
            printable_lines(sentence)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_comes_first_and_faults_are_marked() {
        let checks = vec![
            ("kvm".to_owned(), false, "no /dev/kvm".to_owned()),
            ("qemu-x".to_owned(), true, "8.2".to_owned()),
        ];
        let host = Host {
            verdict: "qemu, emulated".to_owned(),
            able: true,
            checks,
        };
        assert_eq!(
            told(&host),
            "qemu, emulated\n  !! kvm     no /dev/kvm\n  ok qemu-x  8.2\n"
        );
    }
}

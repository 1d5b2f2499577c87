//! Connections that a program in the guest makes to a relayed port arrive at the host, and no others.

use std::sync::Arc;

use kit::machine::{installation, small, start_answering};
use legwork_host::{Answer, Answering, Call, ExitStatus, Forward, Substream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const PORT: u16 = 61_417;

/// Hears everything to the end of the other half, then says it back with each byte one higher.
#[derive(Debug)]
struct Higher;

impl Answer for Higher {
    fn forwards(&self) -> Vec<Forward> {
        vec![Forward {
            port: PORT,
            call: Call::Model,
        }]
    }

    fn answer(&self, _: Call, mut substream: Substream) -> Answering {
        Box::pin(async move {
            let mut heard = Vec::new();
            substream.read_to_end(&mut heard).await.unwrap();
            heard
                .iter_mut()
                .for_each(|byte| *byte = byte.wrapping_add(1));
            substream.write_all(&heard).await.unwrap();
            substream.shutdown().await.unwrap();
        })
    }
}

/// Sends a megabyte, closes that half, and compares what comes then. Several at once, so that none may be in another's way.
const CLIENT: &str = r#"
use strict; use IO::Socket::INET;
my $port = $ARGV[0];
my @all;
for my $seed (1 .. 3) {
    my $pid = fork();
    if ($pid) { push @all, $pid; next; }
    my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port) or die "connect: $!";
    my $sent = join("", map { chr(($seed + $_) % 250) } 0 .. 1023) x 1024;
    print $socket $sent; $socket->flush; shutdown($socket, 1);
    local $/; my $back = <$socket>;
    (my $expected = $sent) =~ tr/\x00-\xfe/\x01-\xff/;
    print "same ", length($back), "\n" if $back eq $expected;
    exit 0;
}
waitpid($_, 0) for @all;
"#;

/// Says whether anyone listens there.
const KNOCK: &str = r#"use IO::Socket::INET;
print IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0]) ? "open\n" : "closed\n";"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_megabyte_goes_both_ways_and_half_a_close_is_heard() {
    let machine = start_answering(&installation(), small(), Some(Arc::new(Higher)))
        .await
        .unwrap();
    let ran = machine
        .sh(&format!(
            "cat > /tmp/client.pl <<'END'\n{CLIENT}\nEND\nperl /tmp/client.pl {PORT}"
        ))
        .await;
    assert_eq!(ran.exit.status, ExitStatus::Exited(0), "{ran:?}");
    assert_eq!(ran.text(), "same 1048576\n".repeat(3), "{ran:?}");
    let next = machine
        .sh(&format!(
            "perl -e '{KNOCK}' {}; perl -e '{KNOCK}' {PORT}",
            PORT + 1
        ))
        .await;
    assert_eq!(next.text(), "closed\nopen\n", "{next:?}");
    machine.sandbox.stop().await;

    // Where nobody answers, nothing listens.
    let machine = start_answering(&installation(), small(), None)
        .await
        .unwrap();
    let knocked = machine.sh(&format!("perl -e '{KNOCK}' {PORT}")).await;
    assert_eq!(knocked.text(), "closed\n", "{knocked:?}");
    machine.sandbox.stop().await;
}

//! There is no network at all, seen from inside: no address, no route, no name, no vsock, no socket of the host.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    os::unix::net::UnixListener,
};

use kit::machine::{small, start};
use legwork_host::ExitStatus;

/// Tries to connect or send in every way that a program could; each must fail. Prints what did not.
const ATTEMPTS: &str = r#"
use strict; use Socket qw(:all);
my $reached = 0;
sub attempt { my ($name, $family, $type, $address, $send) = @_;
    my $socket;
    if (!socket($socket, $family, $type, 0)) { print "$name: no socket: $!\n"; return; }
    my $done = $send ? defined(send($socket, "x", 0, $address)) : connect($socket, $address);
    if ($done) { print "$name: REACHED\n"; $reached = 1; } else { print "$name: $!\n"; }
}
local $SIG{ALRM} = sub { print "a connection hangs instead of failing\n"; exit 9; };
alarm 60;
my $port = $ARGV[0];
attempt("tcp 127.0.0.1", AF_INET, SOCK_STREAM, pack_sockaddr_in($port, inet_aton("127.0.0.1")), 0);
for my $ip ("10.0.2.2", "192.0.2.1", "169.254.169.254", "1.1.1.1") {
    attempt("tcp $ip", AF_INET, SOCK_STREAM, pack_sockaddr_in($port, inet_aton($ip)), 0);
    attempt("udp $ip", AF_INET, SOCK_DGRAM, pack_sockaddr_in(53, inet_aton($ip)), 1);
}
for my $ip ("2606:4700:4700::1111", "fe80::1") {
    attempt("tcp $ip", AF_INET6, SOCK_STREAM, pack_sockaddr_in6($port, inet_pton(AF_INET6, $ip)), 0);
    attempt("udp $ip", AF_INET6, SOCK_DGRAM, pack_sockaddr_in6(53, inet_pton(AF_INET6, $ip)), 1);
}
attempt("unix $ARGV[1]", AF_UNIX, SOCK_STREAM, pack_sockaddr_un($ARGV[1]), 0);
for my $cid (1, 2, 3) { for my $vport (1, 22, 1024, $port) {
    attempt("vsock $cid:$vport", 40, SOCK_STREAM, pack("S S L L x4", 40, 0, $vport, $cid), 0);
} }
attempt("raw icmp", AF_INET, SOCK_RAW, pack_sockaddr_in(0, inet_aton("192.0.2.1")), 1);
print "name: ", (defined(gethostbyname("example.com")) ? "REACHED" : "none"), "\n";
$reached = 1 if defined gethostbyname("example.com");
exit($reached);
"#;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_reached_from_inside() {
    // Servers that would answer, so that "refused" is not just "nobody there".
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("host.sock");
    let unix = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || tcp.accept().map(|(mut peer, _)| touch(&mut peer)));
    let machine = start(small()).await.unwrap();
    let script = format!(
        "perl -e '{}' {port} {}",
        ATTEMPTS.replace('\'', "'\\''"),
        path.display()
    );
    let ran = machine.sh(&script).await;
    assert_eq!(
        ran.exit.status,
        ExitStatus::Exited(0),
        "{}{}",
        ran.text(),
        String::from_utf8_lossy(&ran.stderr)
    );
    // The script ran to its end and tried everything.
    assert_eq!(
        ran.text().lines().count(),
        1 + 4 * 2 + 2 * 2 + 1 + 12 + 1 + 1,
        "{}",
        ran.text()
    );
    // No card but the loopback and the kernel's own dummy, which is down, and no route.
    let cards = machine
        .sh("ls /sys/class/net; cat /sys/class/net/dummy0/operstate; cat /proc/net/route | wc -l")
        .await;
    assert_eq!(cards.text(), "dummy0\nlo\ndown\n1\n");
    // The guest's own loopback is its own affair, and programs under test need it.
    let server = r#"use IO::Socket::INET; my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1") or die $!;
        my $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $s->sockport) or die $!;
        my $a = $s->accept; print $a "hello\n"; close $a; print <$c>;"#;
    assert_eq!(
        machine.sh(&format!("perl -e '{server}'")).await.text(),
        "hello\n"
    );
    unix.set_nonblocking(true).unwrap();
    assert!(unix.accept().is_err(), "the host's socket was reached");
    machine.sandbox.stop().await;
}

fn touch(peer: &mut std::net::TcpStream) {
    let _said = peer.write_all(b"reached");
    let _heard = peer.read(&mut [0; 16]);
}

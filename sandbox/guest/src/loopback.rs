//! The guest's own loopback, and nothing beyond it: programs under test talk to themselves over 127.0.0.1. There is no
//! other network device, so this opens no way out.

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, netlink, recv, send,
    socket_with,
};

const RTM_NEWLINK: u16 = 16;
const NLM_F_REQUEST_ACK: u16 = 1 | 4;
const IFF_UP: u32 = 1;
/// The loopback is the first device of every network namespace.
const LOOPBACK: i32 = 1;

/// Brings it up, by one rtnetlink message (rtnetlink(7)).
pub(crate) fn up() -> rustix::io::Result<()> {
    // Protocol 0 is NETLINK_ROUTE.
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None,
    )?;
    bind(&socket, &netlink::SocketAddrNetlink::new(0, 0))?;
    // struct nlmsghdr, struct ifinfomsg; both in the machine's own byte order.
    let mut message = Vec::with_capacity(32);
    message.extend(32_u32.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(NLM_F_REQUEST_ACK.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([0; 4]);
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    send(&socket, &message, SendFlags::empty())?;
    // The answer is an nlmsgerr whose error number, right behind its header, is 0 when all is well.
    let mut answer = [0; 256];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    match answer[..length]
        .get(16..20)
        .and_then(|bytes| bytes.try_into().ok())
        .map(i32::from_ne_bytes)
    {
        Some(0) => Ok(()),
        Some(error) => Err(rustix::io::Errno::from_raw_os_error(-error)),
        None => Err(rustix::io::Errno::PROTO),
    }
}

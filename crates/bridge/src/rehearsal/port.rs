//! A port on loopback that refuses connections, and that nobody else gets.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket, sockopt};

/// A free port on loopback, held by a socket that does not listen: who connects is refused, and the system gives the port to
/// nobody who asks for a free one. Who knows the address may still listen there.
#[derive(Debug)]
pub struct ClosedPort {
    address: SocketAddr,
    _held: OwnedFd,
}

impl ClosedPort {
    /// Holds a free port.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn hold() -> io::Result<Self> {
        let held = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        // A listener of the standard library sets the same, and then both may have the address.
        sockopt::set_socket_reuseaddr(&held, true)?;
        bind(&held, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
        let address = getsockname(&held)?.try_into().map_err(io::Error::from)?;
        Ok(Self { address, _held: held })
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

//! Tells systemd how the server is (sd_notify(3)): a datagram to the socket that `NOTIFY_SOCKET` names. Without one, nobody is told.

#[cfg(target_os = "linux")]
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Writes are accepted.
pub const READY: &str = "READY=1";
/// It was told to end.
pub const STOPPING: &str = "STOPPING=1";

/// Tells it.
pub fn tell(state: &str) {
    if let Some(socket) = std::env::var_os("NOTIFY_SOCKET")
        && let Err(error) = send(socket.as_bytes(), state)
    {
        tracing::warn!(%error, state, "systemd could not be told");
    }
}

fn send(socket: &[u8], state: &str) -> std::io::Result<()> {
    let address = match socket.strip_prefix(b"@") {
        // A leading @ stands for the zero byte of an abstract name, which Linux alone has.
        #[cfg(target_os = "linux")]
        Some(name) => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(socket))?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address)?;
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_told_by_its_path_or_its_abstract_name() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("notify");
        let name = format!("pasarela-test-{}", std::process::id());
        let abstracted = SocketAddr::from_abstract_name(&name).expect("a name");
        let sockets = [
            (UnixDatagram::bind(&path).expect("bound"), path.as_os_str().as_bytes().to_vec()),
            (UnixDatagram::bind_addr(&abstracted).expect("bound"), format!("@{name}").into_bytes()),
        ];
        for (socket, address) in sockets {
            send(&address, READY).expect("sent");
            let mut said = [0; 32];
            let len = socket.recv(&mut said).expect("received");
            assert_eq!(&said[..len], READY.as_bytes());
        }
        assert!(send(b"/no/such/socket", READY).is_err());
    }
}

//! Options that say how a race is shown while it runs, and drawn afterwards: `--live-http`, `--html`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::conduct::live::page::LivePage;
use crate::error::Error;
use crate::record::RaceStore;

/// Reads the address of a page that is for this machine. A port alone is one of 127.0.0.1.
///
/// # Errors
/// `Argument`: the text is neither a port nor an IP address with a port.
pub fn local_address(text: &str) -> Result<SocketAddr, Error> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    let address = text.replacen("localhost:", "127.0.0.1:", 1);
    let fault = "it must be a port, or an IP address of this machine with a port";
    address.parse().map_err(|_| Error::argument(fault))
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LiveArguments {
    /// Show the running race as a page on this loopback address; port 0 takes a free one and prints it
    #[arg(long, value_name = "[127.0.0.1:]PORT", value_parser = local_address)]
    pub live_http: Option<SocketAddr>,
    /// Write the HTML report to this file: of a race as `limber report` does later, of several as
    /// `limber compare --html` does
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

impl LiveArguments {
    /// Starts to serve the page and prints its address on standard error; returns `None` when the user did
    /// not ask for it.
    ///
    /// Errors: the address is not a loopback address, or is in use.
    pub(super) fn page(&self) -> Result<Option<LivePage>, Error> {
        let Some(address) = self.live_http else { return Ok(None) };
        let page = LivePage::serve(address)?;
        eprintln!("The race is shown at http://{}/", page.address);
        Ok(Some(page))
    }

    /// Writes the report of a finished race to the file that the user named.
    pub(super) fn write_html(&self, race_id: &str) -> Result<(), Error> {
        match &self.html {
            Some(output) => {
                super::report::write_races(&RaceStore::new(&super::folder()?), &[race_id.to_owned()], output)
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_at_a_port_or_an_address() {
        let shown = |text: &str| {
            let address = local_address(text).map_err(|error| error.to_string());
            address.map(|address| address.to_string())
        };
        assert_eq!(shown("5600").as_deref(), Ok("127.0.0.1:5600"));
        assert_eq!(shown("localhost:5600").as_deref(), Ok("127.0.0.1:5600"));
        assert_eq!(shown("[::1]:0").as_deref(), Ok("[::1]:0"));
        for wrong in ["http://127.0.0.1:5600", "example", "70000", ""] {
            assert!(shown(wrong).is_err(), "{wrong}");
        }
    }
}

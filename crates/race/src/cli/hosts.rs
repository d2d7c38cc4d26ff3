//! Options that say which servers are raced, and how to connect to them.

use clap::Args;

use crate::error::Error;
use crate::server::hosts::{ClusterTarget, DEFAULT_CLUSTER, clusters};

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct HostArguments {
    /// Servers to race, as host:port or https://host:port, separated by commas
    ///
    /// Requests are spread over them. Several clusters are given as a JSON object (or a .json file) of lists
    /// of hosts: {"default": ["127.0.0.1:9200"], "remote": ["127.0.0.1:9201"]}. The cluster "default" is
    /// raced, telemetry watches all.
    #[arg(long, value_name = "HOSTS")]
    pub target_hosts: Option<String>,
    /// How to talk to the servers: key:value,key2:value2, a JSON object, or a .json file [default:
    /// timeout:60]
    ///
    /// timeout (seconds), use_ssl, verify_certs, ca_certs, client_cert, client_key, basic_auth_user,
    /// basic_auth_password, api_key, bearer_auth, create_api_key_per_client, http_compress, max_retries,
    /// retry_on_timeout, retry_on_status, headers, opaque_id, max_connections, static_responses (a file that
    /// answers instead of a server). With several clusters: a JSON object of objects, one per cluster.
    #[arg(long, value_name = "OPTIONS")]
    pub client_options: Option<String>,
}

/// Rally's default. No request is sent to it, since the answers come from a file.
const UNASKED_HOST: &str = "localhost:39200";

impl HostArguments {
    /// Whether a server is to be started.
    pub(crate) fn is_empty(&self) -> bool {
        self.target_hosts.as_deref().is_none_or(|hosts| hosts.trim().is_empty())
            && !self.has_static_responses()
    }

    /// Whether a file answers instead of a server.
    fn has_static_responses(&self) -> bool {
        let read = clusters(UNASKED_HOST, self.client_options.as_deref());
        read.is_ok_and(|clusters| clusters.iter().any(|cluster| cluster.options.static_responses.is_some()))
    }

    /// Returns the clusters, the raced one first. `started` is the address of a server that was started for
    /// the race.
    pub(crate) fn clusters(&self, started: Option<&str>) -> Result<Vec<ClusterTarget>, Error> {
        let hosts = started.or(self.target_hosts.as_deref()).unwrap_or(UNASKED_HOST);
        clusters(hosts, self.client_options.as_deref())
    }

    /// Errors: wrong arguments, found before a server is started.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let started = self.is_empty().then_some(DEFAULT_CLUSTER);
        self.clusters(started).map(|_| ())
    }
}

//! Credentials for each client (`create_api_key_per_client`).
//!
//! Each client has an API key, which is created with the user's credentials before the race and deleted after
//! it, however the race ends (`esrally/driver/driver.py`, `create_api_key`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::json;

use crate::error::Error;
use crate::http::cluster::Cluster;

const PATH: &str = "/_security/api_key";

#[derive(Debug, Default)]
pub(crate) struct ApiKeys {
    ids: Vec<String>,
    /// Value of the `authorization` header for each client.
    pub authorizations: Vec<String>,
}

impl ApiKeys {
    /// Errors: the server refuses a key. The keys created until then are deleted again.
    pub(crate) fn create(cluster: &mut Cluster, clients: usize) -> Result<ApiKeys, Error> {
        let mut keys = ApiKeys::default();
        for client in 0..clients {
            if let Err(reason) = keys.create_one(cluster, client) {
                let _ = keys.delete(cluster);
                return Err(reason.within(format_args!("no API key for client {client}")));
            }
        }
        Ok(keys)
    }

    fn create_one(&mut self, cluster: &mut Cluster, client: usize) -> Result<(), Error> {
        let body = json!({ "name": format!("rally-client-{client}") });
        let answer = cluster.put(PATH, &body).map_err(Error::no_answer(format_args!("PUT {PATH}")))?;
        let text = |key: &str| answer.body[key].as_str();
        match (answer.status, text("id"), text("api_key")) {
            (200, Some(id), Some(secret)) => {
                self.authorizations.push(format!("ApiKey {}", BASE64.encode(format!("{id}:{secret}"))));
                self.ids.push(id.to_owned());
                Ok(())
            }
            (405, ..) => Err(Error::Unsupported(
                "the server has no API keys (status 405); is its security switched on?".into(),
            )),
            _ => Err(answer.refused(format_args!("PUT {PATH}"))),
        }
    }

    /// Errors: the server's answer. The keys then remain on the server.
    pub(crate) fn delete(self, cluster: &mut Cluster) -> Result<(), Error> {
        if self.ids.is_empty() {
            return Ok(());
        }
        let left = || format!("API keys [{}] could not be deleted", self.ids.join(", "));
        match cluster.delete(PATH, &json!({ "ids": self.ids })) {
            Ok(answer) if answer.status == 200 && answer.body["error_count"].as_u64().unwrap_or(0) == 0 => {
                Ok(())
            }
            Ok(answer) if answer.status == 200 => Err(Error::Answer(left())),
            Ok(answer) => Err(answer.refused(format_args!("{}: DELETE {PATH}", left()))),
            Err(error) => Err(Error::no_answer(left())(error)),
        }
    }
}

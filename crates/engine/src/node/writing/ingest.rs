//! Stores, returns, deletes and simulates ingest pipelines, which survive restarts.

use limber_mapping::RequestError;
use limber_text::wildcard;
use limber_work as work;
use serde_json::{Map, Value, json};

use crate::api::Result;
use crate::ingest;
use crate::node::Node;

impl Node {
    /// Carries out `PUT _ingest/pipeline/{id}`: compiles and stores a pipeline, replacing one with the same
    /// id.
    pub fn put_pipeline(&self, id: &str, body: &Value) -> Result<()> {
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        self.keep_pipeline(id, body)
    }

    /// Stores a pipeline. Called with `changing` locked.
    fn keep_pipeline(&self, id: &str, body: &Value) -> Result<()> {
        // An invalid pipeline is refused before anything is stored. A valid one is used only after it was
        // stored.
        let pipeline = self.pipelines.snapshot().compile(id, body)?;
        self.change_state(|state| state.pipelines[id] = body.clone())?;
        self.pipelines.keep(pipeline);
        Ok(())
    }

    /// Works like [`Node::put_pipeline`], but only replaces a pipeline of this version. The new one gets the
    /// next version if it declares none.
    ///
    /// Source: `IngestService#validateAndGetUpdatedConfig`.
    pub fn put_pipeline_of_version(&self, id: &str, body: &Value, required: i64) -> Result<()> {
        let refuse = |reason: String| Err(RequestError::illegal_argument(reason));
        // Two requests that replace the same version must not both succeed.
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        let Some(current) = self.get_pipelines(id)?.shift_remove(id) else {
            return refuse(format!(
                "version conflict, required version [{required}] for pipeline [{id}] but no pipeline was found"
            ));
        };
        let version = current.get("version").and_then(Value::as_i64);
        if version != Some(required) {
            let shown = version.map_or("null".to_owned(), |version| version.to_string());
            return refuse(format!(
                "version conflict, required version [{required}] for pipeline [{id}] but current version is [{shown}]"
            ));
        }
        let mut body = body.clone();
        match body.get("version").and_then(Value::as_i64) {
            Some(given) if given == required => {
                return refuse(format!("cannot update pipeline [{id}] with the same version [{required}]"));
            }
            Some(_) => {}
            None => {
                if let Some(members) = body.as_object_mut() {
                    members.insert("version".to_owned(), (required + 1).into());
                }
            }
        }
        self.keep_pipeline(id, &body)
    }

    /// Returns the body of `GET _ingest/geoip/stats`. Nothing is downloaded; the databases are the user's
    /// files.
    pub fn geoip_stats(&self) -> Value {
        let names = self.pipelines.database_names();
        let mut nodes = Map::new();
        if !names.is_empty() {
            let own = json!({"databases": [], "files_in_temp": [], "config_databases": names});
            nodes.insert(self.node_id().to_owned(), own);
        }
        json!({
            "stats": {
                "successful_downloads": 0,
                "failed_downloads": 0,
                "total_download_time": 0,
                "databases_count": 0,
                "skipped_updates": 0,
                "expired_databases": 0,
            },
            "nodes": nodes,
        })
    }

    /// Returns `{id: body}` of the pipelines that match. If ids were named and the result is empty, the REST
    /// layer answers not found.
    pub fn get_pipelines(&self, ids: &str) -> Result<Map<String, Value>> {
        match self.pipelines.snapshot().to_json(ids, false) {
            Value::Object(bodies) => Ok(bodies),
            _ => Ok(Map::new()),
        }
    }

    /// Carries out `DELETE _ingest/pipeline/{ids}` for a name or pattern. Refuses to delete a pipeline that
    /// an index uses as default or final pipeline. Fails with `NotFound` for a missing name.
    pub fn delete_pipeline(&self, ids: &str) -> Result<()> {
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        for index in self.catalog.load().indices.values() {
            let used = [("default", &index.typed.default_pipeline), ("final", &index.typed.final_pipeline)];
            for (kind, pipeline) in used {
                if let Some(pipeline) = pipeline.as_ref().filter(|pipeline| wildcard::matches(ids, pipeline))
                {
                    return Err(RequestError::illegal_argument(format!(
                        "pipeline [{pipeline}] cannot be deleted because it is the {kind} pipeline for 1 index(es) including [{}]",
                        index.name
                    )));
                }
            }
        }
        if let Value::Object(mut left) = self.pipelines.to_json() {
            let count = left.len();
            left.retain(|id, _| !wildcard::matches(ids, id));
            if left.len() < count {
                self.change_state(|state| state.pipelines = Value::Object(left))?;
            }
        }
        self.pipelines.delete(ids)
    }

    /// Carries out `POST _ingest/pipeline[/{id}]/_simulate`: runs a stored pipeline, or the one in the body,
    /// on the documents in the body.
    pub fn simulate_pipeline(&self, id: Option<&str>, body: &Value, verbose: bool) -> Result<Value> {
        let timestamp = ingest::timestamp(i128::from(self.now_millis()) * 1_000_000);
        let flag = work::cancelled().unwrap_or_default();
        let action = "cluster:admin/ingest/pipeline/simulate";
        let _task = self.tasks.register_cancellable(action, "", flag);
        ingest::simulate(&self.pipelines.snapshot(), id, body, verbose, &timestamp)
    }

    /// Returns the section `ingest` of `_nodes/stats`.
    pub fn ingest_stats(&self) -> Value {
        self.pipelines.snapshot().stats()
    }
}

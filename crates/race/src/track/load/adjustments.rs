//! Changes to a loaded track that work for every track, whatever parameters it has.
//!
//! Rally has only track parameters, which each author chooses. Tuning needs the same knobs for all tracks.

use serde_json::{Map, Value, json};

use super::LoadError;
use crate::model::{Params, Track};

/// Changes to a track; by default none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Adjustments {
    /// Settings of every index and template, such as `index.codec`. A name without `index.` gets this prefix.
    pub index_settings: Params,
    /// Bulk size of every bulk operation.
    pub bulk_size: Option<u64>,
    /// Numbers of clients by task name.
    pub clients: Vec<(String, u32)>,
}

impl Adjustments {
    /// # Errors
    /// `Parameters` for a change that affects nothing in the track: a knob without effect must not look as if
    /// it made no difference.
    pub fn apply(&self, track: &mut Track) -> Result<(), LoadError> {
        for (name, value) in &self.index_settings {
            set_index_setting(track, name, value)?;
        }
        if let Some(bulk_size) = self.bulk_size {
            set_bulk_size(track, bulk_size)?;
        }
        for (task, clients) in &self.clients {
            set_clients(track, task, *clients)?;
        }
        Ok(())
    }
}

fn set_index_setting(track: &mut Track, name: &str, value: &Value) -> Result<(), LoadError> {
    let short = name.strip_prefix("index.").unwrap_or(name);
    let mut count = 0;
    for index in &mut track.indices {
        let body = index.body.get_or_insert_with(|| json!({}));
        count += usize::from(set_in(body, short, value));
    }
    for template in &mut track.templates {
        count += usize::from(set_in(&mut template.body, short, value));
    }
    // Component templates are parts of the composable ones, whose own settings take precedence.
    for template in &mut track.composable_templates {
        if let Some(body) = template.body.as_object_mut() {
            count += usize::from(set_in(body.entry("template").or_insert_with(|| json!({})), short, value));
        }
    }
    match count {
        0 => Err(LoadError::Parameters(format!(
            "index setting [{name}] cannot be set: the track has no indices or templates with a body"
        ))),
        _ => Ok(()),
    }
}

/// Sets the value in the body's `settings`, and removes the same setting in every other spelling.
fn set_in(body: &mut Value, short: &str, value: &Value) -> bool {
    let Some(body) = body.as_object_mut() else { return false };
    let Some(settings) = body.entry("settings").or_insert_with(|| json!({})).as_object_mut() else {
        return false;
    };
    for root in ["", "index."] {
        remove(settings, &format!("{root}{short}"));
    }
    settings.insert(format!("index.{short}"), value.clone());
    true
}

/// Removes a setting with a dotted name, whichever of its dots are written as nested objects.
fn remove(settings: &mut Map<String, Value>, name: &str) {
    settings.shift_remove(name);
    for (dot, _) in name.match_indices('.') {
        if let Some(inner) = settings.get_mut(&name[..dot]).and_then(Value::as_object_mut) {
            remove(inner, &name[dot + 1..]);
        }
    }
}

fn set_bulk_size(track: &mut Track, bulk_size: u64) -> Result<(), LoadError> {
    let mut count = 0;
    for task in tasks_mut(track).filter(|task| task.operation.kind == "bulk") {
        task.operation.params.insert("bulk-size".to_owned(), bulk_size.into());
        // Rally requires it to be a multiple of the bulk size; its default is the bulk size itself.
        task.operation.params.shift_remove("batch-size");
        count += 1;
    }
    match count {
        0 => Err(LoadError::Parameters(
            "the bulk size cannot be set: the track has no bulk operation".to_owned(),
        )),
        _ => Ok(()),
    }
}

fn set_clients(track: &mut Track, name: &str, clients: u32) -> Result<(), LoadError> {
    let mut count = 0;
    for task in tasks_mut(track).filter(|task| task.name == name) {
        task.clients = clients;
        count += 1;
    }
    match count {
        0 => Err(LoadError::Parameters(format!(
            "the clients of task [{name}] cannot be set: the track has no such task"
        ))),
        _ => Ok(()),
    }
}

fn tasks_mut(track: &mut Track) -> impl Iterator<Item = &mut crate::model::Task> {
    track
        .challenges
        .iter_mut()
        .flat_map(|challenge| &mut challenge.schedule)
        .flat_map(|element| element.tasks_mut().iter_mut())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::track::load::{TrackSource, TrackSpec, read};

    #[test]
    fn a_setting_stands_once_wherever_it_stood() {
        for before in [
            json!({"index.number_of_shards": 5, "index.codec": "default"}),
            json!({"number_of_shards": 5, "codec": "default"}),
            json!({"index": {"number_of_shards": 5, "codec": "default"}}),
        ] {
            let mut body = json!({ "settings": before });
            assert!(set_in(&mut body, "codec", &json!("best_compression")));
            let text = body.to_string();
            assert_eq!(
                (text.matches("codec").count(), text.matches("number_of_shards").count()),
                (1, 1),
                "{text}"
            );
            assert_eq!(body["settings"]["index.codec"], "best_compression");
        }
        let mut nested =
            json!({"settings": {"index": {"translog": {"durability": "async", "sync_interval": "5s"}}}});
        set_in(&mut nested, "translog.durability", &json!("request"));
        let expected =
            json!({"index": {"translog": {"sync_interval": "5s"}}, "index.translog.durability": "request"});
        assert_eq!(nested["settings"], expected);
    }

    #[test]
    fn tracks_are_changed_when_they_are_read() {
        let source = TrackSource::BuiltIn { name: "log_ingest".into(), corpus: None };
        let mut spec = TrackSpec::new(source, 0.0);
        spec.adjustments.index_settings.insert("index.codec".into(), json!("best_compression"));
        spec.adjustments.bulk_size = Some(77);
        spec.adjustments.clients = vec![("bulk".into(), 3)];
        let track = read(&spec).unwrap();
        assert_eq!(track.indices[0].body.as_ref().unwrap()["settings"]["index.codec"], "best_compression");
        let tasks: Vec<_> = track.challenges[0].schedule.iter().flat_map(|element| element.tasks()).collect();
        let bulk = tasks.iter().find(|task| task.name == "bulk").unwrap();
        assert_eq!((bulk.operation.params["bulk-size"].as_u64(), bulk.clients), (Some(77), 3));

        spec.adjustments.clients = vec![("speed".into(), 3)];
        assert!(read(&spec).unwrap_err().to_string().contains("no such task"));
    }
}

//! The track as JSON, from which `python/limber_tracks.py` makes Rally's objects, and the changes of track
//! processors to it.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::PluginError;
use crate::model::{
    Challenge, Corpus, DocumentSet, DocumentSource, Index, Operation, Parallel, Params, ScheduleElement,
    Task, Template, Track, ignore_response_error_level, target_throughput,
};

/// Returns the whole track. Document files that already exist have absolute paths.
pub(super) fn to_json(track: &Track) -> Value {
    json!({
        "name": track.name,
        "description": track.description,
        "meta_data": track.meta,
        "root": track.root,
        "indices": track.indices.iter()
            .map(|index| json!({"name": index.name, "body": index.body, "types": []})).collect::<Vec<_>>(),
        "data_streams": track.data_streams,
        "templates": templates_json(&track.templates),
        "composable_templates": templates_json(&track.composable_templates),
        "component_templates": templates_json(&track.component_templates),
        "corpora": track.corpora.iter().map(corpus_json).collect::<Vec<_>>(),
        "challenges": track.challenges.iter().map(challenge_json).collect::<Vec<_>>(),
    })
}

fn templates_json(templates: &[Template]) -> Vec<Value> {
    let one = |template: &Template| {
        json!({
            "name": template.name,
            "pattern": template.index_pattern,
            "content": template.body,
            "delete_matching_indices": template.delete_matching_indices,
        })
    };
    templates.iter().map(one).collect()
}

fn corpus_json(corpus: &Corpus) -> Value {
    let documents = corpus.documents.iter().map(|set| {
        json!({
            "document_file": set.file,
            "document_archive": set.archive,
            "base_url": set.base_url,
            "includes_action_and_meta_data": set.includes_action_and_meta_data,
            "number_of_documents": set.number_of_documents,
            "compressed_size_in_bytes": set.compressed_size_bytes,
            "uncompressed_size_in_bytes": set.uncompressed_size_bytes,
            "target_index": set.target_index,
            "target_data_stream": set.target_data_stream,
            "target_type": set.target_type,
            "meta_data": set.meta,
        })
    });
    json!({"name": corpus.name, "meta_data": corpus.meta, "documents": documents.collect::<Vec<_>>()})
}

fn challenge_json(challenge: &Challenge) -> Value {
    let schedule = challenge.schedule.iter().map(|element| match element {
        ScheduleElement::Task(task) => task_json(task, None),
        ScheduleElement::Parallel(parallel) => json!({
            "parallel": parallel.tasks.iter()
                .map(|task| task_json(task, parallel.completed_by.as_deref())).collect::<Vec<_>>(),
            "clients": parallel.clients,
        }),
    });
    json!({
        "name": challenge.name,
        "description": challenge.description,
        "user_info": challenge.user_info,
        "default": challenge.default,
        "auto_generated": challenge.auto_generated,
        "parameters": challenge.parameters,
        "meta_data": challenge.meta,
        "schedule": schedule.collect::<Vec<_>>(),
    })
}

fn task_json(task: &Task, completed_by: Option<&str>) -> Value {
    json!({
        "name": task.name,
        "operation": {
            "name": task.operation.name,
            "type": task.operation.kind,
            "meta_data": task.operation.meta,
            "params": task.operation.params,
            "param_source": task.operation.param_source,
        },
        "tags": task.tags,
        "meta_data": task.meta,
        "warmup_iterations": task.warmup_iterations,
        "iterations": task.iterations,
        "warmup_time_period": task.warmup_time_period_s,
        "time_period": task.time_period_s,
        "ramp_up_time_period": task.ramp_up_time_period_s,
        "clients": task.clients,
        "schedule": task.schedule,
        "params": task.params,
        "completes_parent": completed_by == Some(task.name.as_str()),
        "any_completes_parent": completed_by == Some("any"),
    })
}

/// Applies the changes of track processors to `track`. What Python's objects do not have stays as it is.
///
/// # Errors
/// [`PluginError::Track`] for values of the wrong type.
pub(super) fn take_changes(track: &mut Track, changed: &Value) -> Result<(), PluginError> {
    track.description = text(changed, "description").unwrap_or_default();
    track.meta = object(changed, "meta_data");
    track.indices = each(changed, "indices", |index| {
        let body =
            Some(index["body"].clone()).filter(|body| body.as_object().is_some_and(|body| !body.is_empty()));
        Ok(Index { name: mandatory(index, "name")?, body })
    })?;
    track.data_streams = each(changed, "data_streams", |name| as_text(name, "data_streams"))?;
    track.templates = each(changed, "templates", template)?;
    track.composable_templates = each(changed, "composable_templates", template)?;
    track.component_templates = each(changed, "component_templates", template)?;
    track.corpora = each(changed, "corpora", |given| corpus(given, &track.corpora))?;
    track.challenges = each(changed, "challenges", challenge)?;
    Ok(())
}

fn template(given: &Value) -> Result<Template, PluginError> {
    Ok(Template {
        name: mandatory(given, "name")?,
        index_pattern: text(given, "pattern").unwrap_or_default(),
        delete_matching_indices: given["delete_matching_indices"].as_bool().unwrap_or(true),
        body: given["content"].clone(),
    })
}

fn corpus(given: &Value, known: &[Corpus]) -> Result<Corpus, PluginError> {
    let name = mandatory(given, "name")?;
    let of_name = known.iter().find(|corpus| corpus.name == name);
    let documents = each(given, "documents", |set| {
        let file = text(set, "document_file").unwrap_or_default();
        let as_it_was = of_name.and_then(|corpus| corpus.documents.iter().find(|set| set.file == file));
        Ok(DocumentSet {
            source: as_it_was
                .map_or_else(|| DocumentSource::File(PathBuf::from(&file)), |set| set.source.clone()),
            file,
            archive: text(set, "document_archive"),
            base_url: text(set, "base_url"),
            sha256: as_it_was.and_then(|set| set.sha256.clone()),
            includes_action_and_meta_data: set["includes_action_and_meta_data"].as_bool().unwrap_or(false),
            number_of_documents: set["number_of_documents"].as_u64().unwrap_or(0),
            compressed_size_bytes: set["compressed_size_in_bytes"].as_u64(),
            uncompressed_size_bytes: set["uncompressed_size_in_bytes"].as_u64(),
            target_index: text(set, "target_index"),
            target_data_stream: text(set, "target_data_stream"),
            target_type: text(set, "target_type"),
            meta: object(set, "meta_data"),
        })
    })?;
    Ok(Corpus { name, documents, meta: object(given, "meta_data") })
}

fn challenge(given: &Value) -> Result<Challenge, PluginError> {
    Ok(Challenge {
        name: mandatory(given, "name")?,
        description: text(given, "description").unwrap_or_default(),
        default: given["default"].as_bool().unwrap_or(false),
        auto_generated: given["auto_generated"].as_bool().unwrap_or(false),
        user_info: text(given, "user_info"),
        parameters: object(given, "parameters"),
        meta: object(given, "meta_data"),
        schedule: each(given, "schedule", |element| match element.get("parallel") {
            None => Ok(ScheduleElement::Task(task(element)?)),
            Some(_) => {
                let completed_by =
                    element["parallel"].as_array().into_iter().flatten().find_map(|task| {
                        match (task["completes_parent"].as_bool(), task["any_completes_parent"].as_bool()) {
                            (Some(true), _) => text(task, "name"),
                            (_, Some(true)) => Some("any".to_owned()),
                            _ => None,
                        }
                    });
                Ok(ScheduleElement::Parallel(Parallel {
                    tasks: each(element, "parallel", task)?,
                    clients: count(element, "clients")?,
                    completed_by,
                }))
            }
        })?,
    })
}

fn task(given: &Value) -> Result<Task, PluginError> {
    let (name, params) = (mandatory(given, "name")?, object(given, "params"));
    let operation = &given["operation"];
    let operation_params = object(operation, "params");
    Ok(Task {
        target_throughput: target_throughput(&name, &params)?,
        ignore_response_error_level: ignore_response_error_level(&name, &params)?,
        name,
        operation: Operation {
            name: mandatory(operation, "name")?,
            kind: mandatory(operation, "type")?,
            param_source: text(operation, "param_source"),
            meta: object(operation, "meta_data"),
            include_in_reporting: operation_params
                .get("include-in-reporting")
                .and_then(Value::as_bool)
                .unwrap_or(true),
            params: operation_params,
        },
        tags: each(given, "tags", |tag| as_text(tag, "tags"))?,
        meta: object(given, "meta_data"),
        clients: count(given, "clients")?.unwrap_or(1),
        warmup_iterations: given["warmup_iterations"].as_u64(),
        iterations: given["iterations"].as_u64(),
        warmup_time_period_s: given["warmup_time_period"].as_f64(),
        time_period_s: given["time_period"].as_f64(),
        ramp_up_time_period_s: given["ramp_up_time_period"].as_f64(),
        schedule: text(given, "schedule"),
        params,
    })
}

fn wrong(name: &str, value: &Value) -> PluginError {
    PluginError::Track(format!("a track processor of the plugin left [{value}] as [{name}]"))
}

fn text(of: &Value, name: &str) -> Option<String> {
    of[name].as_str().map(str::to_owned)
}

fn as_text(value: &Value, name: &str) -> Result<String, PluginError> {
    value.as_str().map(str::to_owned).ok_or_else(|| wrong(name, value))
}

fn mandatory(of: &Value, name: &str) -> Result<String, PluginError> {
    as_text(&of[name], name)
}

fn count(of: &Value, name: &str) -> Result<Option<u32>, PluginError> {
    match &of[name] {
        Value::Null => Ok(None),
        value => value
            .as_u64()
            .and_then(|count| u32::try_from(count).ok())
            .map(Some)
            .ok_or_else(|| wrong(name, value)),
    }
}

fn object(of: &Value, name: &str) -> Params {
    of[name].as_object().cloned().unwrap_or_else(Map::new)
}

fn each<T>(
    of: &Value,
    name: &str,
    read: impl Fn(&Value) -> Result<T, PluginError>,
) -> Result<Vec<T>, PluginError> {
    match &of[name] {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => items.iter().map(read).collect(),
        other => Err(wrong(name, other)),
    }
}

//! `create-index-template`, `create-composable-template`, `create-component-template` (`runner.py`,
//! `Create…Template`).

use serde_json::{Value, json};

use super::merge::with_settings;
use crate::drive::operation::contract::{Operation, Plan};
use crate::drive::operation::flow::retry::retried;
use crate::drive::operation::requests::Requests;
use crate::error::Error;
use crate::http::Method;
use crate::model::Template;

pub(in crate::drive::operation) fn plan_index_template(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let own = || -> Result<_, Error> {
        let missing =
            "Please set the properties 'template' and 'body' for the create-index-template operation";
        own_template(plan)?.ok_or_else(|| Error::parameter(missing))
    };
    let templates = match plan.track.templates.is_empty() {
        true => vec![own()?],
        false => track_templates(plan, &plan.track.templates, &["settings"])?,
    };
    put_all(plan, "/_template", templates)
}

pub(in crate::drive::operation) fn plan_composable_template(
    plan: &Plan<'_>,
) -> Result<Box<dyn Operation>, Error> {
    let templates = own_or_track_templates(plan, &plan.track.composable_templates)?;
    put_all(plan, "/_index_template", templates)
}

pub(in crate::drive::operation) fn plan_component_template(
    plan: &Plan<'_>,
) -> Result<Box<dyn Operation>, Error> {
    let templates = own_or_track_templates(plan, &plan.track.component_templates)?;
    // Only the body's `template` is sent, as elasticsearch-py does with what Rally passes to it.
    let only_template = |(name, body): (String, Value)| match body.get("template") {
        Some(template) => Ok((name, json!({ "template": template }))),
        None => Err(Error::Parameter(format!("component template [{name}] has no 'template'"))),
    };
    put_all(plan, "/_component_template", templates.into_iter().map(only_template).collect::<Result<_, _>>()?)
}

fn put_all(
    plan: &Plan<'_>,
    path: &str,
    templates: Vec<(String, Value)>,
) -> Result<Box<dyn Operation>, Error> {
    let request = |(name, body): &(String, Value)| {
        let builder = plan.request_with_body(Method::Put, &format!("{path}/{name}"), Some(body))?;
        Ok(plan.with_request_params(builder)?.build())
    };
    let requests = templates.iter().map(request).collect::<Result<Vec<_>, Error>>()?;
    retried(plan, Requests::each(plan, requests)?)
}

/// Returns the operation's own `template` and `body`.
fn own_template(plan: &Plan<'_>) -> Result<Option<(String, Value)>, Error> {
    let name = plan.text("template")?;
    let body = plan.param("body").filter(|body| !body.is_null());
    Ok(name.zip(body).map(|(name, body)| (name.to_owned(), body.clone())))
}

/// Returns the operation's own template if it has one, else the track's.
fn own_or_track_templates(plan: &Plan<'_>, templates: &[Template]) -> Result<Vec<(String, Value)>, Error> {
    if let Some(own) = own_template(plan)? {
        return Ok(vec![own]);
    }
    if templates.is_empty() {
        return Err(Error::Parameter(format!(
            "Please set the properties 'template' and 'body' for the {} operation or declare composable and/or \
             component templates in the track",
            plan.task.operation.kind
        )));
    }
    track_templates(plan, templates, &["template", "settings"])
}

fn track_templates(
    plan: &Plan<'_>,
    templates: &[Template],
    settings_path: &[&str],
) -> Result<Vec<(String, Value)>, Error> {
    let filter = plan.text("template")?;
    let settings = plan.param("settings");
    let mut chosen = Vec::new();
    for template in templates.iter().filter(|template| filter.is_none_or(|name| name == template.name)) {
        let body = with_settings(Some(template.body.clone()), settings, settings_path)?;
        chosen.push((template.name.clone(), body.unwrap_or(Value::Null)));
    }
    match (filter, chosen.is_empty()) {
        (Some(name), true) => {
            let known: Vec<&str> = templates.iter().map(|template| template.name.as_str()).collect();
            Err(Error::Parameter(format!(
                "Unknown template: {name}. Available templates: {}.",
                known.join(", ")
            )))
        }
        _ => Ok(chosen),
    }
}

//! The analyzers of an index, by name: the built-in ones, and what `settings.analysis` declares.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value};

use super::analyzer::Analyzer;
use super::char_filter::{CHAR_FILTERS, CharFilter};
use super::context::{AnalysisLimits, Context, check_chain, check_name};
use super::filter::FILTERS;
use super::language;
use super::normalizer::Normalizer;
use super::resources::{AnalysisResources, nothing};
use super::settings::{Settings, strings, text};
use super::tokenizer::TOKENIZERS;
use crate::RequestError;

/// The built-in analyzers plus those of `settings.analysis`.
#[derive(Debug, Clone)]
pub struct Analyzers {
    by_name: HashMap<String, Arc<Analyzer>>,
    normalizers: HashMap<String, Arc<Normalizer>>,
    /// The body of `settings.analysis`.
    declared: Value,
    limits: AnalysisLimits,
    /// The node's resources for these analyzers.
    resources: Arc<dyn AnalysisResources>,
    /// The node's charge for their memory, released with them.
    _charge: Option<Arc<dyn Any + Send + Sync>>,
}

/// What analyzers are made of, beside the resources of the node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Declaration<'d> {
    /// The body of `settings.analysis`.
    pub analysis: &'d Value,
    /// The index's limits.
    pub limits: AnalysisLimits,
}

/// The names of an analyzer's components, and the definitions of those that only this analyzer uses.
#[derive(Debug, Clone, Default)]
pub struct AnalyzerParts {
    /// In the form of `settings.analysis`.
    pub declared: Map<String, Value>,
    /// Names of the character filters, in order.
    pub char_filters: Vec<String>,
    /// Name of the tokenizer.
    pub tokenizer: String,
    /// Names of the token filters, in order.
    pub filters: Vec<String>,
    /// Only filters that a normalizer may contain are allowed, because the request names no tokenizer.
    pub is_normalizer: bool,
}

impl AnalyzerParts {
    /// Returns the components that a request names or defines.
    ///
    /// # Errors
    /// A component is neither a name nor a definition with a type.
    pub fn of_request(custom: &Map<String, Value>) -> Result<AnalyzerParts, RequestError> {
        let is_normalizer = !custom.contains_key("tokenizer");
        let mut parts =
            AnalyzerParts { tokenizer: "keyword".into(), is_normalizer, ..AnalyzerParts::default() };
        for section in ["char_filter", "tokenizer", "filter"] {
            let mut declared = Map::new();
            let items = match custom.get(section) {
                None => &[][..],
                Some(Value::Array(items)) => items,
                Some(_) if section == "char_filter" => return Err(unsupported_value(section)),
                Some(one) => std::slice::from_ref(one),
            };
            for item in items {
                let name = match item {
                    Value::Object(body) if !body.contains_key("type") => {
                        return Err(RequestError::illegal_argument(format!(
                            "Missing [type] setting for anonymous {section}: {item}"
                        )));
                    }
                    Value::Object(_) => {
                        let name = format!("_anonymous_{}", declared.len());
                        declared.insert(name.clone(), item.clone());
                        name
                    }
                    _ => text_of_request(section, item)?,
                };
                match section {
                    "char_filter" => parts.char_filters.push(name),
                    "tokenizer" => parts.tokenizer = name,
                    _ => parts.filters.push(name),
                }
            }
            parts.declared.insert(section.to_owned(), declared.into());
        }
        Ok(parts)
    }
}

/// Reads a string of an `_analyze` request, or of something that is analyzed like one.
///
/// # Errors
/// It is not a string.
pub fn text_of_request(name: &str, value: &Value) -> Result<String, RequestError> {
    value.as_str().map(str::to_owned).ok_or_else(|| unsupported_value(name))
}

fn unsupported_value(name: &str) -> RequestError {
    let reason = format!("[analyze_request] {name} doesn't support values of this type");
    RequestError::bad_request("x_content_parse_exception", reason)
}

/// Returns the names of the supported types of each kind.
pub fn type_names() -> Vec<(&'static str, Vec<&'static str>)> {
    let analyzers = BUILT_IN.by_name.keys();
    let analyzers = language::names().filter(|name| analyzers.clone().any(|known| known == name)).collect();
    vec![
        ("analyzers", analyzers),
        ("tokenizers", TOKENIZERS.iter().map(|known| known.name).collect()),
        ("character filters", CHAR_FILTERS.iter().map(|known| known.name).collect()),
        ("token filters", FILTERS.iter().map(|known| known.name).collect()),
    ]
}

static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// Creates a context without declarations.
fn bare(limits: AnalysisLimits, resources: &Arc<dyn AnalysisResources>) -> Context<'_> {
    Context {
        tokenizers: &NOTHING,
        filters: &NOTHING,
        char_filters: &NOTHING,
        limits,
        resources,
        before: None,
        depth: 0,
    }
}

/// Creates a context without declarations and without a node.
#[cfg(test)]
pub(super) fn bare_context() -> Context<'static> {
    bare(AnalysisLimits::default(), nothing())
}

/// The built-in analyzers, created once, whatever becomes of the request that needs them first.
static BUILT_IN: LazyLock<Analyzers> = LazyLock::new(|| limber_work::suspended(make_built_in));

fn make_built_in() -> Analyzers {
    let context = bare(AnalysisLimits::default(), nothing());
    let mut by_name = HashMap::new();
    for name in language::names() {
        // Analyzers whose components are not supported yet are left out.
        if let Ok(Some(analyzer)) = language::analyzer(name, &Settings { name, body: &NOTHING }, &context) {
            by_name.insert(name.to_owned(), Arc::new(analyzer));
        }
    }
    let lowercase = context.filter("lowercase").ok().flatten().expect("a filter without settings");
    let lowercase = Arc::new(Normalizer::lowercase("lowercase", lowercase));
    let normalizers = HashMap::from([("lowercase".to_owned(), lowercase)]);
    Analyzers {
        by_name,
        normalizers,
        declared: Value::Null,
        limits: AnalysisLimits::default(),
        resources: nothing().clone(),
        _charge: None,
    }
}

impl Analyzers {
    /// Returns the built-in analyzers.
    pub fn built_in() -> Analyzers {
        BUILT_IN.clone()
    }

    /// Returns the built-in analyzers, with this node as the source of files, synonym sets and scripts.
    pub fn built_in_of(resources: &Arc<dyn AnalysisResources>) -> Analyzers {
        Analyzers { resources: resources.clone(), ..BUILT_IN.clone() }
    }

    /// Returns these analyzers; `charge` is dropped with the last copy of them.
    pub fn with_charge(self, charge: Arc<dyn Any + Send + Sync>) -> Analyzers {
        Analyzers { _charge: Some(charge), ..self }
    }

    /// Does the same as [`Analyzers::parse`], but shares the analyzers of equal declarations.
    ///
    /// # Errors
    /// As [`Analyzers::parse`], and if there is not enough memory to keep the analyzers.
    pub fn parse_shared(
        analysis: &Value,
        limits: AnalysisLimits,
        resources: &Arc<dyn AnalysisResources>,
    ) -> Result<Arc<Analyzers>, RequestError> {
        let declaration = Declaration { analysis, limits };
        resources.shared(declaration, &mut || Analyzers::parse(analysis, limits, resources))
    }

    /// Returns what the index declares.
    pub fn declaration(&self) -> Declaration<'_> {
        Declaration { analysis: &self.declared, limits: self.limits }
    }

    /// Returns the built-in analyzers and those in the body of `settings.analysis`.
    ///
    /// Error: `illegal_argument_exception` that names the analyzer, tokenizer, filter or parameter that does
    /// not exist.
    pub fn parse(
        analysis: &Value,
        limits: AnalysisLimits,
        resources: &Arc<dyn AnalysisResources>,
    ) -> Result<Analyzers, RequestError> {
        let mut analyzers = Analyzers { limits, ..Analyzers::built_in_of(resources) };
        let Value::Object(sections) = analysis else {
            return if analysis.is_null() {
                Ok(analyzers)
            } else {
                Err(RequestError::illegal_argument("[analysis] must be an object"))
            };
        };
        let section = |name: &str| match sections.get(name) {
            None => Ok(&*NOTHING),
            Some(Value::Object(section)) => Ok(section),
            Some(_) => Err(RequestError::illegal_argument(format!("[analysis.{name}] must be an object"))),
        };
        for (name, body) in sections {
            limber_work::check()?;
            let is_empty = body.as_object().is_some_and(Map::is_empty);
            let is_known =
                matches!(name.as_str(), "analyzer" | "tokenizer" | "filter" | "char_filter" | "normalizer");
            if !is_known && !is_empty {
                return Err(RequestError::unsupported(format!("[analysis.{name}]")));
            }
        }
        let (tokenizers, filters) = (section("tokenizer")?, section("filter")?);
        let context =
            Context { tokenizers, filters, char_filters: section("char_filter")?, ..bare(limits, resources) };
        for name in context.char_filters.keys() {
            context.char_filter(name)?;
        }
        for name in context.filters.keys() {
            limber_work::check()?;
            context.filter(name)?;
        }
        for name in context.tokenizers.keys() {
            context.tokenizer(name)?;
        }
        for (name, body) in section("analyzer")? {
            limber_work::check()?;
            check_name(name)?;
            let Value::Object(body) = body else {
                return Err(RequestError::illegal_argument(format!(
                    "[analysis.analyzer.{name}] must be an object"
                )));
            };
            let analyzer = analyzer(&context, &Settings { name, body })?;
            analyzers.by_name.insert(name.clone(), Arc::new(analyzer));
        }
        for (name, body) in section("normalizer")? {
            limber_work::check()?;
            let Value::Object(body) = body else {
                return Err(RequestError::illegal_argument(format!(
                    "[analysis.normalizer.{name}] must be an object"
                )));
            };
            let normalizer = normalizer(&context, &Settings { name, body })?;
            analyzers.normalizers.insert(name.clone(), Arc::new(normalizer));
        }
        analyzers.declared = analysis.clone();
        Ok(analyzers)
    }

    /// Builds an analyzer for one `_analyze` request from the index's declarations and the built-in
    /// components.
    pub fn ad_hoc(&self, parts: &AnalyzerParts) -> Result<Analyzer, RequestError> {
        let sections = |name: &str| {
            let mut section = self.declared.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
            let own = parts.declared.get(name).and_then(Value::as_object).cloned();
            section.extend(own.unwrap_or_default());
            section
        };
        let (tokenizers, filters, char_filters) =
            (sections("tokenizer"), sections("filter"), sections("char_filter"));
        let context = Context {
            tokenizers: &tokenizers,
            filters: &filters,
            char_filters: &char_filters,
            ..bare(self.limits, &self.resources)
        };
        let missing = |what: &str, name: &str| match what == "filter" && needs_settings(name) {
            true => RequestError::illegal_argument(
                "Analysis settings required - can't instantiate analysis factory",
            ),
            false => RequestError::illegal_argument(format!("failed to find global {what} under [{name}]")),
        };
        let tokenizer = context.tokenizer(&parts.tokenizer)?;
        let tokenizer = tokenizer.ok_or_else(|| missing("tokenizer", &parts.tokenizer))?;
        let mut whole = Vec::with_capacity(parts.char_filters.len());
        for filter in &parts.char_filters {
            whole.push(context.char_filter(filter)?.ok_or_else(|| missing("char_filter", filter))?);
        }
        let chain = context.filters(&parts.filters, &whole, &tokenizer, |name| missing("filter", name))?;
        let other = chain.iter().zip(&parts.filters).find(|(filter, _)| !filter.is_normalizing);
        if let Some((_, name)) = other.filter(|_| parts.is_normalizer) {
            let kind = filters.get(name).and_then(|body| body.get("type")).map(text);
            let name = kind.map_or_else(|| name.clone(), |kind| format!("__anonymous__{kind}"));
            let reason = format!("Custom normalizer may not use filter [{name}]");
            return Err(RequestError::illegal_argument(reason));
        }
        Ok(Analyzer::new("_custom_", tokenizer, chain).with_char_filters(whole))
    }

    /// Returns the components of the index's custom analyzer with this name; `None` if the index does not
    /// declare it.
    pub fn parts(&self, name: &str) -> Option<AnalyzerParts> {
        let body = self.declared.get("analyzer")?.get(name)?;
        let tokenizer = body.get("tokenizer").map(text)?;
        let is_custom = body.get("type").is_none_or(|kind| kind == "custom");
        is_custom.then(|| AnalyzerParts {
            declared: Map::new(),
            char_filters: strings(body.get("char_filter")),
            tokenizer,
            filters: strings(body.get("filter")),
            is_normalizer: false,
        })
    }

    /// Returns the components of the index's custom normalizer with this name; `None` if the index does not
    /// declare it.
    pub fn normalizer_parts(&self, name: &str) -> Option<AnalyzerParts> {
        let body = self.declared.get("normalizer")?.get(name)?;
        let is_custom = body.get("type").is_none_or(|kind| kind == "custom");
        is_custom.then(|| AnalyzerParts {
            declared: Map::new(),
            char_filters: strings(body.get("char_filter")),
            tokenizer: "keyword".to_owned(),
            filters: strings(body.get("filter")),
            is_normalizer: true,
        })
    }

    /// Returns the names of the index's own analyzers that can be reloaded, or only those that read
    /// `resource` if it is given.
    pub fn reloadable(&self, resource: Option<&str>) -> Vec<&str> {
        let is_meant = |analyzer: &Analyzer| {
            analyzer.is_updateable() && resource.is_none_or(|resource| analyzer.reads(resource))
        };
        let declared = self.declared.get("analyzer").and_then(Value::as_object).into_iter().flatten();
        let names = declared.map(|(name, _)| name.as_str());
        names.filter(|name| self.get(name).is_some_and(|analyzer| is_meant(analyzer))).collect()
    }

    /// Returns the node's resources for these analyzers.
    pub fn resources(&self) -> &Arc<dyn AnalysisResources> {
        &self.resources
    }

    /// Returns the index's own analyzer with this name, or the built-in one.
    pub fn get(&self, name: &str) -> Option<&Arc<Analyzer>> {
        self.by_name.get(name)
    }

    /// Returns a normalizer of keywords: `lowercase`, or one that the index declares.
    pub fn normalizer(&self, name: &str) -> Option<&Arc<Normalizer>> {
        self.normalizers.get(name)
    }

    /// Returns the analyzer of a text field that names none: the index's `default`, else `standard`.
    pub fn default_index(&self) -> Arc<Analyzer> {
        self.get("default").or_else(|| self.get("standard")).expect("standard is built in").clone()
    }

    /// Returns the analyzer of query texts for such a field: `default_search`, else the above.
    pub fn default_search(&self) -> Arc<Analyzer> {
        self.get("default_search").cloned().unwrap_or_else(|| self.default_index())
    }
}

fn analyzer(context: &Context<'_>, settings: &Settings<'_>) -> Result<Analyzer, RequestError> {
    let name = settings.name;
    let kind = match settings.text("type") {
        Some(kind) => kind,
        None if settings.body.contains_key("tokenizer") => "custom".to_owned(),
        None => {
            return Err(RequestError::illegal_argument(format!(
                "analyzer [{name}] must specify either an analyzer type, or a tokenizer"
            )));
        }
    };
    if kind == "custom" {
        return custom(context, settings);
    }
    language::analyzer(&kind, settings, context)?.ok_or_else(|| match MISSING.contains(&kind.as_str()) {
        true => RequestError::unsupported(format!("analyzer type [{kind}] of analyzer [{name}]")),
        false => RequestError::illegal_argument(format!("Unknown analyzer type [{kind}] for [{name}]")),
    })
}

/// Analyzers of Elasticsearch's plugins that are not supported.
const MISSING: &[&str] = &["icu_analyzer", "kuromoji", "nori", "polish", "smartcn", "ukrainian"];

fn custom(context: &Context<'_>, settings: &Settings<'_>) -> Result<Analyzer, RequestError> {
    let name = settings.name;
    let missing = |what: &str, part: &str| {
        RequestError::illegal_argument(format!(
            "Custom Analyzer [{name}] failed to find {what} under name [{part}]"
        ))
    };
    let tokenizer = settings.text("tokenizer").ok_or_else(|| {
        RequestError::illegal_argument(format!(
            "Custom Analyzer [{name}] must be configured with a tokenizer"
        ))
    })?;
    let tokenizer = context.tokenizer(&tokenizer)?.ok_or_else(|| missing("tokenizer", &tokenizer))?;
    let whole = char_filters(context, settings, |part| missing("char_filter", part))?;
    let names = settings.list("filter").unwrap_or_default();
    let chain = context.filters(&names, &whole, &tokenizer, |part| missing("filter", part))?;
    let analyzer = Analyzer::new(name, tokenizer, chain).with_char_filters(whole);
    if settings.value("position_increment_gap").is_none() {
        return Ok(analyzer);
    }
    let gap = settings.int("position_increment_gap", 0)?;
    let gap = u32::try_from(gap)
        .map_err(|_| RequestError::unsupported(format!("[position_increment_gap: {gap}] of an analyzer")))?;
    Ok(analyzer.with_gap(gap))
}

/// Whether the filter exists but must be declared, because it does nothing without settings.
fn needs_settings(name: &str) -> bool {
    FILTERS.iter().any(|known| known.name == name && !known.is_ready)
}

fn char_filters(
    context: &Context<'_>,
    settings: &Settings<'_>,
    missing: impl Fn(&str) -> RequestError,
) -> Result<Vec<CharFilter>, RequestError> {
    let names = settings.list("char_filter").unwrap_or_default();
    names.iter().map(|name| context.char_filter(name)?.ok_or_else(|| missing(name))).collect()
}

/// Builds a custom normalizer. Source: `CustomNormalizerProvider`.
fn normalizer(context: &Context<'_>, settings: &Settings<'_>) -> Result<Normalizer, RequestError> {
    let name = settings.name;
    match settings.text("type").as_deref() {
        Some("lowercase") => {
            let filter = bare(context.limits, context.resources).filter("lowercase")?;
            return filter
                .map(|filter| Normalizer::lowercase(name, filter))
                .ok_or_else(|| RequestError::illegal_argument("Unknown normalizer type [lowercase]"));
        }
        None | Some("custom") => {}
        Some(other) => {
            return Err(RequestError::illegal_argument(format!(
                "Unknown normalizer type [{other}] for [{name}]"
            )));
        }
    }
    if settings.body.contains_key("tokenizer") {
        return Err(RequestError::illegal_argument(format!(
            "Custom normalizer [{name}] cannot configure a tokenizer"
        )));
    }
    let refused = |what: &str, part: &str| {
        RequestError::illegal_argument(format!("Custom normalizer [{name}] may not use {what} [{part}]"))
    };
    let mut whole = Vec::new();
    for part in settings.list("char_filter").unwrap_or_default() {
        let parsed = context.char_filter(&part)?.ok_or_else(|| {
            RequestError::illegal_argument(format!(
                "Custom normalizer [{name}] failed to find char_filter under name [{part}]"
            ))
        })?;
        if !parsed.is_normalizing {
            return Err(refused("char filter", &part));
        }
        whole.push(parsed);
    }
    let names = settings.list("filter").unwrap_or_default();
    let mut filters = Vec::with_capacity(check_chain(names.len())?);
    for part in names {
        let parsed = match context.filter(&part)? {
            Some(parsed) => parsed,
            None if needs_settings(&part) => return Err(refused("filter", &part)),
            None => {
                return Err(RequestError::illegal_argument(format!(
                    "Custom Analyzer [{name}] failed to find filter under name [{part}]"
                )));
            }
        };
        if !parsed.is_normalizing {
            return Err(refused("filter", &part));
        }
        filters.push(parsed);
    }
    Ok(Normalizer::new(name, whole, filters))
}

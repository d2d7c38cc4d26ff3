//! Tests of tracks with a `track.py` against the stub: what Python returns, what arrives at the server, and
//! error messages.
//!
//! These tests need a `python3`; without one they print so and pass.

use std::path::PathBuf;
use std::sync::{LazyLock, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::stub::{Asked, Stub};
use super::{config, race};
use crate::drive::driver::DriveConfig;
use crate::track::load::{Loaded, TrackSource, TrackSpec, load};
use crate::track::plugin::{Interpreter, PluginError, PythonSettings};

/// A track's folder with this plugin and schedule.
struct Folder {
    folder: TempDir,
}

impl Folder {
    /// Writes the folder. Without Python, prints the reason and returns `None`.
    fn new(plugin: &str, track: Value) -> Option<Folder> {
        static PYTHON: LazyLock<Result<Interpreter, PluginError>> =
            LazyLock::new(|| Interpreter::find(&PythonSettings::default()));
        if let Err(error) = &*PYTHON {
            println!("skipped: {error}");
            return None;
        }
        let folder = Folder { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(folder.path()).unwrap();
        std::fs::write(folder.path().join("track.py"), plugin).unwrap();
        std::fs::write(folder.path().join("track.json"), track.to_string()).unwrap();
        Some(folder)
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("mine")
    }

    fn spec(&self) -> TrackSpec {
        let mut spec = TrackSpec::new(TrackSource::Path(self.path()), 0.0);
        spec.data_root = Some(self.folder.path().join("data"));
        spec
    }

    fn load(&self) -> Result<Loaded, String> {
        load(&self.spec(), &mut std::io::sink()).map_err(|error| error.to_string())
    }
}

fn track_of(schedule: Value) -> Value {
    json!({"version": 2, "description": "d", "indices": [{"name": "logs"}], "schedule": schedule})
}

/// Races the default challenge and returns the requests of its tasks.
pub(super) fn asked(plugin: &str, schedule: Value) -> Option<Result<Vec<Asked>, String>> {
    asked_of(plugin, schedule, |_| None)
}

pub(super) fn asked_of(
    plugin: &str,
    schedule: Value,
    responder: impl Fn(&Asked) -> Option<(u16, String)> + Send + Sync + 'static,
) -> Option<Result<Vec<Asked>, String>> {
    let folder = Folder::new(plugin, track_of(schedule))?;
    Some(raced(&folder, responder))
}

fn raced(
    folder: &Folder,
    responder: impl Fn(&Asked) -> Option<(u16, String)> + Send + Sync + 'static,
) -> Result<Vec<Asked>, String> {
    let Loaded { track, plugin } = folder.load()?;
    let stub = Stub::start(responder);
    race(&track, &track.challenges[0].schedule, &DriveConfig { plugin: plugin.clone(), ..config(&stub) })
        .map_err(|error| error.to_string())?;
    Ok(stub.asked())
}

pub(super) fn bodies(asked: &[Asked]) -> Vec<&str> {
    asked.iter().map(|asked| asked.body.as_str()).collect()
}

#[test]
fn a_parameter_source_ends_by_itself() {
    let plugin = r#"
class Source:
    infinite = False

    def __init__(self, track, params, **kwargs):
        self.left, self.of = 3, params["of"]
        assert track.index_names() == ["logs"]

    def partition(self, index, total):
        self.name = f"{self.of}-{index}/{total}"
        return self

    @property
    def percent_completed(self):
        return (3 - self.left) / 3

    def params(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return {"index": "logs", "cache": True, "body": {"query": {"term": {self.name: self.left}}}}


def register(registry):
    registry.register_param_source("mine", Source)
"#;
    let operation = json!({"operation-type": "search", "param-source": "mine", "of": "x"});
    let Some(asked) = asked(plugin, json!([{"operation": operation}])) else { return };
    let asked = asked.unwrap();
    assert_eq!(asked[0].line(), "GET /logs/_search?request_cache=true");
    let expected: Vec<String> =
        (0..3).rev().map(|left| format!(r#"{{"query":{{"term":{{"x-0/1":{left}}}}}}}"#)).collect();
    assert_eq!(bodies(&asked), expected);
}

#[test]
fn an_endless_source_is_asked_for_what_the_iterations_need() {
    // The plugin would fail if it were asked for an eleventh set.
    let plugin = r#"
from esrally.track.params import ParamSource


class Source(ParamSource):
    def __init__(self, track, params, **kwargs):
        super().__init__(track, params, **kwargs)
        self.count = 0

    def params(self):
        self.count += 1
        assert self.count <= 10
        return {"path": f"/n/{self.count}", "method": "POST", "body": {"n": self.count, "text": "\u00fc"}}


def function(track, params, **kwargs):
    return {"path": "/function", "n": params["n"]}


def register(registry):
    registry.register_param_source("counting", Source)
    registry.register_param_source("function", function)
"#;
    let schedule = json!([
        {"operation": {"operation-type": "raw-request", "param-source": "counting"}, "warmup-iterations": 3, "iterations": 7},
        {"name": "once", "operation": {"operation-type": "raw-request", "param-source": "function", "n": 1}},
    ]);
    let Some(asked) = asked(plugin, schedule) else { return };
    let asked = asked.unwrap();
    let expected: Vec<String> =
        (1..=10).map(|n| format!("POST /n/{n}")).chain(["GET /function".to_owned()]).collect();
    assert_eq!(asked.iter().map(Asked::line).collect::<Vec<_>>(), expected);
    assert_eq!(asked[9].body, r#"{"n":10,"text":"ü"}"#);
}

#[test]
fn runners_use_the_client_of_the_race() {
    let plugin = r#"
import elasticsearch


class Several:
    entered = 0

    async def __aenter__(self):
        self.entered += 1
        return self

    async def __aexit__(self, *error):
        return False

    async def __call__(self, es, params):
        assert self.entered == 1
        assert bool(await es.indices.exists(index="there")) is False
        await es.indices.put_settings(index="logs", body={"number_of_replicas": 0})
        await es.cluster.health(index="logs", wait_for_status="green")
        found = await es.options(request_timeout=3).search(index="logs", body={"size": 1}, request_cache=True)
        assert found["hits"]["total"]["value"] == 3 and found["took"] == 2
        await es.perform_request(method="POST", path="/a/b", params={"x": True}, body={"y": [1, None]}, headers={"z": "1"})
        try:
            await es.perform_request(method="GET", path="/missing")
        except elasticsearch.NotFoundError as error:
            assert error.status_code == 404 and error.body == {"error": {"type": "gone"}}
        print("printed to standard output")
        return {"weight": 7, "unit": "things", "success": True}


async def plain(es, params):
    await es.indices.refresh(index=params["target"])
    return 2, "docs"


def register(registry):
    registry.register_runner("several", Several(), async_runner=True)
    registry.register_runner("plain", plain, async_runner=registry.meta_data["async_runner"])
"#;
    let schedule = json!([
        {"operation": {"operation-type": "several"}},
        {"operation": {"operation-type": "plain", "target": "logs"}, "iterations": 2},
    ]);
    let answer = |asked: &Asked| match asked.target.as_str() {
        "/missing" => Some((404, r#"{"error":{"type":"gone"}}"#.to_owned())),
        "/logs/_search?request_cache=true" => {
            Some((200, r#"{"took":2,"hits":{"total":{"value":3}}}"#.to_owned()))
        }
        _ => None,
    };
    let Some(folder) = Folder::new(plugin, track_of(schedule)) else { return };
    let Loaded { track, plugin } = folder.load().unwrap();
    let stub = Stub::start(answer);
    let results =
        race(&track, &track.challenges[0].schedule, &DriveConfig { plugin: plugin.clone(), ..config(&stub) })
            .unwrap();
    let lines = stub.lines();
    let expected = [
        "HEAD /there",
        "PUT /logs/_settings",
        "GET /_cluster/health/logs?wait_for_status=green",
        "POST /logs/_search?request_cache=true",
        "POST /a/b?x=true",
        "GET /missing",
        "POST /logs/_refresh",
        "POST /logs/_refresh",
    ];
    assert_eq!(lines, expected);
    let sent = stub.asked();
    assert_eq!(sent[4].body, r#"{"y":[1,null]}"#);
    assert!(sent[4].headers.contains(&"z: 1".to_owned()), "{:?}", sent[4].headers);
    assert_eq!(sent[4].headers.iter().filter(|header| header.starts_with("user-agent")).count(), 1);
    let weights: Vec<u64> = results.iter().map(|result| result.statistics.weight_total).collect();
    assert_eq!(weights, [7, 4]);
    assert_eq!(results.iter().map(|result| result.statistics.failures()).sum::<u64>(), 0);
}

#[test]
fn what_a_runner_fails_with_is_counted_as_rally_counts_it() {
    let plugin = r#"
async def failing(es, params):
    await es.search(index="missing", body={})


async def unsuccessful(es, params):
    return {"weight": 1, "unit": "ops", "success": False, "error-type": "mine", "error-description": "not yet"}


def register(registry):
    registry.register_runner("failing", failing, async_runner=True)
    registry.register_runner("unsuccessful", unsuccessful, async_runner=True)
"#;
    let schedule = json!([{"operation": {"operation-type": "failing"}}, {"operation": {"operation-type": "unsuccessful"}}]);
    let Some(folder) = Folder::new(plugin, track_of(schedule)) else { return };
    let Loaded { track, plugin } = folder.load().unwrap();
    let stub = Stub::start(|asked| {
        asked
            .target
            .starts_with("/missing")
            .then(|| (404, r#"{"error":{"type":"index_not_found"}}"#.to_owned()))
    });
    let results =
        race(&track, &track.challenges[0].schedule, &DriveConfig { plugin: plugin.clone(), ..config(&stub) })
            .unwrap();
    let lines: Vec<String> = results.iter().flat_map(|result| result.statistics.error_lines()).collect();
    assert!(lines[0].contains("index_not_found") && lines[0].contains("404"), "{lines:?}");
    assert!(lines[1].contains("not yet"), "{lines:?}");
}

#[test]
fn schedulers_say_when_requests_are_due() {
    let plugin = r#"
class Simple:
    def __init__(self, task, throughput):
        assert throughput == 100.0, throughput

    def next(self, current):
        return current + 0.001


class Regular:
    def __init__(self, task):
        self.parameter_source = None
        self.calls = []

    def before_request(self, now):
        self.calls.append("before")

    def after_request(self, now, weight, unit, request_meta_data):
        assert request_meta_data["success"] and (weight, unit) == (1, "ops")
        self.calls.append("after")

    def next(self, current):
        self.parameter_source.calls = list(self.calls)
        return 0 if not self.calls else current + 0.001


class Source:
    infinite = True
    calls = None

    def __init__(self, track, params, **kwargs):
        pass

    def partition(self, index, total):
        return self

    def params(self):
        return {"path": "/calls", "method": "POST", "body": self.calls}


def register(registry):
    registry.register_scheduler("simple", Simple)
    registry.register_scheduler("regular", Regular)
    registry.register_param_source("calls", Source)
"#;
    let schedule = json!([
        {"operation": {"operation-type": "search", "index": "logs", "body": {}}, "schedule": "simple",
            "target-throughput": 100, "iterations": 5},
        {"operation": {"operation-type": "raw-request", "param-source": "calls"}, "schedule": "regular", "iterations": 3},
    ]);
    let Some(asked) = asked(plugin, schedule) else { return };
    let asked = asked.unwrap();
    assert_eq!(asked.len(), 8);
    let expected = ["[]", r#"["before","after"]"#, r#"["before","after","before","after"]"#];
    assert_eq!(bodies(&asked[5..]), expected);
}

#[test]
fn track_processors_change_the_track_and_make_its_data() {
    let plugin = r#"
import os

from esrally.track import DocumentCorpus, Documents
from esrally.track.loader import TrackProcessor


class Lazy(Documents):
    """Its size is known when it is there."""

    def __init__(self, document_file):
        super().__init__(Documents.SOURCE_FORMAT_BULK, document_file=document_file)

    @property
    def number_of_documents(self):
        return 2 if os.path.isabs(self.document_file) else 0

    @number_of_documents.setter
    def number_of_documents(self, value):
        pass


class Processor(TrackProcessor):
    def on_after_load_track(self, track):
        challenge = track.selected_challenge_or_default
        assert challenge.parameters == {"a": [1, 2], "b": 3}, challenge.parameters
        task = challenge.schedule[0]
        task.operation.params["body"] = {"changed": True}
        track.corpora.append(DocumentCorpus("made", [Lazy("made.json")]))

    def on_prepare_track(self, track, data_root_dir):
        return [(make, {"folder": os.path.join(data_root_dir, "made")})]


def make(folder):
    os.makedirs(folder)
    with open(os.path.join(folder, "made.json"), "w") as file:
        file.write('{"n": 1}\n{"n": 2}\n')


class Made:
    infinite = True

    def __init__(self, track, params, **kwargs):
        self.documents = track.corpora[0].documents[0]

    def partition(self, index, total):
        return self

    def params(self):
        with open(self.documents.document_file) as file:
            return {"path": f"/made/{self.documents.number_of_documents}", "method": "POST", "body": file.read()}


def register(registry):
    registry.register_track_processor(Processor())
    registry.register_param_source("made", Made)
"#;
    let schedule = json!([
        {"operation": {"operation-type": "search", "index": "logs", "body": {}}},
        {"operation": {"operation-type": "raw-request", "param-source": "made"}},
    ]);
    let challenge =
        json!({"name": "c", "default": true, "parameters": {"a": [2], "b": 3}, "schedule": schedule});
    let track = json!({"version": 2, "description": "d", "indices": [{"name": "logs"}], "parameters": {"a": [1]},
        "challenges": [challenge]});
    let Some(folder) = Folder::new(plugin, track) else { return };
    let asked = raced(&folder, |_| None).unwrap();
    assert_eq!(asked[0].body, r#"{"changed":true}"#);
    assert_eq!(
        (asked[1].line().as_str(), asked[1].body.as_str()),
        ("POST /made/2", "{\"n\": 1}\n{\"n\": 2}\n")
    );
}

#[test]
fn lists_of_a_source_go_through_rallys_runners() {
    let plugin = r#"
from esrally.track.params import CreateComponentTemplateParamSource


class Templates(CreateComponentTemplateParamSource):
    pass


def indices(track, params, **kwargs):
    return {"indices": [(f"i-{n}", {"settings": {"n": n}}) for n in range(2)], "request-params": {"timeout": "1m"}}


def register(registry):
    registry.register_param_source("templates", Templates)
    registry.register_param_source("indices", indices)
"#;
    let schedule = json!([
        {"operation": {"operation-type": "create-component-template", "param-source": "templates",
            "template": "t", "body": {"template": {}}}},
        {"operation": {"operation-type": "create-index", "param-source": "indices"}},
    ]);
    let Some(asked) = asked(plugin, schedule) else { return };
    let lines: Vec<String> = asked.unwrap().iter().map(Asked::line).collect();
    assert_eq!(lines, ["PUT /_component_template/t", "PUT /i-0?timeout=1m", "PUT /i-1?timeout=1m"]);
}

/// Checks that the error of loading or racing with the plugin contains all of `expected`.
#[track_caller]
fn check_failure(plugin: &str, task: Value, expected: &[&str]) {
    let Some(asked) = asked(plugin, json!([task])) else { return };
    let error = asked.unwrap_err();
    for part in expected {
        assert!(error.contains(part), "[{part}] is not in: {error}");
    }
}

#[test]
fn failures_name_the_plugin_and_its_line() {
    let search = json!({"operation": {"operation-type": "search", "param-source": "mine", "index": "logs"}, "iterations": 9});
    let source = |params: &str| {
        format!(
            "class Mine:\n    infinite = True\n    def __init__(self, track, params, **kwargs): pass\n    \
             def partition(self, index, total): return self\n    def params(self):\n        {params}\n\n\
             def register(registry):\n    registry.register_param_source('mine', Mine)\n"
        )
    };
    check_failure(
        &source("raise ValueError('no more')"),
        search.clone(),
        &["ValueError: no more", "track.py", "line 6, in params"],
    );
    check_failure(&source("import os; os._exit(3)"), search.clone(), &["ended", "exit status: 3"]);
    check_failure(&source("return [1]"), search.clone(), &["gave [[1]], which is no dict"]);
    check_failure(
        &source("return {'body': {'a': object()}}"),
        search.clone(),
        &["[builtins.object] has no form in JSON"],
    );
    check_failure(
        &source("return {'index': 'x', 'body': {}, 'request-params': 1}"),
        search.clone(),
        &["'request-params' must be an object"],
    );
    check_failure(
        "import no_such_module\n\ndef register(registry): pass\n",
        search.clone(),
        &["track.py", "imports [no_such_module]", "-m pip install no_such_module"],
    );
    check_failure(
        "def register(registry):\n    registry.register_runner('mine', print)\n",
        search.clone(),
        &["async_runner=True"],
    );
    check_failure("x = 1\n", search.clone(), &["has no function register"]);
    check_failure(
        "def register(registry): 1 / 0\n",
        search.clone(),
        &["ZeroDivisionError", "line 1, in register"],
    );
    check_failure(
        "def register(registry): pass\n",
        search,
        &["parameter source [mine] is neither built in nor registered"],
    );
    let runner = "async def mine(es, params):\n    return params['missing']\n\n\
        def register(registry):\n    registry.register_runner('mine', mine, async_runner=True)\n";
    check_failure(
        runner,
        json!({"operation": {"operation-type": "mine", "a": 1}}),
        &["Cannot execute [user-defined runner for [mine]]", "'a'", "Error: ['missing']"],
    );
    let runner = "async def mine(es, params):\n    await es.no_such.call()\n\n\
        def register(registry):\n    registry.register_runner('mine', mine, async_runner=True)\n";
    check_failure(runner, json!({"operation": {"operation-type": "mine"}}), &["no_such"]);
}

#[test]
fn a_plugin_that_hangs_is_ended_with_its_place() {
    let plugin = "import time\n\ndef mine(track, params, **kwargs):\n    time.sleep(1000)\n\n\
        def register(registry):\n    registry.register_param_source('mine', mine)\n";
    let task = json!([{"operation": {"operation-type": "search", "param-source": "mine"}}]);
    let Some(folder) = Folder::new(plugin, track_of(task)) else { return };
    let mut spec = folder.spec();
    spec.python.time_limit = std::time::Duration::from_secs(4);
    let Loaded { track, plugin } = load(&spec, &mut std::io::sink()).unwrap();
    let stub = Stub::start(|_| None);
    let error =
        race(&track, &track.challenges[0].schedule, &DriveConfig { plugin: plugin.clone(), ..config(&stub) })
            .map(drop)
            .unwrap_err()
            .to_string();
    assert!(
        error.contains("has not come to an end within 4 s") && error.contains("line 4, in mine"),
        "{error}"
    );
}

#[test]
fn python_is_not_needed_for_what_is_built_in() {
    let track = track_of(json!([{"operation": {"operation-type": "search", "index": "logs", "body": {}}}]));
    let Some(folder) = Folder::new("raise RuntimeError('never imported')", track) else { return };
    assert!(folder.load().unwrap().plugin.is_none());
}

#[test]
fn clients_have_partitions_of_one_source() {
    let plugin = r#"
class Source:
    infinite = False

    def __init__(self, track, params, **kwargs):
        pass

    def partition(self, index, total):
        part = Source(None, None)
        part.rest = iter(range(index * 100, index * 100 + 50))
        return part

    def params(self):
        return {"path": f"/{next(self.rest)}"}


def register(registry):
    registry.register_param_source("parts", Source)
"#;
    let seen = std::sync::Arc::new(Mutex::new(Vec::new()));
    let into = std::sync::Arc::clone(&seen);
    let task =
        json!([{"operation": {"operation-type": "raw-request", "param-source": "parts"}, "clients": 4}]);
    let Some(asked) = asked_of(plugin, task, move |asked| {
        into.lock().unwrap().push(asked.target[1..].parse::<u32>().unwrap());
        None
    }) else {
        return;
    };
    asked.unwrap();
    let mut seen = std::mem::take(&mut *seen.lock().unwrap());
    seen.sort_unstable();
    let expected: Vec<u32> = (0..4).flat_map(|client| client * 100..client * 100 + 50).collect();
    assert_eq!(seen, expected);
}

//! Recorded answers of servers, for tests of rules.
//!
//! `fixtures/*.json` are answers of Elasticsearch 9.4.3 and 7.10.2, OpenSearch 3.8.0 and Limber. Each server
//! had indexed the same 33,000 documents, and its answers are cut down to what rules read. Their data folder
//! is `/data`, and the process id is 17.

use std::collections::BTreeMap;
use std::ops::Deref;

use serde_json::{Value, json};

use super::finding::Unread;
use super::gc::{self, GcFigures};
use super::machine::made_up;
use super::seen::Seen;
use super::server::{Question, Server};

/// Length of the simulated sampling.
const WINDOW_S: f64 = 5.0;

/// A recorded server. A test can change its answers before it runs a rule.
pub(super) struct Recorded {
    seen: Seen,
    /// Holds the files of a simulated machine.
    _folder: Option<tempfile::TempDir>,
}

impl Deref for Recorded {
    type Target = Seen;

    fn deref(&self) -> &Seen {
        &self.seen
    }
}

pub(super) fn recorded(name: &str) -> Recorded {
    let text = match name {
        "es-9.4.3" => include_str!("fixtures/es-9.4.3.json"),
        "es-7.10.2" => include_str!("fixtures/es-7.10.2.json"),
        "opensearch-3.8.0" => include_str!("fixtures/opensearch-3.8.0.json"),
        "limber" => include_str!("fixtures/limber.json"),
        other => panic!("no server [{other}] was recorded"),
    };
    let answers: Value = serde_json::from_str(text).unwrap();
    let by_question: BTreeMap<_, _> =
        Question::ALL.iter().map(|question| (*question, Ok(answers[question.name()].clone()))).collect();
    let mut server = Server::of(&answers["GET /"], by_question);
    server.set_after(answers[Question::NodeStats.name()].clone());
    let seen = Seen {
        host: "127.0.0.1:9200".to_owned(),
        server,
        window_s: WINDOW_S,
        machine: Err(Unread::new("the server's machine", "it is not this one")),
        gc: Err(Unread::new("GC log", "none was given")),
    };
    Recorded { seen, _folder: None }
}

impl Recorded {
    /// Replaces the value at a dotted path of an answer, or the whole answer if the path is empty. `*` means
    /// every key or element.
    pub(super) fn with(mut self, question: Question, path: &str, value: Value) -> Recorded {
        let mut answer = self.seen.server.answer(question).unwrap().clone();
        let keys: Vec<&str> = path.split('.').filter(|key| !key.is_empty()).collect();
        set(&mut answer, &keys, &mut |slot| *slot = value.clone());
        if question == Question::NodeStats {
            self.seen.server.set_after(answer.clone());
        }
        self.seen.server.set_answer(question, Ok(answer));
        self
    }

    /// Adds `more` to the value at `path` in the second reading of `_nodes/stats`.
    pub(super) fn grown(mut self, path: &str, more: f64) -> Recorded {
        let mut after = self.seen.server.answer(Question::NodeStats).unwrap().clone();
        set(&mut after, &path.split('.').collect::<Vec<_>>(), &mut |slot| {
            *slot = json!(slot.as_f64().unwrap_or(0.0) + more);
        });
        self.seen.server.set_after(after);
        self
    }

    pub(super) fn without(mut self, question: Question) -> Recorded {
        self.seen.server.set_answer(question, Err(Unread::new(question.name(), "status 403")));
        self
    }

    /// Puts the server on a machine with these files, of which some change by the end of the sampling.
    pub(super) fn on_machine(mut self, before: &[(&str, &str)], after: &[(&str, &str)]) -> Recorded {
        let (folder, machine) = made_up(before, after, WINDOW_S);
        self.seen.machine = Ok(machine);
        self._folder = Some(folder);
        self
    }

    pub(super) fn with_gc_log(mut self, text: &str) -> Recorded {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gc.log");
        std::fs::write(&file, text).unwrap();
        self.seen.gc = Ok(GcFigures::of(&gc::read(&[file]).unwrap()).unwrap());
        self
    }

    pub(super) fn with_second_node(mut self, version: &str, java: &str) -> Recorded {
        for question in [Question::Nodes, Question::NodeStats] {
            let mut answer = self.seen.server.answer(question).unwrap().clone();
            let nodes = answer["nodes"].as_object_mut().unwrap();
            let mut second = nodes.values().next().unwrap().clone();
            second["name"] = json!("second");
            second["version"] = json!(version);
            second["jvm"]["version"] = json!(java);
            nodes.insert("second-id".to_owned(), second);
            self.seen.server.set_answer(question, Ok(answer));
        }
        self
    }
}

fn set(value: &mut Value, path: &[&str], change: &mut dyn FnMut(&mut Value)) {
    match (path, value) {
        ([], value) => change(value),
        (["*", rest @ ..], Value::Object(map)) => map.values_mut().for_each(|value| set(value, rest, change)),
        (["*", rest @ ..], Value::Array(list)) => list.iter_mut().for_each(|value| set(value, rest, change)),
        ([index, rest @ ..], Value::Array(list)) => {
            set(&mut list[index.parse::<usize>().unwrap()], rest, change)
        }
        ([key, rest @ ..], value) => set(&mut value[*key], rest, change),
    }
}

//! The segments at the end of the race (`SegmentStats`).

use std::path::PathBuf;

use super::device::{Device, Output, Planned, Recorder, Surroundings};
use super::params::Parameters;
use crate::error::Error;
use crate::http::cluster::Cluster;

pub(super) const DEVICE: Device = Device {
    name: "segment-stats",
    help: "Determines segment stats at the end of the benchmark; a text file in the race's folder",
    params: &[],
    is_default: false,
    is_on_serverless: false,
    plan,
};

pub(super) const FILE: &str = "segment_stats.log";
const PATH: &str = "/_cat/segments/_all?v=true";

fn plan(_params: &Parameters<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Planned>, Error> {
    let recorder = Box::new(SegmentStats { file: surroundings.folder.join(FILE) });
    Ok(vec![Planned { cluster: 0, interval: None, recorder }])
}

struct SegmentStats {
    file: PathBuf,
}

impl Recorder for SegmentStats {
    fn finish(&mut self, cluster: &mut Cluster, output: &mut Output<'_>) -> Result<(), Error> {
        let table = cluster.get_text(PATH).map_err(Error::no_answer(format_args!("GET {PATH}")))?;
        let write = || {
            std::fs::create_dir_all(self.file.parent().unwrap_or(&self.file))?;
            std::fs::write(&self.file, &table)
        };
        write().map_err(Error::at(&self.file))?;
        output.findings.notes.push(format!("Segment stats are in [{}].", self.file.display()));
        Ok(())
    }
}

//! Scores the significance of a value from four frequencies. Source: Elasticsearch's `SignificanceHeuristic`
//! and its subclasses. The formulas of chi square and mutual information are those of Manning, Raghavan and
//! Schütze, "Information Retrieval", chapters 13.5.1 and 13.5.2; `gnd` is Cilibrasi and Vitanyi's normalized
//! Google distance.

use limber_mapping::RequestError;
use limber_script::{DetachedRun, Script, ScriptContext};

use super::super::options::Options;
use super::super::values::given_script::{FoundScript, GivenScript};
use super::p_value::{PValue, Share};

/// How the significance of a term is computed from its foreground and background frequencies.
#[derive(Debug, Clone)]
pub enum Heuristic {
    Jlh,
    ChiSquare(Nxy),
    MutualInformation(Nxy),
    Gnd { background_is_superset: bool },
    Percentage,
    PValue(PValue),
    Script(GivenScript),
}

/// Scores terms by a heuristic, one after the other.
pub struct Scoring<'h> {
    heuristic: &'h Heuristic,
    run: Option<DetachedRun<'h>>,
}

impl Scoring<'_> {
    /// Returns the score, which is not above 0 for values that are not significant.
    ///
    /// # Errors
    /// Those of a script.
    pub fn score(&mut self, counts: Frequencies) -> Result<f64, RequestError> {
        let Some(run) = &mut self.run else { return Ok(self.heuristic.score(counts)) };
        let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let outcome = run.run_whole(&[
            ("_subset_freq", whole(counts.found)),
            ("_superset_freq", whole(counts.background_found)),
            ("_subset_size", whole(counts.size)),
            ("_superset_size", whole(counts.background_size)),
        ])?;
        Ok(outcome.f64())
    }
}

/// The options of `chi_square` and `mutual_information`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nxy {
    include_negatives: bool,
    background_is_superset: bool,
}

/// The number of documents with a value, and of all documents, in the foreground and in the background.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frequencies {
    pub found: u64,
    pub size: u64,
    pub background_found: u64,
    pub background_size: u64,
}

pub(super) const HEURISTICS: &[&str] =
    &["jlh", "chi_square", "mutual_information", "gnd", "percentage", "script_heuristic", "p_value"];

impl Heuristic {
    /// Takes the option that names a heuristic, with its own options.
    pub fn parse(options: &mut Options) -> Result<Heuristic, RequestError> {
        let mut chosen = Heuristic::Jlh;
        for &name in HEURISTICS {
            if !options.has(name) {
                continue;
            }
            let map = options.object(name)?.unwrap_or_default();
            let mut own = Options::new(name, &options.name, map);
            let mut flag =
                |option: &str, default: bool| own.boolean(option).map(|value| value.unwrap_or(default));
            chosen = match name {
                "jlh" => Heuristic::Jlh,
                "percentage" => Heuristic::Percentage,
                "p_value" => Heuristic::PValue(PValue::parse(&mut own)?),
                "script_heuristic" => Heuristic::Script(script(&mut own)?),
                "gnd" => Heuristic::Gnd { background_is_superset: flag("background_is_superset", true)? },
                _ => {
                    let nxy = Nxy {
                        include_negatives: flag("include_negatives", false)?,
                        background_is_superset: flag("background_is_superset", true)?,
                    };
                    if name == "chi_square" {
                        Heuristic::ChiSquare(nxy)
                    } else {
                        Heuristic::MutualInformation(nxy)
                    }
                }
            };
            own.finish()?;
        }
        Ok(chosen)
    }

    /// Returns the script that scores terms, if it is stored, and what it is for.
    pub fn stored_script(&self) -> Option<(&Script, ScriptContext)> {
        match self {
            Heuristic::Script(script) => script.stored(),
            _ => None,
        }
    }

    /// Begins to score terms. `found` is the stored script.
    ///
    /// # Errors
    /// There is no such script.
    pub fn scoring<'h>(&'h self, found: Option<&'h FoundScript>) -> Result<Scoring<'h>, RequestError> {
        let run = match self {
            Heuristic::Script(script) => Some(script.compiled(found)?.start()),
            _ => None,
        };
        Ok(Scoring { heuristic: self, run })
    }

    fn score(&self, counts: Frequencies) -> f64 {
        match *self {
            // [`Scoring`] runs the script.
            Heuristic::Script(_) => f64::NAN,
            Heuristic::Jlh => jlh(counts),
            Heuristic::Percentage => match counts.background_found {
                0 => 0.0,
                all => counts.found as f64 / all as f64,
            },
            Heuristic::PValue(options) => {
                let Table { cells: [_, [outside, inside]], columns: [all_outside, all_inside], .. } =
                    Table::of(counts, options.background_is_superset);
                let inside = Share { with: inside, all: all_inside };
                options.score(inside, Share { with: outside, all: all_outside })
            }
            Heuristic::Gnd { background_is_superset } => gnd(&Table::of(counts, background_is_superset)),
            Heuristic::ChiSquare(nxy) => {
                let table = Table::of(counts, nxy.background_is_superset);
                if !nxy.include_negatives && table.is_rarer() {
                    return f64::NEG_INFINITY;
                }
                let [[n00, n01], [n10, n11]] = table.cells;
                table.all * (n11 * n00 - n01 * n10).powi(2)
                    / (table.columns[1] * table.rows[1] * table.rows[0] * table.columns[0])
            }
            Heuristic::MutualInformation(nxy) => {
                mutual_information(&Table::of(counts, nxy.background_is_superset), nxy)
            }
        }
    }
}

/// Takes the script that scores terms.
fn script(own: &mut Options) -> Result<GivenScript, RequestError> {
    let Some(script) = own.take("script") else {
        return Err(RequestError::illegal_argument("Required [script]"));
    };
    let script = Script::parse(&script).map_err(|cause| own.failed("script", cause))?;
    GivenScript::new(script, ScriptContext::BucketScript)
}

fn jlh(counts: Frequencies) -> f64 {
    if counts.size == 0 || counts.background_size == 0 {
        return 0.0;
    }
    // A value that is missing in the background counts as if it occurred there once.
    let background_found = counts.background_found.max(1);
    let share = counts.found as f64 / counts.size as f64;
    let background_share = background_found as f64 / counts.background_size as f64;
    let change = share - background_share;
    if change <= 0.0 { 0.0 } else { change * (share / background_share) }
}

/// Document counts by whether they have the value (row 1) and whether they are in the foreground (column 1).
#[derive(Debug)]
struct Table {
    cells: [[f64; 2]; 2],
    rows: [f64; 2],
    columns: [f64; 2],
    all: f64,
}

impl Table {
    fn of(counts: Frequencies, background_is_superset: bool) -> Table {
        let [found, size, with, background] =
            [counts.found, counts.size, counts.background_found, counts.background_size]
                .map(|count| count as f64);
        match background_is_superset {
            true => Table {
                cells: [[background - with - (size - found), size - found], [with - found, found]],
                rows: [background - with, with],
                columns: [background - size, size],
                all: background,
            },
            false => Table {
                cells: [[background - with, size - found], [with, found]],
                rows: [background - with + size - found, with + found],
                columns: [background, size],
                all: background + size,
            },
        }
    }

    /// Whether the value is less frequent in the foreground than outside of it.
    fn is_rarer(&self) -> bool {
        self.cells[1][1] / self.columns[1] < self.cells[1][0] / self.columns[0]
    }
}

fn gnd(table: &Table) -> f64 {
    let (with, foreground, both) = (table.rows[1], table.columns[1], table.cells[1][1]);
    if both == 0.0 {
        return 0.0;
    }
    if with == foreground && with == both {
        return 1.0;
    }
    let distance =
        (with.ln().max(foreground.ln()) - both.ln()) / (table.all.ln() - with.ln().min(foreground.ln()));
    // A small distance is significant.
    (-distance).exp()
}

fn mutual_information(table: &Table, nxy: Nxy) -> f64 {
    let mut score = 0.0;
    for row in 0..2 {
        for column in 0..2 {
            let numerator = (table.all * table.cells[row][column]).abs();
            let denominator = (table.rows[row] * table.columns[column]).abs();
            let factor = (table.cells[row][column] / table.all).abs();
            if numerator >= 1e-7 || factor >= 1e-7 {
                score += factor * (numerator / denominator).ln();
            }
        }
    }
    let score = score / std::f64::consts::LN_2;
    if score.is_nan() || (!nxy.include_negatives && table.is_rarer()) { f64::NEG_INFINITY } else { score }
}

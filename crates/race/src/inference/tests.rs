//! Tests against scipy's results (fixtures by `tests/inference/make.py`).

use serde_json::Value;

use super::Correction;
use super::estimate::{cliffs_delta, hodges_lehmann};
use super::rank_test::mann_whitney;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[track_caller]
fn check_close(found: f64, expected: f64, what: &Value) {
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs().max(1e-3),
        "{found}, expected {expected}: {what}"
    );
}

#[test]
fn scipy_says_the_same() {
    let fixtures: Value = serde_json::from_str(include_str!("../../tests/inference/fixtures.json")).unwrap();
    for case in fixtures["cases"].as_array().unwrap() {
        let (a, b) = (numbers(&case["a"]), numbers(&case["b"]));
        check_close(mann_whitney(&a, &b), case["p"].as_f64().unwrap(), case);
        check_close(hodges_lehmann(&a, &b), case["shift"].as_f64().unwrap(), case);
        check_close(cliffs_delta(&a, &b), case["delta"].as_f64().unwrap(), case);
    }
    let correction = &fixtures["correction"];
    let adjusted = Correction::BenjaminiHochberg.adjust(&numbers(&correction["p"]));
    for (found, expected) in adjusted.iter().zip(numbers(&correction["benjamini_hochberg"])) {
        check_close(*found, expected, correction);
    }
}

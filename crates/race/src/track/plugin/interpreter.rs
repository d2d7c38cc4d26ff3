//! Finds the Python that runs plugins, and its packages.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::PluginError;

/// Packages that plugins of Rally's standard tracks import. `limber info` shows their versions.
const PACKAGES: &[&str] =
    &["elasticsearch", "esrally", "numpy", "jinja2", "pytrec_eval", "aiohttp", "requests", "yaml"];

/// The oldest Python that the scripts run on.
const VERSION_MIN: (u64, u64) = (3, 8);

/// Advice for users without Python.
pub(super) const ADVICE: &str = "Install Python 3.8 or newer, or name one with --python or LIMBER_PYTHON.";

/// Default time in seconds that a plugin has for each answer.
pub(super) const TIME_LIMIT_S_DEFAULT: u64 = 300;

/// The user's settings for Python.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonSettings {
    /// The interpreter; `None` for the first `python3` on the path.
    pub interpreter: Option<PathBuf>,
    /// Time that a plugin may take for one answer without returning control.
    pub time_limit: Duration,
}

impl Default for PythonSettings {
    fn default() -> Self {
        PythonSettings { interpreter: None, time_limit: Duration::from_secs(TIME_LIMIT_S_DEFAULT) }
    }
}

impl PythonSettings {
    pub(crate) fn program(&self) -> PathBuf {
        self.interpreter.clone().unwrap_or_else(|| PathBuf::from("python3"))
    }
}

/// A Python interpreter, and what it reports about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interpreter {
    /// The program as it is started.
    pub program: PathBuf,
    /// Path that Python reports as its executable.
    pub executable: String,
    pub version: String,
    /// (module, version) of the installed packages.
    pub packages: Vec<(String, String)>,
}

impl Interpreter {
    /// Starts the interpreter of the settings, and reads its version and packages.
    ///
    /// Errors: it does not start, or is too old.
    pub(crate) fn find(settings: &PythonSettings) -> Result<Interpreter, PluginError> {
        let program = settings.program();
        let code = "import sys, json, importlib.util, importlib.metadata as m\n\
            def version(name):\n\
            \x20   try: return m.version({'yaml': 'pyyaml', 'pytrec_eval': 'pytrec_eval-terrier'}.get(name, name))\n\
            \x20   except m.PackageNotFoundError: return 'unknown'\n\
            print(json.dumps({'executable': sys.executable, 'version': list(sys.version_info[:3]), 'packages': \
            [[n, version(n)] for n in sys.argv[1:] if importlib.util.find_spec(n)]}))";
        let wrong = |reason: String| {
            PluginError::Python(format!("cannot run Python as [{}]: {reason}. {ADVICE}", program.display()))
        };
        let output = Command::new(&program)
            .arg("-c")
            .arg(code)
            .args(PACKAGES)
            .output()
            .map_err(|error| wrong(error.to_string()))?;
        let told: Value = serde_json::from_slice(&output.stdout).map_err(|_| {
            let lines =
                String::from_utf8_lossy(&output.stderr).trim().lines().last().unwrap_or_default().to_owned();
            wrong(format!("{} {lines}", output.status))
        })?;
        let version: Vec<u64> =
            told["version"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        let [major, minor, ..] = version[..] else {
            return Err(wrong("it does not tell its version".into()));
        };
        let shown = version.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
        if (major, minor) < VERSION_MIN {
            return Err(wrong(format!("it is version {shown}")));
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let packages = told["packages"].as_array().into_iter().flatten();
        Ok(Interpreter {
            program,
            executable: text(&told["executable"]),
            version: shown,
            packages: packages.map(|package| (text(&package[0]), text(&package[1]))).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_python_says_what_to_do() {
        let settings =
            PythonSettings { interpreter: Some("/no/such/python".into()), ..PythonSettings::default() };
        let error = Interpreter::find(&settings).unwrap_err().to_string();
        assert!(
            error.contains("[/no/such/python]") && error.contains("--python or LIMBER_PYTHON"),
            "{error}"
        );
        let settings = PythonSettings { interpreter: Some("true".into()), ..PythonSettings::default() };
        assert!(Interpreter::find(&settings).is_err());
    }
}

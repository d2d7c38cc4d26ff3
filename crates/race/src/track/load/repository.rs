//! Finds the folder with the tracks for a server's version, in a folder or git clone of tracks.
//!
//! The branch is chosen as in Rally (`esrally/utils/repo.py`, `versions.py`). Rally checks it out in the
//! clone. Here its files are written to a separate folder (`git archive`), once per commit, so that the
//! user's work tree and index do not change. Nothing is fetched from the remote repository.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::LoadError;

/// A folder of tracks on disk.
#[derive(Debug, Clone)]
pub struct Repository {
    /// A folder whose subfolders are tracks; a git clone if it holds `.git` (or is a bare repository).
    pub path: PathBuf,
    /// Branch, tag or commit, instead of the one for the server's version.
    pub revision: Option<String>,
    /// Folder for the files of other branches than the current one, with one subfolder per commit.
    pub checkouts: PathBuf,
}

/// A state of the repository's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    pub folder: PathBuf,
    /// Commit; `None` for a plain folder.
    pub revision: Option<String>,
}

impl Repository {
    /// Whether the repository has several versions of its tracks.
    pub fn is_git(&self) -> bool {
        self.path.join(".git").exists()
            || ["HEAD", "objects", "refs"].iter().all(|name| self.path.join(name).exists())
    }

    /// Returns the files for a server of this version (`8.15.2`, `serverless`), or those of `master` without
    /// a version.
    ///
    /// # Errors
    /// `NotFound` for a missing folder or revision, or a version without a branch; `Io`.
    pub fn checkout(&self, distribution_version: Option<&str>) -> Result<Checkout, LoadError> {
        if !self.path.is_dir() {
            return Err(LoadError::NotFound(format!(
                "The track repository [{}] is no folder. Clone it first, for example: git clone https://github.com/elastic/rally-tracks",
                self.path.display()
            )));
        }
        if !self.is_git() {
            return match &self.revision {
                Some(revision) => Err(LoadError::NotFound(format!(
                    "[{}] is no git repository, so it has no revision [{revision}].",
                    self.path.display()
                ))),
                None => Ok(Checkout { folder: self.path.clone(), revision: None }),
            };
        }
        match &self.revision {
            Some(revision) => self.at_revision(revision),
            None => self.at_version(distribution_version),
        }
    }

    fn at_revision(&self, revision: &str) -> Result<Checkout, LoadError> {
        let remote = format!("origin/{revision}");
        let found = self.commit(revision).or_else(|| self.commit(&remote));
        let commit = found.ok_or_else(|| {
            LoadError::NotFound(format!(
                "[{}] has no revision [{revision}]; [git -C {0} fetch] gets new ones.",
                self.path.display()
            ))
        })?;
        self.files_of(&commit, Some(revision))
    }

    fn at_version(&self, version: Option<&str>) -> Result<Checkout, LoadError> {
        for pattern in ["refs/remotes/origin", "refs/heads"] {
            let branches = self.names(pattern)?;
            let Some(branch) = best_match(&branches, version) else { continue };
            // Rally checks out the local branch and rebases it on the remote one. The result is the local
            // branch if that is ahead.
            let (local, remote) = (format!("refs/heads/{branch}"), format!("refs/remotes/origin/{branch}"));
            let is_ahead = |remote: &str| self.git(&["merge-base", "--is-ancestor", remote, &local]).is_ok();
            let commit = match (self.commit(&local), self.commit(&remote)) {
                (Some(commit), Some(remote)) if commit == remote || is_ahead(&remote) => Some(commit),
                (local, remote) => remote.or(local),
            };
            if let Some(commit) = commit {
                return self.files_of(&commit, Some(&branch));
            }
        }
        let tags = self.names("refs/tags")?;
        let tag = version.into_iter().flat_map(variants).map(|variant| format!("v{variant}"));
        match tag.into_iter().find(|tag| tags.contains(tag)).and_then(|tag| self.commit(&tag)) {
            Some(commit) => self.files_of(&commit, None),
            None => Err(LoadError::NotFound(format!(
                "Cannot find tracks for distribution version [{}] in [{}]; its branches are: {}. Choose one with --track-revision.",
                version.unwrap_or("master"),
                self.path.display(),
                self.names("refs")?.join(", ")
            ))),
        }
    }

    /// Returns the work tree as it is, including changes, if it is at this commit and branch; otherwise the
    /// commit's files in a separate folder.
    fn files_of(&self, commit: &str, branch: Option<&str>) -> Result<Checkout, LoadError> {
        let current = self.git(&["rev-parse", "--abbrev-ref", "HEAD"]).unwrap_or_default();
        let has_work_tree = self.path.join(".git").exists();
        let is_current = self.commit("HEAD").as_deref() == Some(commit)
            && (current == "HEAD"
                || branch.is_none_or(|branch| branch == current || commit.starts_with(branch)));
        let revision = Some(commit.to_owned());
        if has_work_tree && is_current {
            return Ok(Checkout { folder: self.path.clone(), revision });
        }
        let folder = self.checkouts.join(commit);
        if !folder.is_dir() {
            self.export(commit, &folder)?;
        }
        Ok(Checkout { folder, revision })
    }

    /// Writes the commit's files into `folder` atomically.
    fn export(&self, commit: &str, folder: &Path) -> Result<(), LoadError> {
        let at = &LoadError::at(folder);
        std::fs::create_dir_all(&self.checkouts).map_err(at)?;
        let part = tempfile::Builder::new().prefix("part-").tempdir_in(&self.checkouts).map_err(at)?;
        let mut git = self
            .command(&["archive", "--format=tar", commit])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(no_git)?;
        let unpacked = match git.stdout.take() {
            Some(tar) => tar::Archive::new(tar).unpack(part.path()),
            None => Ok(()),
        };
        let output = git.wait_with_output().map_err(at)?;
        if !output.status.success() {
            return Err(self.unreadable(&output.stderr));
        }
        unpacked.map_err(at)?;
        match std::fs::rename(part.path(), folder) {
            // Another run was faster. The same commit has the same files.
            Err(_) if folder.is_dir() => Ok(()),
            other => other.map_err(at),
        }
    }

    fn commit(&self, name: &str) -> Option<String> {
        self.git(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")])
            .ok()
    }

    /// Returns the short names of the references below `prefix`.
    fn names(&self, prefix: &str) -> Result<Vec<String>, LoadError> {
        let strip = prefix.split('/').count();
        let format = format!("--format=%(refname:lstrip={strip})");
        Ok(self.git(&["for-each-ref", &format, prefix])?.lines().map(str::to_owned).collect())
    }

    /// Returns what git prints, trimmed.
    fn git(&self, arguments: &[&str]) -> Result<String, LoadError> {
        let output = self.command(arguments).output().map_err(no_git)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        Err(self.unreadable(&output.stderr))
    }

    fn unreadable(&self, stderr: &[u8]) -> LoadError {
        let reason = String::from_utf8_lossy(stderr);
        LoadError::NotFound(format!("git cannot read [{}]: {}", self.path.display(), reason.trim()))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        // Refreshing the index would be a write too.
        command.env("GIT_OPTIONAL_LOCKS", "0").arg("-C").arg(&self.path).args(arguments).stdin(Stdio::null());
        command
    }
}

fn no_git(source: std::io::Error) -> LoadError {
    LoadError::NotFound(format!("cannot run git, which a track repository with branches needs: {source}"))
}

impl Checkout {
    /// Returns the sorted paths of all tracks relative to the folder, which are their names.
    ///
    /// # Errors
    /// `Io`.
    pub fn track_names(&self) -> Result<Vec<String>, LoadError> {
        let (mut names, mut folders) = (Vec::new(), vec![self.folder.clone()]);
        while let Some(folder) = folders.pop() {
            let at = &LoadError::at(&folder);
            for entry in std::fs::read_dir(&folder).map_err(at)? {
                let entry = entry.map_err(at)?;
                let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
                if entry.file_type().map_err(at)?.is_dir() && !is_hidden {
                    folders.push(entry.path());
                } else if entry.file_name() == "track.json"
                    && let Ok(name) = folder.strip_prefix(&self.folder)
                {
                    names.push(name.to_string_lossy().into_owned());
                }
            }
        }
        names.sort();
        Ok(names)
    }
}

/// Returns the version and less exact forms of it: `5.0.0-SNAPSHOT`, `5.0.0`, `5.0`, `5`; empty for a string
/// that is not a version.
fn variants(version: &str) -> Vec<String> {
    let Some((major, minor, patch, suffix)) = components(version) else { return Vec::new() };
    let (Some(minor), Some(patch)) = (minor, patch) else { return Vec::new() };
    let suffixed = suffix.map(|suffix| format!("{major}.{minor}.{patch}-{suffix}"));
    suffixed
        .into_iter()
        .chain([format!("{major}.{minor}.{patch}"), format!("{major}.{minor}"), major.to_string()])
        .collect()
}

/// Major, minor, patch and suffix of `8.15.2-SNAPSHOT`.
type Components<'a> = (u64, Option<u64>, Option<u64>, Option<&'a str>);

/// Returns the components of a version, of which only the first is mandatory.
fn components(text: &str) -> Option<Components<'_>> {
    let (numbers, suffix) =
        text.split_once('-').map_or((text, None), |(numbers, suffix)| (numbers, Some(suffix)));
    let numbers: Vec<u64> = numbers.split('.').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    match (numbers.as_slice(), suffix) {
        ([major], None) => Some((*major, None, None, None)),
        ([major, minor], None) => Some((*major, Some(*minor), None, None)),
        ([major, minor, patch], suffix) => Some((*major, Some(*minor), Some(*patch), suffix)),
        _ => None,
    }
}

/// Returns the branch for a server's version: the exact one, the nearest earlier minor version, the major
/// version, or `master` for servers newer than all branches, for serverless and without a version.
fn best_match(branches: &[String], version: Option<&str>) -> Option<String> {
    let has = |name: &str| branches.iter().any(|branch| branch == name);
    let master = || ["master", "main"].into_iter().find(|name| has(name)).map(str::to_owned);
    let Some(version) = version.filter(|version| !version.is_empty() && *version != "serverless") else {
        return master();
    };
    let variants = variants(version);
    let (major, minor, ..) = components(version).filter(|_| !variants.is_empty())?;
    let numbers = || branches.iter().filter_map(|branch| components(branch));
    let (exact, major_only) = variants.split_at(variants.len() - 1);
    if let Some(found) = exact.iter().find(|variant| has(variant)) {
        return Some(found.clone());
    }
    let prior = numbers()
        .filter(|(its_major, its_minor, patch, _)| {
            *its_major == major && *its_minor <= minor && patch.is_none()
        })
        .filter_map(|(_, its_minor, ..)| its_minor)
        .max();
    if let Some(prior) = prior {
        return Some(format!("{major}.{prior}"));
    }
    if has(&major_only[0]) {
        return Some(major_only[0].clone());
    }
    let newest = numbers().map(|(major, ..)| major).max();
    if newest.is_none_or(|newest| major > newest) { master() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The branches of rally-tracks, and what Rally's `best_match` returns for them.
    #[test]
    fn branches_are_chosen_as_by_rally() {
        let branches: Vec<String> = [
            "6",
            "7",
            "7.0",
            "7.14",
            "7.17",
            "8",
            "8.11",
            "8.13",
            "8.15",
            "8.19",
            "9.0",
            "9.3",
            "master",
            "add-catalog-info",
            "8.15.1",
            "9.5-SNAPSHOT",
        ]
        .map(str::to_owned)
        .to_vec();
        #[track_caller]
        fn check(branches: &[String], version: Option<&str>, expected: Option<&str>) {
            assert_eq!(best_match(branches, version).as_deref(), expected, "{version:?}");
        }
        for (version, expected) in [
            ("8.15.0", Some("8.15")),
            ("8.15.1", Some("8.15.1")),
            ("8.12.2-SNAPSHOT", Some("8.11")),
            ("8.10.0", Some("8")),
            ("7.16.3", Some("7.14")),
            ("6.8.1", Some("6")),
            ("9.4.1", Some("9.3")),
            ("10.0.0", Some("master")),
            ("5.6.0", None),
            ("serverless", Some("master")),
            ("8.15", None),
            ("current", None),
        ] {
            check(&branches, Some(version), expected);
        }
        check(&branches, None, Some("master"));
        check(&["main".to_owned()], None, Some("main"));
        check(&[], Some("8.0.0"), None);
    }

    fn git(folder: &Path, arguments: &[&str]) {
        let output = Command::new("git")
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@example.org",
                "-c",
                "init.defaultBranch=master",
                "-C",
            ])
            .arg(folder)
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn branches_are_read_without_touching_the_work_tree() {
        let folder = tempfile::tempdir().unwrap();
        let (upstream, clone) = (folder.path().join("upstream"), folder.path().join("clone"));
        std::fs::create_dir(&upstream).unwrap();
        git(&upstream, &["init", "-q"]);
        write(&upstream, "geonames/track.json", "8.14");
        git(&upstream, &["add", "."]);
        git(&upstream, &["commit", "-qm", "a"]);
        git(&upstream, &["branch", "8.14"]);
        git(&upstream, &["tag", "v5.6"]);
        write(&upstream, "geonames/track.json", "master");
        write(&upstream, "elastic/logs/track.json", "master");
        git(&upstream, &["add", "."]);
        git(&upstream, &["commit", "-qm", "b"]);
        git(folder.path(), &["clone", "-q", "upstream", "clone"]);
        git(&clone, &["branch", "-q", "8.14", "origin/8.14"]);
        write(&clone, "geonames/track.json", "changed by the user");

        let repository = |revision: Option<&str>| Repository {
            path: clone.clone(),
            revision: revision.map(str::to_owned),
            checkouts: folder.path().join("checkouts"),
        };
        let track = |checkout: &Checkout| {
            std::fs::read_to_string(checkout.folder.join("geonames/track.json")).unwrap()
        };
        let old = repository(None).checkout(Some("8.17.1")).unwrap();
        assert_eq!(track(&old), "8.14");
        assert_eq!(old.track_names().unwrap(), ["geonames"]);
        assert_eq!(old.revision.as_ref().unwrap().len(), 40);
        assert_eq!(repository(None).checkout(Some("8.17.1")).unwrap(), old, "the second time it is there");
        for revision in ["8.14", "origin/8.14", "v5.6", old.revision.as_deref().unwrap()] {
            assert_eq!(repository(Some(revision)).checkout(None).unwrap(), old, "{revision}");
        }
        assert_eq!(repository(None).checkout(Some("5.6.0")).unwrap(), old, "by tag");
        // The checked-out branch is used with its uncommitted changes, as in Rally.
        let current = repository(None).checkout(None).unwrap();
        assert_eq!(
            (current.folder.as_path(), track(&current).as_str()),
            (clone.as_path(), "changed by the user")
        );
        assert_eq!(current.track_names().unwrap(), ["elastic/logs", "geonames"]);

        let error = repository(Some("nowhere")).checkout(None).unwrap_err().to_string();
        assert!(error.contains("has no revision [nowhere]"), "{error}");
        assert!(repository(Some("--help")).checkout(None).is_err());
        let error = repository(None).checkout(Some("4.0.0")).unwrap_err().to_string();
        assert!(error.contains("Cannot find tracks for distribution version [4.0.0]"), "{error}");
    }

    #[test]
    fn plain_folders_have_one_version() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a/track.json", "{}");
        let plain = |revision: Option<&str>| Repository {
            path: folder.path().to_owned(),
            revision: revision.map(str::to_owned),
            checkouts: folder.path().join("checkouts"),
        };
        let checkout = plain(None).checkout(Some("8.0.0")).unwrap();
        assert_eq!(checkout, Checkout { folder: folder.path().to_owned(), revision: None });
        assert!(plain(Some("8.0")).checkout(None).unwrap_err().to_string().contains("is no git repository"));
        let missing = Repository { path: folder.path().join("missing"), ..plain(None) };
        assert!(missing.checkout(None).unwrap_err().to_string().contains("git clone"));
    }
}

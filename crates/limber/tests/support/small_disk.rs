//! A small file system.

use std::path::Path;
use std::process::Command;

/// A small tmpfs, unmounted on drop.
pub struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Mounts it. `None` where that is not allowed.
    pub fn mount(size: &str) -> Option<SmallDisk> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(folder.path())
            .stderr(std::process::Stdio::null())
            .status();
        matches!(mounted, Ok(status) if status.success()).then_some(SmallDisk(folder))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

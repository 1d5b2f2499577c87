//! The sealed declaration of a sandbox.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{EgressPolicy, LimitError, Limits, Root};

/// How a virtual machine is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Driver {
    /// libkrun on the host's hardware virtualization.
    Krun,
    /// The same guest kernel under QEMU: accelerated where the host has usable virtualization, else emulated.
    Qemu,
}

/// How strong a wall is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Hardware virtualization, or the sandbox does not start.
    Hardware,
    /// Hardware virtualization where there is some; else software emulation, labelled so.
    #[default]
    EmulatedOk,
    /// As [`Isolation::EmulatedOk`], and also where this host cannot build every wall around the machine's process. What
    /// can be built is built, and what is lacking is said.
    UnjailedOk,
}

/// The workspace as the guest gets it: a read-only EROFS image and the directory it appears at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceDisk {
    /// The image, on the host.
    pub image: PathBuf,
    /// Absolute directory in the guest.
    pub mount: PathBuf,
    /// Permission bits that programs in the guest do not give to what they make, as on the host: 0o022 for most users.
    pub umask: u16,
}

/// Programs that a sandbox gets beside its root file system: a read-only EROFS image, which appears at [`TOOLS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsDisk {
    /// The image, on the host.
    pub image: PathBuf,
}

/// Where a [`ToolsDisk`] appears in the guest.
pub const TOOLS: &str = "/opt/legwork/agent";

/// A whole sandbox. Sealed: there are getters only.
#[derive(Clone, Debug)]
pub struct SandboxSpec {
    isolation: Isolation,
    driver: Option<Driver>,
    root: Root,
    workspace: WorkspaceDisk,
    limits: Limits,
    egress: EgressPolicy,
    environment: Vec<(String, String)>,
    tools: Option<ToolsDisk>,
}

/// Why a declaration is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// A limit is out of range.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The workspace would hide a directory that the guest itself needs.
    #[error("{0} cannot be a workspace in the guest: it would hide a system directory there")]
    Mount(PathBuf),
    /// An environment variable has no name or holds a NUL byte.
    #[error("`{0}` cannot be the name of an environment variable")]
    Environment(String),
}

impl SandboxSpec {
    /// Declares a sandbox. `driver` is `None` to let the host choose.
    ///
    /// # Errors
    ///
    /// The first thing that is out of range; nothing was started then.
    pub fn new(
        isolation: Isolation,
        driver: Option<Driver>,
        root: Root,
        workspace: WorkspaceDisk,
        limits: Limits,
        egress: EgressPolicy,
        environment: Vec<(String, String)>,
    ) -> Result<Self, SpecError> {
        limits.validate()?;
        if !mountable(&workspace.mount) {
            return Err(SpecError::Mount(workspace.mount));
        }
        for (name, value) in &environment {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Err(SpecError::Environment(name.clone()));
            }
        }
        Ok(Self {
            isolation,
            driver,
            root,
            workspace,
            limits,
            egress,
            environment,
            tools: None,
        })
    }

    /// The same with programs beside the root file system, as a further part of the declaration.
    #[must_use]
    pub fn with_tools(self, tools: ToolsDisk) -> Self {
        Self {
            tools: Some(tools),
            ..self
        }
    }

    /// The programs beside the root file system, if there are some.
    pub fn tools(&self) -> Option<&ToolsDisk> {
        self.tools.as_ref()
    }

    /// The wall that was asked for.
    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// The driver that was asked for, if one was.
    pub fn driver(&self) -> Option<Driver> {
        self.driver
    }

    /// Where its programs come from.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// The workspace.
    pub fn workspace(&self) -> &WorkspaceDisk {
        &self.workspace
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The network policy.
    pub fn egress(&self) -> &EgressPolicy {
        &self.egress
    }

    /// Variables that every command of this sandbox gets.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }
}

/// A workspace appears at its own path in the guest, unless that would hide what the guest runs on.
fn mountable(mount: &Path) -> bool {
    const SYSTEM: [&str; 11] = [
        "/proc", "/sys", "/dev", "/run", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/boot",
    ];
    let plain = mount.is_absolute()
        && mount
            .components()
            .skip(1)
            .all(|c| matches!(c, std::path::Component::Normal(_)));
    let depth = mount.components().count();
    // `/usr/src/project` is fine; `/usr` itself is not. Kernel file systems are never written to.
    let kernel = ["/proc", "/sys", "/dev"]
        .iter()
        .any(|dir| mount.starts_with(dir));
    plain && depth > 1 && !kernel && !SYSTEM.iter().any(|dir| mount == Path::new(dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(mount: &str, environment: Vec<(String, String)>) -> Result<SandboxSpec, SpecError> {
        let workspace = WorkspaceDisk {
            image: "w.erofs".into(),
            mount: mount.into(),
            umask: 0o022,
        };
        SandboxSpec::new(
            Isolation::EmulatedOk,
            None,
            Root::Host,
            workspace,
            Limits::default(),
            EgressPolicy::Deny,
            environment,
        )
    }

    #[test]
    fn a_workspace_never_hides_the_system() {
        for mount in ["/home/me/project", "/w", "/usr/src/project", "/tmp/x"] {
            assert!(spec(mount, vec![]).is_ok(), "{mount}");
        }
        for mount in [
            "/",
            "/usr",
            "/proc/1",
            "/dev/shm/x",
            "relative",
            "/a/../etc",
        ] {
            assert!(spec(mount, vec![]).is_err(), "{mount}");
        }
    }

    #[test]
    fn environment_names_are_checked() {
        assert!(spec("/w", vec![("A".into(), "b=c".into())]).is_ok());
        for name in ["", "A=B", "A\0"] {
            assert!(spec("/w", vec![(name.into(), String::new())]).is_err());
        }
    }
}

//! What a sandbox is, declared whole at construction and sealed.
//!
//! [`SandboxSpec`] is the one value a sandbox is made from. It has no setters: what was declared is what holds until
//! the virtual machine is gone. [`BootConfig`] is what the virtual machine's own process (`legwork-vmm`) is told: a
//! spec after every name in it has become a file.
//!
//! This crate does no input or output and knows nothing of tasks, editors or models.

mod boot;
mod egress;
mod host;
mod jail;
mod limits;
mod root;
mod sandbox;
mod size;

pub use boot::{BOOT_CONFIG_VERSION, BootConfig, BootDisk, Machine};
pub use egress::{
    AllowList, Destination, DestinationError, EgressPolicy, USUAL_PORT, allow, parse_port,
};
pub use host::{HostName, HostNameError};
pub use jail::{Jailed, Wall, WallKind};
pub use limits::{LimitError, Limits};
pub use root::Root;
pub use sandbox::{Driver, Isolation, SandboxSpec, SpecError, TOOLS, ToolsDisk, WorkspaceDisk};
pub use size::{ByteSize, ParseSizeError};

//! The jail of the virtual machine's process, tried from inside. `legwork-vmm` is started as the product starts it, with a
//! program in the place of QEMU that tries what an intruder would (`fakes/intruder`). No machine is booted.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod lacking;
mod stage;
mod walls;

//! The `krun` driver: the machine runs inside this process, through libkrun.
//!
//! The guest sees what it sees under QEMU: the same kernel, the first disk as its root file system, `/init` as PID 1, a
//! console, and the link as a named virtio-serial port. libkrun's own ways in are all left out: no virtiofs, so no host
//! directory; no vsock device, so no transparent socket impersonation (TSI); no network device; no init program of its own.
#![expect(unsafe_code, reason = "libkrun's interface is a C interface")]

use std::convert::Infallible;
use std::ffi::{CString, c_char};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;

use anyhow::{Context as _, Result, anyhow};
use legwork_spec::{BootConfig, BootDisk};

use crate::command_line;
use crate::jail::{self, Caller, Plan, Use};
use crate::krunfw::Krunfw;
use crate::probe;

const STDIN: i32 = 0;
/// The guest's console is this process's standard output.
const CONSOLE: &std::ffi::CStr = c"/proc/self/fd/1";
const LOG_ERRORS: u32 = 1;
/// `KRUN_DISK_FORMAT_RAW`. Never detected from the content, which the guest may write.
const RAW: u32 = 0;
/// `KRUN_SYNC_NONE`: a flush of the guest goes nowhere. A writable disk dies with its machine.
const SYNC_NONE: u32 = 0;

/// Runs the machine; when it ends, so does this process, and it comes back only with the reason why it did not start.
pub(crate) fn run(config: &BootConfig, file: &Path, library: &Path) -> Result<Infallible> {
    // libkrun ends in a panic without it.
    probe::require_device()?;
    let kernel = Krunfw::open(library)?;
    // libkrun asks for the library by its bare name and is given this one.
    kernel.answers_to_its_name()?;
    let plan = Plan {
        caller: Caller::Krun,
        // All else that libkrun opens is open by now: its library, and its console as /proc/self/fd/1.
        opened: vec![("/dev/kvm".into(), Use::Control)],
        config,
        canary: file,
    };
    jail::enter(plan, std::io::stdin())?;

    check("set its log level", krun::krun_set_log_level(LOG_ERRORS))?;
    let context = Context::new()?;
    check(
        "set processors and memory",
        krun::krun_set_vm_config(context.0, config.vcpus, config.memory_mib),
    )?;
    check(
        "leave out its init",
        krun::krun_disable_implicit_init(context.0),
    )?;
    check(
        "leave out its vsock device",
        krun::krun_disable_implicit_vsock(context.0),
    )?;
    context.add_console()?;
    context.add_link()?;
    for (index, disk) in config.disks.iter().enumerate() {
        context.add_disk(index, disk)?;
    }
    context.set_kernel_words(&command_line::words_behind_krun())?;

    let status = krun::krun_start_enter(context.0);
    drop(kernel);
    check("start the machine", status)?;
    Err(anyhow!(
        "libkrun came back from a machine that it had started"
    ))
}

/// A configuration inside libkrun.
struct Context(u32);

impl Context {
    fn new() -> Result<Self> {
        let context = krun::krun_create_ctx();
        check("make a configuration", context)?;
        Ok(Self(context.try_into().context(
            "libkrun gave a configuration without a number",
        )?))
    }

    fn add_console(&self) -> Result<()> {
        // SAFETY: the path is a NUL-terminated constant.
        let status = unsafe { krun::krun_set_console_output(self.0, CONSOLE.as_ptr()) };
        check("set the console", status)
    }

    fn add_link(&self) -> Result<()> {
        // SAFETY: the function takes no pointer; it is unsafe only because all of that interface is.
        let console = unsafe { krun::krun_add_virtio_console_multiport(self.0) };
        check("add a serial device", console)?;
        let console = console
            .try_into()
            .context("libkrun gave a device without a number")?;
        let name = CString::new(BootConfig::LINK_PORT).context("the link's name holds a NUL")?;
        // SAFETY: the name is NUL-terminated and copied by the call; the descriptor is standard input, open for as long as
        // this process lives, and duplicated by libkrun before use.
        let status = unsafe {
            krun::krun_add_console_port_inout(self.0, console, name.as_ptr(), STDIN, STDIN)
        };
        check("add the link", status)
    }

    fn add_disk(&self, index: usize, disk: &BootDisk) -> Result<()> {
        let path = CString::new(disk.path.as_os_str().as_bytes())
            .ok()
            // libkrun would refuse it with a bare error number.
            .filter(|path| path.to_str().is_ok())
            .with_context(|| {
                format!(
                    "libkrun cannot take the disk path {}: it is not UTF-8",
                    disk.path.display()
                )
            })?;
        let name = CString::new(format!("disk{index}")).context("a disk's name holds a NUL")?;
        // SAFETY: both strings are NUL-terminated and copied by the call.
        let status = unsafe {
            krun::krun_add_disk3(
                self.0,
                name.as_ptr(),
                path.as_ptr(),
                RAW,
                disk.read_only,
                false,
                SYNC_NONE,
            )
        };
        check(&format!("add the disk {}", disk.path.display()), status)
    }

    /// Puts `words` on the kernel's command line, behind libkrun's own, which name a virtiofs root: the last word wins.
    ///
    /// What libkrun calls the environment is just that: it stands on the command line before any ` -- `, and the kernel
    /// passes what it does not know itself to PID 1.
    fn set_kernel_words(&self, words: &[String]) -> Result<()> {
        let words: Vec<CString> = words
            .iter()
            .map(|word| CString::new(word.as_str()).context("a word for the kernel holds a NUL"))
            .collect::<Result<_>>()?;
        // The library looks at as many pointers as it allows at most before it stops at the null one, so there are as many.
        let mut pointers: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
        pointers.resize(MAX_WORDS, ptr::null());
        // SAFETY: the array has the length that the function makes a slice of, ends with null pointers, and its strings
        // outlive the call, which copies them.
        let status = unsafe { krun::krun_set_env(self.0, pointers.as_ptr()) };
        check("set the kernel's command line", status)
    }
}

/// `MAX_ARGS` of libkrun.
const MAX_WORDS: usize = 4096;

fn check(what: &str, status: i32) -> Result<()> {
    if status >= 0 {
        return Ok(());
    }
    let reason = std::io::Error::from_raw_os_error(status.saturating_neg());
    Err(anyhow!("libkrun cannot {what}: {reason}"))
}

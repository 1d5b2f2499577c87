//! Every message. Enums grow at their end only.

use serde::{Deserialize, Serialize};

/// The first frame of a substream that the host opens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Open {
    /// Mounts and clock; once, before anything else. Answered by one `Result<Configured, String>`.
    Configure(Configure),
    /// Runs a program. The host may send [`ExecInput`] frames; the guest answers [`ExecOutput`] frames up to
    /// [`ExecOutput::End`]. A substream that the host closes early kills the program and all it started.
    Exec(Exec),
    /// Lists what stands in the workspace's upper layer. Answered by [`Collected`] frames up to
    /// [`Collected::Done`].
    Collect,
    /// Answered by one [`Stats`].
    Stats,
    /// Sets the guest's clock to these nanoseconds since 1970, after the host slept. Answered by one
    /// `Result<(), String>`.
    SetClock(u64),
    /// Tells what stands in the workspace's upper layer, and from then on what is another in it, until the host closes
    /// the substream. Answered by batches of [`Collected`] frames: [`Collected::Found`] for what is new or another, with
    /// the data of files of up to [`MAX_WATCHED`](crate::MAX_WATCHED) bytes, [`Collected::Gone`] for what is not there
    /// any more, then [`Collected::BatchEnd`]. The host may send [`WatchInput`] frames.
    Watch,
    /// Makes the workspace as an earlier machine left it. The host sends [`LayInput`] frames up to [`LayInput::Done`]; the
    /// guest answers one `Result<(), String>`. For a machine in which nothing was run yet.
    Lay,
}

/// The first frame of a substream that the guest opens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Call {
    /// A connection to the model gateway.
    Model,
    /// A connection to the proxy through which allowed hosts are reached.
    Proxy,
}

/// A port of the guest's loopback whose connections are relayed to the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forward {
    /// On 127.0.0.1.
    pub port: u16,
    /// What a connection to it calls for.
    pub call: Call,
}

/// What the guest must know to become a machine of use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configure {
    /// Nanoseconds since 1970.
    pub clock: u64,
    /// Absolute directory at which the workspace appears.
    pub workspace: Vec<u8>,
    /// Permission bits that programs do not give to what they make.
    pub umask: u32,
    /// Random bytes for the guest's pool.
    pub seed: [u8; 32],
    /// Absolute directory at which the fifth disk appears, if there is one.
    pub tools: Option<Vec<u8>>,
    /// What is relayed to the host. Nothing else is.
    pub forwards: Vec<Forward>,
}

/// The guest is ready for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configured {
    /// Release of its kernel.
    pub kernel: String,
    /// Microseconds that the mounts took.
    pub micros: u64,
}

/// A program to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exec {
    /// Program and arguments; the program is looked up in `PATH`.
    pub argv: Vec<Vec<u8>>,
    /// All of its environment.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    /// Absolute directory it starts in.
    pub directory: Vec<u8>,
    /// Milliseconds after which it and all it started are killed.
    pub timeout_ms: u64,
    /// Bytes of output after which the rest is counted and dropped.
    pub output_limit: u64,
}

/// From the host to a running program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExecInput {
    /// For its standard input.
    Stdin(Vec<u8>),
    /// Its standard input ends.
    StdinEnd,
    /// A signal for its process group.
    Signal(i32),
}

/// From a running program to the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExecOutput {
    /// It wrote to its standard output.
    Stdout(Vec<u8>),
    /// It wrote to its standard error.
    Stderr(Vec<u8>),
    /// It ended; the last frame.
    End(ExecEnd),
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecEnd {
    /// How.
    pub status: ExecStatus,
    /// Most memory that it and all it started used at once, in bytes; 0 if the kernel does not tell.
    pub peak_memory: u64,
    /// Processor time of it and all it started, in microseconds; 0 if the kernel does not tell.
    pub cpu_micros: u64,
    /// Output bytes that were dropped.
    pub dropped: u64,
    /// Bytes that are free on the scratch disk.
    pub disk_free: u64,
}

/// How a program ended, in one word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExecStatus {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
    /// It did not start; the system's words.
    NotStarted(String),
    /// It was killed because its time was up.
    TimedOut,
    /// It, or something it started, was killed because the memory was used up.
    OutOfMemory,
}

/// One frame of a listing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Collected {
    /// Something stands in the upper layer. A file is followed by its data, if it is not longer than
    /// [`MAX_COLLECTED`](crate::MAX_COLLECTED), and [`Collected::EndOfFile`].
    Found(Found),
    /// In a whole listing: what is found next has extended attributes or an access list, which no listing tells.
    Attributes,
    /// Bytes of the file that was last found.
    Data(Vec<u8>),
    /// The file is complete.
    EndOfFile,
    /// The listing is complete; the last frame.
    Done,
    /// It could not be completed; the last frame.
    Failed(String),
    /// In a watch: nothing stands at this path of the upper layer any more, or only what a watch does not tell.
    Gone(Vec<u8>),
    /// In a watch: all that was told so far is the upper layer as it was at one time, more or less.
    BatchEnd,
}

/// From the host to a watch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WatchInput {
    /// Nothing at this path or below it is of use; it need not be looked at.
    Skip(Vec<u8>),
}

/// From the host: what an earlier machine left. What goes comes first, then folders, then the rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LayInput {
    /// What the base has at this path goes. A folder that holds nothing at the end goes too.
    Remove(Vec<u8>),
    /// A folder stands there, also if it holds nothing.
    Dir(Vec<u8>),
    /// A symbolic link stands there.
    Symlink {
        /// Below the workspace, components joined by `/`.
        path: Vec<u8>,
        /// Its target.
        target: Vec<u8>,
    },
    /// A regular file stands there, of the [`LayInput::Data`] that follow.
    File {
        /// Below the workspace, components joined by `/`.
        path: Vec<u8>,
        /// Permission bits.
        mode: u32,
    },
    /// Bytes of the file that was last named.
    Data(Vec<u8>),
    /// That was all.
    Done,
}

/// Something in the upper layer. A directory comes before what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Below the workspace, components joined by `/`.
    pub path: Vec<u8>,
    /// What it is.
    pub kind: FoundKind,
}

/// What something in the upper layer is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FoundKind {
    /// A regular file.
    File {
        /// Permission bits.
        mode: u32,
        /// Length in bytes, as the guest's file system says.
        size: u64,
    },
    /// A directory.
    Dir {
        /// Permission bits.
        mode: u32,
        /// It hides the base's directory of the same name.
        opaque: bool,
    },
    /// A symbolic link.
    Symlink {
        /// Its target.
        target: Vec<u8>,
    },
    /// The base's entry of this name is gone.
    Whiteout,
    /// A FIFO, socket or device; its file type bits.
    Special {
        /// `st_mode & S_IFMT`.
        file_type: u32,
    },
}

/// How the guest fares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Bytes of memory in all.
    pub memory: u64,
    /// Bytes of memory that could be had.
    pub memory_available: u64,
    /// Bytes that are free on the scratch disk.
    pub disk_free: u64,
}

//! Trees and commands that nobody thought of: names, contents and types are drawn, and everything takes everything's place.
//! The oracle is the same as for the cases.

use std::fmt::Write as _;

use crate::case::Case;

/// Names that trip programs; none ends in a line feed, which a shell would drop.
const NAMES: [&[u8]; 20] = [
    b"a",
    b"b",
    b"c",
    b"A",
    b"src",
    b"-rf",
    b"--help",
    b" x ",
    b"new\nline",
    b"\x1b[31m",
    b"back\\slash",
    b"q\"u'o`te",
    b"$(touch pwned)",
    b"100%s%n",
    b"a -> b",
    "é".as_bytes(),
    "e\u{301}".as_bytes(),
    "\u{202e}gpj.exe".as_bytes(),
    b"caf\xe9",
    &[b'n'; 255],
];

/// Contents: line endings, marks, encodings, no end, nothing.
const CONTENTS: [&[u8]; 12] = [
    b"",
    b"one\ntwo\nthree\n",
    b"one\r\ntwo\r\nthree\r\n",
    b"one\ntwo\r\nthree\rfour",
    b"\xef\xbb\xbffirst\nlast\n",
    b"\xff\xfea\0\n\0b\0\n\0",
    b"caf\xe9\n\n\n",
    b"\x83e\x83X=1\r\n",
    b"\0\x01\x02binary",
    b"no end",
    b"+++ b/x\n--- a/x\n@@ -1 +1 @@\n\\ No newline at end of file\n",
    b"\n",
];

/// Permissions; a file that may not be written is never rewritten by an accept, so its owner may write here.
const MODES: [&str; 6] = ["644", "755", "600", "664", "750", "666"];

/// Numbers that are the same for each seed (xorshift).
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % most
    }

    fn one<'a>(&mut self, of: &[&'a [u8]]) -> &'a [u8] {
        of[self.below(of.len())]
    }

    /// A path of one to three names, mostly of the first few, so that they meet.
    fn path(&mut self) -> Vec<u8> {
        let mut path = b".".to_vec();
        for _ in 0..=self.below(3) {
            let few = if self.below(3) == 0 { NAMES.len() } else { 5 };
            path.push(b'/');
            path.extend(self.one(&NAMES[..few]));
        }
        path
    }
}

/// As an argument of a shell, whatever the bytes are.
fn word(bytes: &[u8]) -> String {
    format!("\"$(printf '{}')\"", octal(bytes))
}

fn octal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ok = write!(text, "\\{byte:03o}");
        text
    })
}

/// Every step may fail where it has no room: it fails in both places then.
fn step(text: &mut String, command: &str) {
    let _ok = writeln!(text, "( {command} ) 2>/dev/null || :");
}

fn file(draw: &mut Draw, path: &str, how: &str) -> String {
    let content = octal(draw.one(&CONTENTS));
    format!("mkdir -p \"$(dirname {path})\"; printf '{content}' {how} {path}")
}

fn setup(draw: &mut Draw) -> String {
    let mut text = "mkdir -p \"$1/home\" \"$1/ws\" && cd \"$1/ws\"\n".to_owned();
    for _ in 0..60 {
        let path = word(&draw.path());
        let command = match draw.below(8) {
            0 => format!("mkdir -p {path}"),
            1 => {
                let target = word(draw.one(&NAMES));
                format!("mkdir -p \"$(dirname {path})\"; ln -sT -- {target} {path}")
            }
            2 => {
                let mode = MODES[draw.below(MODES.len())];
                format!(
                    "{}; [ -f {path} ] && chmod {mode} {path}",
                    file(draw, &path, ">")
                )
            }
            _ => file(draw, &path, ">"),
        };
        step(&mut text, &command);
    }
    text
}

fn script(draw: &mut Draw) -> String {
    let mut text = String::new();
    for number in 0..60 {
        let (path, other) = (draw.path(), draw.path());
        // What a copy into itself comes to depends on the order in which a folder is listed.
        let into_itself = [&other[..], b"/"]
            .concat()
            .starts_with(&[&path[..], b"/"].concat());
        let (path, other) = (word(&path), word(&other));
        let command = match draw.below(12) {
            0 => format!("rm -rf {path}"),
            1 => format!("rm -rf {path}; mkdir {path}"),
            2 => {
                let target = word(draw.one(&NAMES));
                format!("rm -rf {path}; ln -sT -- {target} {path}")
            }
            3 => format!("rm -rf {path}; {}", file(draw, &path, ">")),
            4 => format!("mv -T {path} {other}"),
            5 if into_itself => "true".to_owned(),
            5 => format!("cp -RT {path} {other}"),
            6 | 7 => {
                let mode = MODES[draw.below(MODES.len())];
                format!("[ -L {path} ] || {{ [ -f {path} ] && chmod {mode} {path}; }}")
            }
            8 => format!("touch -h {path}"),
            9 => format!("ln -T {path} {other}"),
            10 => format!("mkfifo fifo{number}"),
            _ => file(draw, &path, ">>"),
        };
        step(&mut text, &command);
    }
    text
}

fn run(seed: u64) {
    let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let case = Case::made(setup(&mut draw), script(&mut draw));
    let done = case.run();
    let mut wanted = case.direct.clone();
    let is_fifo = |mode: u32| mode & 0o170_000 == 0o010_000;
    let mut fifos: Vec<String> = Vec::new();
    wanted.0.retain(|path, entry| {
        if is_fifo(entry.mode) {
            fifos.push(String::from_utf8_lossy(path).into_owned());
        }
        !is_fifo(entry.mode)
    });
    fifos.sort();
    assert!(wanted != case.base, "seed {seed}: nothing changed");
    assert_eq!(
        done.refused(),
        fifos,
        "seed {seed}: {}",
        done.shown["detail"]["refused"]
    );
    case.round(&done, &wanted);
}

#[test]
fn a_deep_tree_and_a_wide_one() {
    let deep = "d/".repeat(400);
    let setup = format!(
        "mkdir -p \"$1/home\" \"$1/ws/{deep}\" \"$1/ws/wide\"; cd \"$1/ws\"; echo 1 > {deep}f; \
         cd wide; seq -f 'f%g' 1 100000 | xargs touch"
    );
    let script = format!("echo 2 > {deep}f; echo 3 > wide/f777; rm wide/f1; touch wide/new");
    let case = Case::made(setup, script);
    let done = case.run();
    assert_eq!(done.paths().len(), 4);
    case.round(&done, &case.direct);
}

#[test]
fn whatever_changes_is_carried_1() {
    run(1);
    run(2);
    run(3);
}

#[test]
fn whatever_changes_is_carried_2() {
    run(4);
    run(5);
    run(6);
}

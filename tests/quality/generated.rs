//! Three larger projects, always the same: some files that are like real ones, each for one thing, among hundreds that are all alike
//! and full of everybody's words.

use std::fmt::Write as _;

use kit::archive;

/// A project: paths and texts.
pub(crate) type Project = Vec<(String, String)>;

/// Words that stand everywhere, so that they say nothing.
const EVERYWHERE: [&str; 24] = [
    "validate the input",
    "limit the size",
    "send an email",
    "write to the log",
    "the cache is cold",
    "retry later",
    "the session of the user",
    "a token",
    "parse the line",
    "round the amount",
    "the table of the page",
    "an order",
    "the request failed",
    "the message text",
    "sort by date",
    "the queue is full",
    "the settings",
    "export it",
    "the origin",
    "the search",
    "a distance in metres",
    "the price",
    "the schema version",
    "the schedule",
];

/// Numbers that are always the same.
struct Dice(u32);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        usize::try_from(self.0 >> 8).unwrap_or(0) % below
    }

    fn remarks(&mut self, sign: &str) -> String {
        let lines =
            (0..4).map(|_| format!("{sign} {}.\n", EVERYWHERE[self.roll(EVERYWHERE.len())]));
        lines.collect()
    }
}

const NOUNS: [&str; 24] = [
    "patient", "invoice", "doctor", "ward", "visit", "lab", "drug", "ticket", "supplier", "nurse",
    "room", "device", "coupon", "product", "basket", "seller", "review", "parcel", "vehicle",
    "driver", "route", "depot", "fuel", "tyre",
];

fn title(noun: &str) -> String {
    let mut chars = noun.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

fn with(needles: &str, noise: Project) -> Project {
    let text = archive::read(needles);
    let mut project: Project = archive::files(&text)
        .into_iter()
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
        .collect();
    project.extend(noise);
    project.sort();
    project
}

/// A monolith in Python: twenty-four nouns in ten layers.
pub(crate) fn clinic() -> Project {
    let layers = [
        "model",
        "service",
        "repository",
        "controller",
        "validator",
        "events",
        "serializer",
        "policy",
        "query",
        "cache",
    ];
    let mut dice = Dice(1);
    let mut noise = Vec::new();
    for noun in NOUNS {
        for (at, layer) in layers.iter().enumerate() {
            let mut text = format!("\"\"\"The {layer} of a {noun}.\"\"\"\n\n");
            if at > 0 {
                let _ = writeln!(
                    text,
                    "from clinic.{noun}.{} import {}{}",
                    layers[at - 1],
                    title(noun),
                    title(layers[at - 1])
                );
            }
            let other = NOUNS[dice.roll(NOUNS.len())];
            let _ = writeln!(
                text,
                "from clinic.{other}.model import {}Model\n\n",
                title(other)
            );
            let _ = writeln!(text, "class {}{}:", title(noun), title(layer));
            for verb in ["create", "list", "update", "remove"] {
                let _ = write!(
                    text,
                    "    def {verb}_{noun}(self, data):\n{}        return {}Model(data)\n\n",
                    dice.remarks("        #"),
                    title(other)
                );
            }
            noise.push((format!("clinic/{noun}/{layer}.py"), text));
        }
    }
    with("quality/clinic.txt", noise)
}

/// A monorepo in TypeScript: a package for each noun, and two apps.
pub(crate) fn market() -> Project {
    let parts = [
        "api", "types", "store", "view", "list", "form", "filter", "format", "hooks", "routes",
        "mock", "events", "theme", "index",
    ];
    let mut dice = Dice(2);
    let mut noise = Vec::new();
    for noun in NOUNS {
        noise.push((
            format!("packages/{noun}/package.json"),
            format!("{{ \"name\": \"@market/{noun}\", \"main\": \"src/index.ts\" }}\n"),
        ));
        for part in parts {
            let other = NOUNS[dice.roll(NOUNS.len())];
            let mut text = format!(
                "import {{ load{} }} from '@market/{other}';\n",
                title(other)
            );
            if part == "index" {
                for part in &parts[..13] {
                    let _ = writeln!(text, "export * from './{part}';");
                }
            }
            let _ = write!(text, "\n{}", dice.remarks("//"));
            for verb in ["load", "save", "show"] {
                let name = format!(
                    "{verb}{}{}",
                    title(noun),
                    if part == "api" {
                        String::new()
                    } else {
                        title(part)
                    }
                );
                let _ = write!(
                    text,
                    "\nexport function {name}(id: string) {{\n  {}  return load{}(id);\n}}\n",
                    dice.remarks("//").replace('\n', "\n  ").trim_start(),
                    title(other)
                );
            }
            noise.push((format!("packages/{noun}/src/{part}.ts"), text));
        }
    }
    with("quality/market.txt", noise)
}

/// Crates in Rust and services in Go.
pub(crate) fn fleet() -> Project {
    let mut dice = Dice(3);
    let mut noise = Vec::new();
    for noun in NOUNS {
        noise.push((
            format!("crates/{noun}/Cargo.toml"),
            format!("[package]\nname = \"fleet-{noun}\"\nversion = \"0.1.0\"\n"),
        ));
        let modules = [
            "model", "store", "codec", "state", "rules", "report", "import", "stats",
        ];
        let mut root = format!("//! All of a {noun}.\n\n");
        for module in modules {
            let _ = writeln!(root, "pub mod {module};");
            let other = NOUNS[dice.roll(NOUNS.len())];
            let text = format!(
                "//! The {module} of a {noun}.\n\nuse fleet_{other}::model::{0};\n\n{1}pub struct {2}{3} {{\n    pub inner: {0},\n}}\n\n{4}pub fn read_{noun}_{module}(id: u64) -> {0} {{\n    {0}::of(id)\n}}\n\n{5}pub fn write_{noun}_{module}(id: u64) {{\n    read_{noun}_{module}(id);\n}}\n",
                title(other),
                dice.remarks("///"),
                title(noun),
                if module == "model" {
                    String::new()
                } else {
                    title(module)
                },
                dice.remarks("///"),
                dice.remarks("///"),
            );
            noise.push((format!("crates/{noun}/src/{module}.rs"), text));
        }
        noise.push((format!("crates/{noun}/src/lib.rs"), root));
        noise.push((
            format!("services/{noun}/go.mod"),
            format!("module example.com/fleet/{noun}\n\ngo 1.22\n"),
        ));
        for file in ["handler", "repository", "worker", "metrics"] {
            let text = format!(
                "// Package {noun} serves a {noun}.\npackage {noun}\n\n{0}func {1}{2}(id string) string {{\n\treturn id\n}}\n\n{3}func List{2}s{1}() []string {{\n\treturn []string{{{1}{2}(\"1\")}}\n}}\n",
                dice.remarks("//"),
                title(file),
                title(noun),
                dice.remarks("//"),
            );
            noise.push((format!("services/{noun}/{file}.go"), text));
        }
    }
    with("quality/fleet.txt", noise)
}

//! The table in `README.md` has a row for each case, and each test it names is there.

use std::{collections::BTreeSet, fs, path::Path};

#[test]
fn each_case_has_a_row_and_each_row_a_test() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let trees: BTreeSet<String> = fs::read_dir(here.join("trees"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let text = fs::read_to_string(here.join("README.md")).unwrap();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| B"))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    let named: BTreeSet<String> = rows.iter().map(|row| row[0].to_owned()).collect();
    assert_eq!((named, rows.len()), (trees.clone(), trees.len()));
    for row in rows {
        for test in row[4].split(", ") {
            let (module, name) = test.trim_matches('`').split_once("::").unwrap();
            let source = fs::read_to_string(here.join(module).with_extension("rs")).unwrap();
            let is_there = [format!("fn {name}()"), format!("{name} = \"")];
            assert!(is_there.iter().any(|text| source.contains(text)), "{test}");
        }
    }
}

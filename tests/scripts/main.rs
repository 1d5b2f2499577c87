//! Recorded tasks: what a model once said is said again, the real binary and a real machine do what it asks for, and the bytes that come
//! of it are compared. No model is reached.
//!
//! A task is a file in `tasks/`: `@task` has the words, each `@turn` an answer of the model (words, then one call a line), `@told`
//! what must be in the results of the turn before it, and `@after` and `@sed` say what the files are in the end: by their
//! text, or as `sed` makes them of what they were. All other files must be as they were.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod task;

macro_rules! tasks {
    ($($test:ident: $name:literal,)*) => {
        $(#[test] fn $test() { task::play($name); })*

        #[test]
        fn every_recorded_task_is_played() {
            let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/tasks");
            let mut there: Vec<String> = std::fs::read_dir(dir)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            there.sort();
            let played: Vec<String> = [$($name),*].iter().map(|name| format!("{name}.txt")).collect();
            assert_eq!(there, played);
        }
    };
}

tasks! {
    a_function_is_renamed_in_four_files: "01-rename-across-files",
    a_failing_test_is_made_to_pass: "02-failing-test",
    a_deprecated_call_is_replaced: "03-api-migration",
    a_change_is_made_at_the_end_of_an_import_chain: "04-import-chain-across-packages",
    dead_code_goes: "05-dead-code",
    a_function_has_one_more_parameter: "06-new-parameter",
    a_panic_becomes_an_error: "07-error-instead-of-panic",
    a_field_is_renamed_in_three_crates: "08-rename-across-crates",
    an_enum_has_one_more_variant: "09-new-variant",
    the_service_whose_test_fails_is_found: "10-one-of-two-services",
    a_context_is_passed_through: "11-context-parameter",
    a_setting_is_renamed_in_four_languages: "12-setting-in-four-languages",
}

use super::*;

#[test]
fn smoke() {
    let ask = at_line("// @legwork do this\n// and that\nfn x() {}\n", 1).expect("found");
    assert_eq!(ask.text, "do this and that");
}

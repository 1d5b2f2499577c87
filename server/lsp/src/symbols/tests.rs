use super::*;

#[test]
fn smoke() {
    let s = enclosing("rust", None, "impl A { fn b() { c } }", 18..19).expect("found");
    assert_eq!(
        (s.kind, s.name.as_str(), s.lines),
        ("method", "A::b", (1, 1))
    );
}

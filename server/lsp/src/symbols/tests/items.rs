//! What the items of each language are called.

use super::said;

fn check(language: &str, cases: &[(&str, Option<&str>)]) {
    for (text, symbol) in cases {
        assert_eq!(
            said(language, text).as_deref(),
            *symbol,
            "{language}: {text:?}"
        );
    }
}

#[test]
fn rust() {
    check(
        "rust",
        &[
            ("fn next() { ¦a }", Some("function next 1-1")),
            (
                "impl<'a> Parser<'a> {\n fn next(&self) {\n ¦a } }",
                Some("method Parser::next 2-3"),
            ),
            (
                "impl Iterator for Parser { fn next() {} ¦ }",
                Some("impl Iterator for Parser 1-1"),
            ),
            (
                "impl Iterator for Parser { fn next() {¦} }",
                Some("method Parser::next 1-1"),
            ),
            (
                "impl fmt::Display for a::B<T> { fn f() {¦} }",
                Some("method a::B::f 1-1"),
            ),
            (
                "trait T { fn next(&self) -> ¦u8; }",
                Some("method T::next 1-1"),
            ),
            ("struct S {\n a: ¦u8,\n}", Some("struct S 1-3")),
            ("enum E { ¦A }", Some("enum E 1-1")),
            ("union U { ¦a: u8 }", Some("union U 1-1")),
            ("mod tests { fn a() {¦} }", Some("function tests::a 1-1")),
            (
                "mod a { impl B { const C: u8 = ¦1; } }",
                Some("constant a::B::C 1-1"),
            ),
            ("static A: u8 = ¦1;", Some("static A 1-1")),
            ("type A = ¦u8;", Some("type A 1-1")),
            ("macro_rules! m { () => { ¦a } }", Some("macro m 1-1")),
            ("fn a() { const B: u8 = ¦1; }", Some("function a 1-1")),
            ("fn a() { fn b() { ¦c } }", Some("function b 1-1")),
            (
                "fn a() { struct S; impl S { fn b() { ¦c } } }",
                Some("method S::b 1-1"),
            ),
            ("use a::¦b;", None),
        ],
    );
}

#[test]
fn python() {
    check(
        "python",
        &[
            ("def a():\n    ¦b\n", Some("function a 1-2")),
            ("class A:\n    x = ¦1\n", Some("class A 1-2")),
            (
                "class A:\n    async def b(self):\n        ¦c\n",
                Some("method A.b 2-3"),
            ),
            (
                "class A:\n  class B:\n    def c(self): ¦d\n",
                Some("method A.B.c 3-3"),
            ),
            ("@¦x\n@y(1)\ndef a():\n    b\n", Some("function a 1-4")),
            (
                "@x\nclass A:\n  @y\n  def b(self):\n    ¦c\n",
                Some("method A.b 3-5"),
            ),
            ("def a():\n  def b():\n    ¦c\n", Some("function b 2-3")),
            ("import ¦a\n", None),
        ],
    );
}

/// What JavaScript, TypeScript and both with tags in them share.
const SCRIPT: &[(&str, Option<&str>)] = &[
    ("function a() { ¦b }", Some("function a 1-1")),
    ("¦export default function a() {}", Some("function a 1-1")),
    ("function* a() { ¦b }", Some("function a 1-1")),
    ("class A {\n b() {\n ¦c } }", Some("method A.b 2-3")),
    (
        "class A { static async #b() { ¦c } }",
        Some("method A.#b 1-1"),
    ),
    ("export class A { ¦ }", Some("class A 1-1")),
    ("class A { b = () => { ¦c } }", Some("method A.b 1-1")),
    ("¦export const a = () => {\n}", Some("function a 1-2")),
    ("const a = function () { ¦b }", Some("function a 1-1")),
    ("const A = class { b() { ¦c } }", Some("method A.b 1-1")),
    (
        "const a = { b: () => { ¦c }, d() {} }",
        Some("function b 1-1"),
    ),
    (
        "module.exports = class { b() { ¦c } }",
        Some("method module.exports.b 1-1"),
    ),
    (
        "module.exports.a = function () { ¦b }",
        Some("function module.exports.a 1-1"),
    ),
    ("const a = 1, b = ¦2;", None),
    ("list.map(x => ¦x)", None),
    ("function a() { list.map(x => ¦x) }", Some("function a 1-1")),
    ("it('does', () => { ¦a })", None),
];

#[test]
fn javascript() {
    for language in [
        "javascript",
        "javascriptreact",
        "jsx",
        "typescript",
        "typescriptreact",
        "tsx",
    ] {
        check(language, SCRIPT);
    }
    let tags = "export function App() {\n  return <p>{¦a}</p>;\n}";
    for language in ["javascript", "javascriptreact", "typescriptreact"] {
        check(language, &[(tags, Some("function App 1-3"))]);
    }
}

#[test]
fn typescript() {
    for language in ["typescript", "typescriptreact"] {
        check(
            language,
            &[
                (
                    "interface A { b(c: ¦string): void }",
                    Some("method A.b 1-1"),
                ),
                ("export interface A { b: ¦string }", Some("interface A 1-1")),
                ("type A = ¦string;", Some("type A 1-1")),
                ("enum A { ¦B }", Some("enum A 1-1")),
                (
                    "abstract class A { abstract b(): ¦void; }",
                    Some("method A.b 1-1"),
                ),
                (
                    "class A<T> { private b = (): void => { ¦c } }",
                    Some("method A.b 1-1"),
                ),
                (
                    "namespace N { export function a(): void { ¦b } }",
                    Some("function N.a 1-1"),
                ),
                (
                    "declare module 'm' { function a(): ¦void; }",
                    Some("function m.a 1-1"),
                ),
                ("const a: B = (c: D): E => { ¦f };", Some("function a 1-1")),
            ],
        );
    }
    check(
        "typescript",
        &[("function a() { return <B>¦c; }", Some("function a 1-1"))],
    );
}

#[test]
fn go() {
    check(
        "go",
        &[
            ("package p\nfunc A() {\n ¦b\n}", Some("function A 2-4")),
            (
                "package p\nfunc (p *Parser) Next() { ¦b }",
                Some("method Parser.Next 2-2"),
            ),
            (
                "package p\nfunc (p Parser[T]) Next() { ¦b }",
                Some("method Parser.Next 2-2"),
            ),
            (
                "package p\nfunc (*Parser[K, V]) Next() { ¦b }",
                Some("method Parser.Next 2-2"),
            ),
            ("package p\n¦type A struct {\n B int\n}", Some("type A 2-4")),
            ("package p\ntype (\n A int\n B ¦int\n)", Some("type B 4-4")),
            (
                "package p\ntype A interface { B() ¦int }",
                Some("method A.B 2-2"),
            ),
            ("package p\ntype A = ¦int", Some("type A 2-2")),
            ("package p\nconst A = ¦1", Some("constant A 2-2")),
            ("package p\nvar a = ¦1", Some("variable a 2-2")),
            ("package p\nfunc A() { var b = ¦1 }", Some("function A 2-2")),
            ("package ¦p", None),
        ],
    );
}

#[test]
fn java() {
    check(
        "java",
        &[
            ("class A { void b() { ¦c(); } }", Some("method A.b 1-1")),
            (
                "public class A {\n @Override\n public int b() {\n return ¦1; } }",
                Some("method A.b 2-4"),
            ),
            ("class A { A() { ¦b(); } }", Some("constructor A.A 1-1")),
            ("class A { int ¦b; }", Some("class A 1-1")),
            (
                "class A { class B { void c() { ¦d(); } } }",
                Some("method A.B.c 1-1"),
            ),
            (
                "record A(int b) { A { ¦c(); } }",
                Some("constructor A.A 1-1"),
            ),
            ("interface A { int b(¦); }", Some("method A.b 1-1")),
            ("enum A { B¦, C }", Some("enum A 1-1")),
            ("@interface A { int ¦b(); }", Some("annotation A 1-1")),
            ("import a.¦b;", None),
        ],
    );
}

/// What C and C++ share.
const C: &[(&str, Option<&str>)] = &[
    ("int a(void)\n{\n  ¦b();\n}", Some("function a 1-4")),
    ("static char **a(int b) { ¦c(); }", Some("function a 1-1")),
    ("int a(int ¦b);", Some("function a 1-1")),
    ("int (*a)(int ¦b);", None),
    ("struct s { int ¦a; };", Some("struct s 1-1")),
    ("struct s a(struct ¦s b) { }", Some("function a 1-1")),
    ("typedef struct { int ¦a; } s_t;", Some("type s_t 1-1")),
    ("union u { int ¦a; };", Some("union u 1-1")),
    ("enum e { ¦A };", Some("enum e 1-1")),
    ("#define M(a) \\\n  ¦(a)\nint b;", Some("macro M 1-2")),
    ("void a(void) { int b(int ¦c); }", Some("function a 1-1")),
    ("int ¦a = 1;", None),
    (
        "#if X\nint a(void) { ¦b(); }\n#endif",
        Some("function a 2-2"),
    ),
];

#[test]
fn c() {
    check("c", C);
}

#[test]
fn cpp() {
    check("cpp", C);
    check(
        "cpp",
        &[
            (
                "int Parser::next() const { ¦a(); }",
                Some("function Parser::next 1-1"),
            ),
            (
                "namespace n { class A { int b() { ¦c(); } }; }",
                Some("method n::A::b 1-1"),
            ),
            (
                "namespace a::b { void c() { ¦d(); } }",
                Some("function a::b::c 1-1"),
            ),
            ("class A { int b(int ¦c); };", Some("method A::b 1-1")),
            ("class A { int ¦b; };", Some("class A 1-1")),
            ("struct A { A(int ¦b); };", Some("method A::A 1-1")),
            ("A::~A() { ¦b(); }", Some("function A::~A 1-1")),
            ("std::string &A::b() { ¦c(); }", Some("function A::b 1-1")),
            (
                "bool A::operator==(const A &b) { ¦c(); }",
                Some("function A::operator== 1-1"),
            ),
            (
                "¦template <typename T>\nT a(T b) { c(); }",
                Some("function a 1-2"),
            ),
            (
                "template <class T> class A { T b() { ¦c(); } };",
                Some("method A::b 1-1"),
            ),
            ("enum class E { ¦A };", Some("enum E 1-1")),
            ("namespace { void a() { ¦b(); } }", Some("function a 1-1")),
            ("void a() { Foo b(¦c); }", Some("function a 1-1")),
        ],
    );
}

#[test]
fn ruby() {
    check(
        "ruby",
        &[
            ("def a\n  ¦b\nend", Some("method a 1-3")),
            (
                "module A\n  class B < C\n    def d?\n      ¦e\n    end\n  end\nend",
                Some("method A::B#d? 3-5"),
            ),
            (
                "class A\n  def self.b\n    ¦c\n  end\nend",
                Some("method A.b 2-4"),
            ),
            ("class A::B\n  attr_reader ¦:c\nend", Some("class A::B 1-3")),
            ("¦class A\nend", Some("class A 1-2")),
            ("require '¦a'", None),
        ],
    );
}

#[test]
fn shell() {
    for language in ["shellscript", "bash", "sh", "zsh"] {
        check(
            language,
            &[
                ("a() {\n  ¦b\n}", Some("function a 1-3")),
                (
                    "function a-b {\n  if c; then ¦d; fi\n}",
                    Some("function a-b 1-3"),
                ),
                ("echo ¦a", None),
            ],
        );
    }
}

#[test]
fn markdown() {
    check(
        "markdown",
        &[
            ("# A\n\n¦text\n\n## B\nmore\n", Some("section A 1-6")),
            (
                "# A\n\ntext\n\n## B ##\nmo¦re\n\n# C\n",
                Some("section B 5-6"),
            ),
            ("# A\n## B\n¦b\n¦## C\nc", Some("section B 2-3")),
            ("# A\n## B\n¦b\n## C\nc¦", Some("section A 1-5")),
            ("¦intro\n# A", None),
            ("A\n===\n\nb\n\nC *d*\n---\n¦e", Some("section C *d* 6-8")),
            ("# A\n```sh\n# b\n¦c\n```\n", Some("section A 1-5")),
            ("# A\n~~~\n```\n# b\n~~~\n## C\n¦", Some("section C 6-6")),
            ("---\ntitle: x\n---\n¦text", None),
            (
                "---\r\ntitle: x\r\n---\r\n# A\r\n¦text\r\n",
                Some("section A 4-5"),
            ),
            ("# A 🦀\n\ttab¦\n", Some("section A 🦀 1-2")),
            ("####### a\n#b\n¦c", None),
            ("# C#\n¦c", Some("section C# 1-2")),
            ("#\n¦c", None),
            ("- a\n---\n¦b", None),
            ("# A\n    # b\n¦c", Some("section A 1-3")),
        ],
    );
}

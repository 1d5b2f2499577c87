//! Imports of every language in the usual layouts of its packages.

use super::*;

fn resolved(files: &[&str], manifests: &[(&str, &str)], from: &str, import: &str) -> String {
    let packages: Vec<(&str, Package)> = manifests
        .iter()
        .filter_map(|(path, text)| Some((*path, crate::packages::read(path, text)?)))
        .collect();
    let resolver = Resolver::new(
        files.to_vec(),
        packages.iter().map(|(path, package)| (*path, package)),
    );
    let found = resolver.resolve(from, import);
    let paths: Vec<&str> = found.iter().map(|file| resolver.path(*file)).collect();
    paths.join(" ")
}

#[test]
fn imports_of_rust_are_found_in_their_crate_and_in_others() {
    let files = [
        "core/src/lib.rs",
        "core/src/a.rs",
        "core/src/a/b.rs",
        "app/src/main.rs",
        "app/src/x/mod.rs",
        "app/src/x/y.rs",
    ];
    let manifests = [
        ("core/Cargo.toml", "[package]\nname = \"my-core\""),
        ("app/Cargo.toml", "[package]\nname = \"app\""),
    ];
    for (from, import, file) in [
        ("app/src/main.rs", "my_core::a::b::Thing", "core/src/a/b.rs"),
        ("app/src/main.rs", "my_core::Thing", "core/src/lib.rs"),
        ("app/src/main.rs", "self::x", "app/src/x/mod.rs"),
        ("app/src/x/mod.rs", "self::y", "app/src/x/y.rs"),
        ("app/src/x/y.rs", "super::Other", "app/src/x/mod.rs"),
        ("core/src/a/b.rs", "crate::a::Name", "core/src/a.rs"),
        ("core/src/a.rs", "self::b", "core/src/a/b.rs"),
        ("core/src/a.rs", "std::fmt", ""),
    ] {
        assert_eq!(
            resolved(&files, &manifests, from, import),
            file,
            "{import} in {from}"
        );
    }
}

#[test]
fn imports_of_scripts_are_found_across_packages() {
    let files = [
        "packages/ui/src/index.ts",
        "packages/ui/src/button.tsx",
        "apps/web/src/a.ts",
        "apps/web/src/lib/b.js",
    ];
    let manifests = [
        (
            "packages/ui/package.json",
            "{\"name\": \"@acme/ui\", \"main\": \"dist/index.js\"}",
        ),
        ("apps/web/package.json", "{\"name\": \"web\"}"),
    ];
    for (import, file) in [
        ("@acme/ui", "packages/ui/src/index.ts"),
        ("@acme/ui/button", "packages/ui/src/button.tsx"),
        ("./lib/b", "apps/web/src/lib/b.js"),
        ("@/lib/b", "apps/web/src/lib/b.js"),
        ("../../../../../x", ""),
        ("@acme/uix", ""),
        ("react", ""),
    ] {
        assert_eq!(
            resolved(&files, &manifests, "apps/web/src/a.ts", import),
            file,
            "{import}"
        );
    }
}

#[test]
fn imports_of_the_other_languages_are_found() {
    for (files, manifests, from, import, file) in [
        (
            &["src/shop/cart.py", "src/shop/__init__.py", "tests/t.py"][..],
            &[("pyproject.toml", "")][..],
            "tests/t.py",
            "shop.cart",
            "src/shop/cart.py",
        ),
        (&["a/b.py", "a/c.py"], &[], "a/b.py", ".c", "a/c.py"),
        (
            &["libs/m/src/m/__init__.py", "app/x.py"],
            &[("libs/m/pyproject.toml", "")],
            "app/x.py",
            "m",
            "libs/m/src/m/__init__.py",
        ),
        (
            &[
                "svc/store/a.go",
                "svc/store/b.go",
                "svc/store/a_test.go",
                "svc/main.go",
            ],
            &[("svc/go.mod", "module example.com/svc")],
            "svc/main.go",
            "example.com/svc/store",
            "svc/store/a.go svc/store/b.go",
        ),
        (
            &["m/src/main/java/a/b/C.java", "x/D.java"],
            &[("m/pom.xml", "")],
            "x/D.java",
            "a.b.C.inner",
            "m/src/main/java/a/b/C.java",
        ),
        (
            &["include/x/y.h", "src/a.c"],
            &[],
            "src/a.c",
            "x/y.h",
            "include/x/y.h",
        ),
        (
            &["lib/shop/cart.rb", "bin/a.rb"],
            &[],
            "bin/a.rb",
            "shop/cart",
            "lib/shop/cart.rb",
        ),
        (
            &["lib/shop/cart.rb", "bin/a.rb"],
            &[],
            "bin/a.rb",
            "../lib/shop/cart",
            "lib/shop/cart.rb",
        ),
        (
            &["lib/common.sh", "bin/run.sh"],
            &[],
            "bin/run.sh",
            "/common.sh",
            "lib/common.sh",
        ),
    ] {
        assert_eq!(
            resolved(files, manifests, from, import),
            file,
            "{import} in {from}"
        );
    }
}

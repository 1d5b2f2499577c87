//! A task with the programs of a container image instead of this machine's.

use kit::{folder::Folder, home::Home};

/// Makes the image layout `image` of a shell and two programs, with a second layer that hides a file of the first.
const IMAGE: &str = r#"
set -eu
mkdir -p first/bin first/etc second/etc image/blobs/sha256
cp -L /bin/sh /bin/cat /bin/ls first/bin
for file in $(ldd /bin/sh /bin/cat /bin/ls | grep -o '/[^ )]*' | grep -v ':$' | sort -u); do
    mkdir -p "first$(dirname "$file")"
    cp -L "$file" "first$file"
done
echo lower > first/etc/lower
echo made here > second/etc/motd
: > second/etc/.wh.lower
blob() { # FILE KIND
    sum=$(sha256sum "$1" | cut -d' ' -f1)
    cp "$1" "image/blobs/sha256/$sum"
    printf '{"mediaType":"%s","digest":"sha256:%s","size":%s}' "$2" "$sum" "$(stat -c %s "$1")"
}
kind=application/vnd.oci.image
tar -C first --owner=0 --group=0 -cf first.tar .
tar -C second --owner=0 --group=0 -czf second.tar.gz .
echo '{}' > config.json
printf '{"schemaVersion":2,"config":%s,"layers":[%s,%s]}' "$(blob config.json $kind.config.v1+json)" \
    "$(blob first.tar $kind.layer.v1.tar)" "$(blob second.tar.gz $kind.layer.v1.tar+gzip)" > manifest.json
printf '{"schemaVersion":2,"manifests":[%s]}' "$(blob manifest.json $kind.manifest.v1+json)" > image/index.json
"#;

#[test]
fn programs_come_from_the_image_and_from_nowhere_else() {
    let home = Home::new();
    let stage = Folder::with(&[("build", IMAGE)]);
    stage.sh("sh build");
    let image = stage.path().join("image");
    let image = image.to_str().unwrap();
    let folder = Folder::with(&[("a", "1\n")]);
    // `ls` of what is there, and a program that is on every host and not in the image.
    let script = "ls / > seen; cat /etc/motd >> seen; ls /etc/lower 2>/dev/null || echo hidden >> seen; \
        python3 -c 1 2>/dev/null || echo 'no python' >> seen; echo 2 > a; echo x > /bin/written && echo writable >> seen";
    let task = home.task_with(&folder.path(), &["--image", image], script);
    let id = task["task"].as_str().unwrap();
    let shown = home.legwork(&folder.path(), ["show", id]).text();
    assert!(shown.contains(&format!("image      {image}")), "{shown}");
    home.legwork(&folder.path(), ["accept", id, "--include-sensitive"])
        .expect(0);
    let seen = std::fs::read_to_string(folder.path().join("seen")).unwrap();
    let (listed, rest) = seen.split_at(seen.find("made here").unwrap());
    for dir in ["bin", "dev", "etc", "proc", "sys"] {
        assert!(listed.lines().any(|line| line == dir), "{seen}");
    }
    assert!(
        !listed.lines().any(|line| line == "boot" || line == "srv"),
        "{seen}"
    );
    assert_eq!(rest, "made here\nhidden\nno python\nwritable\n");
    assert_eq!(
        std::fs::read_to_string(folder.path().join("a")).unwrap(),
        "2\n"
    );

    let broken = stage.path().join("image/index.json");
    std::fs::write(broken, "{").unwrap();
    let ran = home.legwork(&folder.path(), ["run", "--image", image, "--", "true"]);
    assert!(ran.stderr.contains("cannot be used as an image"), "{ran:?}");
    let ran = home
        .legwork(&folder.path(), ["run", "--image", "nothing", "--", "true"])
        .expect(2);
    assert!(
        ran.stderr.contains("--image nothing cannot be read"),
        "{ran:?}"
    );
}

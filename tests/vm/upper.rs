//! What the guest tells of its upper layer is what programs changed, and nothing else.

use std::collections::BTreeMap;

use kit::machine::{Machine, small, start};
use legwork_host::{Collected, ExitStatus, FoundKind};

pub(crate) async fn listing(machine: &Machine) -> BTreeMap<String, (FoundKind, Vec<u8>)> {
    let (sender, mut frames) = tokio::sync::mpsc::channel(16);
    let taken = async {
        let mut found = BTreeMap::new();
        let mut last = String::new();
        while let Some(frame) = frames.recv().await {
            match frame {
                Collected::Found(entry) => {
                    last = String::from_utf8(entry.path).unwrap();
                    assert!(
                        found
                            .insert(last.clone(), (entry.kind, Vec::new()))
                            .is_none(),
                        "{last} twice"
                    );
                }
                Collected::Data(bytes) => found.get_mut(&last).unwrap().1.extend(bytes),
                Collected::EndOfFile => {}
                other => panic!("{other:?}"),
            }
        }
        found
    };
    let (done, found) = tokio::join!(machine.sandbox.collect(sender), taken);
    done.unwrap();
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_and_only_changes_are_listed() {
    let machine = start(small()).await.unwrap();
    assert!(listing(&machine).await.is_empty(), "nothing was done yet");
    let script = "cat kept.txt folder/deep.txt > /dev/null; ls -lR > /tmp/elsewhere; \
        printf 'new\\n' > new.txt; chmod 755 new.txt; rm gone.txt; ln -s kept.txt link; mkdir empty; mkfifo pipe; \
        rm -r folder; mkdir folder; printf 'again' > folder/deep.txt; head -c 300000 /dev/zero > zeros; \
        touch kept.txt";
    assert_eq!(machine.sh(script).await.exit.status, ExitStatus::Exited(0));
    let found = listing(&machine).await;
    let kind = |path: &str| found.get(path).map(|(kind, _)| kind.clone());
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "empty",
            "folder",
            "folder/deep.txt",
            "gone.txt",
            "kept.txt",
            "link",
            "new.txt",
            "pipe",
            "zeros"
        ]
    );
    assert_eq!(
        kind("new.txt"),
        Some(FoundKind::File {
            mode: 0o755,
            size: 4
        })
    );
    assert_eq!(found["new.txt"].1, b"new\n");
    assert_eq!(kind("gone.txt"), Some(FoundKind::Whiteout));
    assert_eq!(
        kind("link"),
        Some(FoundKind::Symlink {
            target: b"kept.txt".to_vec()
        })
    );
    assert_eq!(
        kind("folder"),
        Some(FoundKind::Dir {
            mode: 0o755,
            opaque: true
        })
    );
    assert_eq!(found["folder/deep.txt"].1, b"again");
    assert_eq!(
        kind("pipe"),
        Some(FoundKind::Special {
            file_type: 0o010_000
        })
    );
    assert_eq!(found["zeros"].1, vec![0; 300_000]);
    // Touched: it stands in the layer with the bytes it had; the host sees that nothing changed.
    assert_eq!(found["kept.txt"].1, b"kept\n");
    machine.sandbox.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_images_are_read_only_at_the_device() {
    let machine = start(small()).await.unwrap();
    let image = machine.dir.path().join("workspace.erofs");
    let before = std::fs::read(&image).unwrap();
    let script = "for d in vda vdb vdc; do dd if=/dev/zero of=/dev/$d bs=4096 count=1 conv=fsync 2>/dev/null && echo $d; done; \
        echo tried";
    assert_eq!(machine.sh(script).await.text(), "tried\n");
    assert_eq!(std::fs::read(&image).unwrap(), before);
    // What a program asks of the base comes as it was captured, time stamps to the nanosecond.
    let stamp = machine.sh("stat -c %y kept.txt").await;
    assert!(
        stamp.text().starts_with("2023-11-14 22:13:20.123456789"),
        "{}",
        stamp.text()
    );
    machine.sandbox.stop().await;
}

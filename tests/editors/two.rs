//! B50. Neovim and Helix review one task at once.

use crate::stage::{RELEASES, Stage, lines, row};

/// Both decide on the same hunk in the same moment; both have the file open, one with unsaved text.
#[test]
fn one_decision_wins() {
    for release in RELEASES {
        let stage = Stage::new(release, &[("a.md", &lines(1, 20))]);
        let id = stage.task("sed -i 's/^line \\(5\\|15\\)$/new \\1/' a.md");
        let nvim = stage.plugin("", &["a.md"]);
        nvim.wait_lua("#require('legwork').hunks() == 2");
        nvim.call("nvim_input", vec!["ggOmine<Esc>".into()]);
        let helix = stage.helix("", &["a.md"]);
        helix.screen.wait("●");
        helix.command(":5");
        helix.screen.keys(&["Space", "a"]);
        helix.screen.wait("Reject hunk");
        helix.screen.keys(&["Down"]);

        let step = row(release, "B50: accept here and reject there");
        nvim.call("nvim_input", vec!["6G\\ly".into()]);
        helix.screen.keys(&["Enter"]);
        stage.await_pending(&id, 1);
        nvim.wait_lua("#require('legwork').hunks() == 1");
        let accepted = nvim.buffer().contains("new 5");
        let text = nvim.buffer();
        assert_eq!(
            text.matches("new 5").count(),
            usize::from(accepted),
            "{text}"
        );
        assert_eq!(
            text.matches("line 5\n").count(),
            usize::from(!accepted),
            "{text}"
        );
        drop(step);

        let step = row(release, "B50: the other hunk is decided once, whoever asks");
        helix.screen.keys(&["Escape"]);
        helix.command(":15");
        helix.screen.keys(&["Space", "a"]);
        helix.screen.wait("Accept hunk");
        helix.screen.keys(&["Enter"]);
        stage.await_pending(&id, 0);
        nvim.wait_lua("#require('legwork').hunks() == 0");
        let text = nvim.buffer();
        assert!(!text.contains("new 15"), "{text}");
        drop(step);
    }
}

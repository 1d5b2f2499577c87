//! Emacs as `editors/emacs/README.md` says to set it up: Eglot, its own commands and those of `legwork.el`.

use kit::emacs::Emacs;
use kit::room::Release;

use crate::stage::{Stage, checkout, place};

const INIT: &str = "(require 'legwork)\n(keymap-global-set \"C-c l\" legwork-map)\n\
     (add-to-list 'eglot-server-programs `(text-mode . ,(legwork-contact)))\n\
     (add-hook 'text-mode-hook #'legwork-ensure)\n";

#[test]
fn a_task_from_words_to_the_file() {
    let text = "one\ntwo\nthree\nfour\n";
    let stage = Stage::new(Release::Sid, &[("a.txt", text)]);
    let lisp = checkout().join("editors/emacs");
    let room = stage.room().showing(&lisp);
    let init = format!("(add-to-list 'load-path \"{}\")\n{INIT}", lisp.display());
    let emacs = Emacs::open(&room, &stage.path(), &init, &["a.txt"]);

    // Words about the line of point, and text that is not saved.
    emacs.screen.wait("Flymake");
    emacs.go(4);
    emacs.screen.keys(&["C-e", "Enter"]);
    emacs.screen.text("mine");
    emacs.go(2);
    emacs.screen.keys(&["C-c", "l", "d"]);
    emacs.screen.wait("Legwork:");
    let words = "run sed -i 's/two/zwei/; s/mine/mein/' a.txt";
    emacs.screen.text(words);
    emacs.screen.keys(&["Enter"]);
    let task = stage.asked(words);
    assert_eq!(place(&task), ("a.txt".to_owned(), 2, 2));
    let id = task["id"].as_str().expect("an id");
    // The agent's own note is another file.
    stage.await_pending(id, 3);

    // What waits is Flymake's to list and Eglot's to act on.
    emacs.command("flymake-show-buffer-diagnostics");
    emacs.screen.wait("hunk 1/2");
    emacs.screen.keys(&["C-x", "1"]);
    emacs.go(2);
    emacs.command("eglot-code-actions");
    emacs.screen.wait("(default Accept hunk");
    emacs.screen.keys(&["Enter"]);
    stage.await_pending(id, 2);
    emacs.screen.wait("zwei");
    assert_eq!(stage.folder.read("a.txt"), text, "nothing is saved");

    // Undo brings text and hunk back.
    emacs.screen.keys(&["C-_"]);
    emacs.screen.wait("two");
    stage.await_pending(id, 3);

    // The keys of `legwork.el` mean the hunk at point.
    emacs.go(5);
    emacs.screen.keys(&["C-c", "l", "y"]);
    stage.await_pending(id, 2);
    emacs.screen.wait("mein");
    emacs.go(2);
    emacs.screen.keys(&["C-c", "l", "x"]);
    stage.await_pending(id, 1);
    emacs.screen.keys(&["C-x", "C-s"]);
    stage.await_file("a.txt", "one\ntwo\nthree\nfour\nmein\n");
}

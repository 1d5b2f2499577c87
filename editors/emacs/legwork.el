;;; legwork.el --- Hand tasks to Legwork and review their changes  -*- lexical-binding: t; -*-

;; Package-Requires: ((emacs "30.1"))
;; Keywords: tools, languages
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The language server of Legwork does the work; Eglot speaks to it.  Here are
;; the commands that Eglot has no key for, and the command lines that start the
;; server, alone or together with the server of a language.  See README.md.

;;; Code:

(require 'eglot)
(require 'flymake)
(require 'jsonrpc)
(require 'seq)

(declare-function eglot--signal-textDocument/didChange "eglot" ())

(defgroup legwork nil
  "A background agent whose work comes back as hunks."
  :group 'tools)

(defcustom legwork-program "legwork"
  "The program of Legwork."
  :type 'string)

(defcustom legwork-multiplexer "rass"
  "The program that lets one Eglot connection reach several servers.
It is called as \"rass -- SERVER ARGUMENTS -- SERVER ARGUMENTS\"."
  :type 'string)

(defun legwork-contact (&rest server)
  "Make the command line that starts Legwork, for `eglot-server-programs'.
With SERVER, the command line of a language's own server, start both
through `legwork-multiplexer', since Eglot gives a buffer one connection."
  (let ((legwork (list legwork-program "lsp")))
    (if server
        `(,legwork-multiplexer "--" ,@server "--" ,@legwork)
      legwork)))

(defvar legwork--last nil
  "The connection that a command used last.")

(defun legwork--preview-p ()
  "Tell whether this buffer shows what a task made, and no file of the user's.
The server writes such previews of files that are not there yet."
  (and buffer-file-name
       (let ((case-fold-search nil))
         (string-match-p "/preview/[a-z]\\{12\\}/" buffer-file-name))))

(defun legwork--server ()
  "Return the connection of this buffer, or fail and say what to do.
A preview, and a buffer that has none, take the one that was used last."
  (let ((last (and legwork--last (jsonrpc-running-p legwork--last)
                   legwork--last))
        (server (eglot-current-server)))
    (cond
     ((and last (or (not server) (legwork--preview-p))) last)
     ((not server)
      (user-error "No language server here: start one with M-x eglot"))
     ((seq-contains-p
       (plist-get (eglot-server-capable :executeCommandProvider) :commands)
       "legwork.delegate")
      (setq legwork--last server))
     (t
      (user-error "The server of this buffer is not Legwork's: see `legwork-contact'")))))

(defun legwork-ensure ()
  "Start a language server here, as `eglot-ensure', but not in a preview."
  (unless (legwork--preview-p)
    (eglot-ensure)))

;;; What the commands share

(defun legwork--run (command &optional argument then)
  "Let the server do COMMAND, a symbol, with ARGUMENT, a plist, if there is one.
Call THEN with what it answers.  The answer is not waited for: an accept is
done only when the server has seen the text that it asked Eglot to insert."
  (let ((server (legwork--server)))
    ;; What was typed last is otherwise told in an idle moment, and an accept of
    ;; what the server does not know yet would be refused.
    (when (and (eglot-managed-p)
               (fboundp 'eglot--signal-textDocument/didChange))
      (eglot--signal-textDocument/didChange))
    (jsonrpc-async-request
     server :workspace/executeCommand
     (list :command (format "legwork.%s" command)
           :arguments (if argument (vector argument) []))
     :success-fn (or then #'ignore)
     ;; The server shows the same sentence as a message.
     :error-fn #'ignore
     :timeout 60
     :timeout-fn (lambda () (message "Legwork does not answer to `%s'" command)))
    nil))

(defun legwork--here (&optional beg end)
  "The lines between BEG and END of this file, or that of point, as a plist."
  (unless buffer-file-name
    (user-error "Legwork works on files: save this buffer first"))
  (let ((beg (or beg (point)))
        (end (or end (point))))
    (list :file (expand-file-name buffer-file-name)
          :from (line-number-at-pos beg t)
          ;; The line that a region only just reaches is not meant.
          :to (line-number-at-pos (if (> end beg) (1- end) end) t))))

(defun legwork--place ()
  "The line of point in this file, as a plist, or nil where there is no file."
  (when (and buffer-file-name (not (legwork--preview-p)))
    (list :uri (eglot-path-to-uri buffer-file-name)
          :line (1- (line-number-at-pos nil t)))))

;;; Giving work

;;;###autoload
(defun legwork-delegate (text &optional beg end)
  "Start a task with TEXT for what is to be done.
It is about the region from BEG to END, or else about the line of point."
  (interactive
   (let ((region (and (use-region-p) (list (region-beginning) (region-end)))))
     (cons (read-string (if region "Legwork, in the region: " "Legwork: "))
           region)))
  (when (string-blank-p text)
    (user-error "Say what is to be done"))
  (legwork--run 'delegate
                `( :text ,text ,@(legwork--here beg end)
                   ,@(when beg
                       (list :selection
                             (buffer-substring-no-properties beg end)))))
  (deactivate-mark))

;;;###autoload
(defun legwork-new ()
  "Open a file to write a task in; to save it is to start the task."
  (interactive)
  (legwork--run 'new (and (legwork--place) (legwork--here))))

(defun legwork-cancel ()
  "Stop the last task."
  (interactive)
  (legwork--run 'cancel))

(defun legwork-retry ()
  "Run the last task once more, on the files as they are now."
  (interactive)
  (legwork--run 'retry))

(defun legwork-tasks ()
  "Say in one line how the tasks are."
  (interactive)
  (legwork--run 'tasks))

;;; Reviewing

(defun legwork-review ()
  "Go to the first hunk of the newest task that has some."
  (interactive)
  (legwork--run 'review))

(defun legwork-next ()
  "Go to the next hunk, if need be in another file."
  (interactive)
  (legwork--run 'next (legwork--place)))

(defun legwork-prev ()
  "Go to the hunk before, if need be in another file."
  (interactive)
  (legwork--run 'prev (legwork--place)))

(defun legwork--hunk ()
  "The hunk at point, as a plist, or nil for the one that was last gone to."
  (when-let* ((diagnostic
               (seq-some
                (lambda (diagnostic)
                  (let ((lsp (alist-get 'eglot-lsp-diag
                                        (flymake-diagnostic-data diagnostic))))
                    (and (equal (plist-get lsp :source) "legwork") lsp)))
                (flymake-diagnostics (pos-bol) (1+ (pos-eol))))))
    (let* ((data (plist-get diagnostic :data))
           (hunk (and (listp data) (plist-get data :hunk))))
      (if hunk
          (list :hunk hunk)
        ;; A multiplexer keeps the data to itself, but not the actions.
        (seq-some
         (lambda (action)
           (let* ((command (plist-get action :command))
                  (arguments (and (listp command)
                                  (equal (plist-get command :command)
                                         "legwork.reject")
                                  (plist-get command :arguments))))
             (and (vectorp arguments) (aref arguments 0))))
         (eglot-code-actions (pos-bol) (pos-bol)))))))

(defun legwork-accept ()
  "Take the hunk at point, or the one that was last gone to, into the buffer."
  (interactive)
  (legwork--run 'accept (legwork--hunk)))

(defun legwork-reject ()
  "Turn the hunk at point, or the one that was last gone to, down."
  (interactive)
  (legwork--run 'reject (legwork--hunk)))

(defun legwork--file ()
  "This file, as a plist, or nil where there is none."
  (and buffer-file-name
       (not (legwork--preview-p))
       (list :uri (eglot-path-to-uri buffer-file-name))))

(defun legwork-accept-file ()
  "Take all hunks of this file; those in doubt stay."
  (interactive)
  (legwork--run 'acceptFile (legwork--file)))

(defun legwork-reject-file ()
  "Turn all hunks of this file down."
  (interactive)
  (legwork--run 'rejectFile (legwork--file)))

(defun legwork-accept-task ()
  "Take all hunks of the task that was last gone to; those in doubt stay."
  (interactive)
  (legwork--run 'acceptTask))

(defun legwork-reject-task ()
  "Turn all hunks of the task that was last gone to down."
  (interactive)
  (legwork--run 'rejectTask))

(defun legwork-undo ()
  "Take the last decision back."
  (interactive)
  (legwork--run 'undo))

;;; Keys

(defvar-keymap legwork-map
  :doc "Keys of Legwork, to be put behind a prefix of your own."
  "d" #'legwork-delegate
  "N" #'legwork-new
  "l" #'legwork-tasks
  "c" #'legwork-cancel
  "r" #'legwork-review
  "n" #'legwork-next
  "p" #'legwork-prev
  "y" #'legwork-accept
  "x" #'legwork-reject
  "f" #'legwork-accept-file
  "A" #'legwork-accept-task
  "u" #'legwork-undo)

(provide 'legwork)
;;; legwork.el ends here

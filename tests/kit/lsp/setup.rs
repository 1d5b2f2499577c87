//! What a client says of itself, and how it names files.

use std::{
    fmt::Write as _,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

/// What a client says of itself.
#[derive(Clone, Debug)]
pub struct Setup {
    /// `capabilities`.
    pub capabilities: Value,
    /// `initializationOptions`.
    pub options: Value,
    /// `workspaceFolders`; the first is `rootUri`.
    pub folders: Vec<PathBuf>,
    /// Whether folders are told at all, or `rootUri` alone.
    pub workspace_folders: bool,
    /// `clientInfo.name`.
    pub name: String,
    /// Environment of the server, beside that of its user.
    pub environment: Vec<(String, String)>,
}

impl Setup {
    /// A client that can everything and draws hunks itself, in one folder.
    pub fn full(folder: &Path) -> Self {
        let capabilities = json!({
            "general": { "positionEncodings": ["utf-16"] },
            "workspace": {
                "applyEdit": true, "configuration": true, "workspaceFolders": true, "executeCommand": {},
                "workspaceEdit": { "documentChanges": true, "resourceOperations": ["create", "rename", "delete"],
                    "failureHandling": "abort", "normalizesLineEndings": true },
                "codeLens": { "refreshSupport": true },
            },
            "textDocument": {
                "synchronization": { "didSave": true },
                "publishDiagnostics": { "versionSupport": true, "relatedInformation": true },
                "codeAction": { "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [""] } } },
                "codeLens": {}, "hover": { "contentFormat": ["markdown", "plaintext"] },
            },
            "window": { "workDoneProgress": true, "showDocument": { "support": true }, "showMessage": {} },
        });
        Self {
            capabilities,
            options: json!({ "legwork": { "ui": { "hunks": "native", "tasks": true, "content": true } } }),
            folders: vec![folder.to_owned()],
            workspace_folders: true,
            name: "tests".into(),
            environment: Vec::new(),
        }
    }

    /// A client that says nothing of itself.
    pub fn bare(folder: &Path) -> Self {
        let capabilities = json!({ "workspace": { "applyEdit": true } });
        Self {
            capabilities,
            options: Value::Null,
            workspace_folders: false,
            ..Self::full(folder)
        }
    }

    /// Offers these position encodings.
    #[must_use]
    pub fn offering(mut self, encodings: &[&str]) -> Self {
        self.capabilities["general"] = json!({ "positionEncodings": encodings });
        self
    }

    /// Takes hunks as diagnostics.
    #[must_use]
    pub fn with_diagnostics(mut self) -> Self {
        self.options["legwork"]["ui"]["hunks"] = json!("diagnostics");
        self
    }
}

/// A file's URI, with what RFC 3986 reserves escaped.
///
/// # Panics
///
/// When the path is not absolute.
pub fn uri(path: &Path) -> String {
    assert!(path.is_absolute(), "{}", path.display());
    let mut uri = String::from("file://");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(byte.into());
        } else {
            write!(uri, "%{byte:02X}").expect("a string takes all");
        }
    }
    uri
}

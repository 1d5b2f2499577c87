//! The VS Code extension in a real editor: VS Code in a browser, driven by keys and the mouse. What is done there stands
//! in `vscode-extension/tests/editor`, one file for each test; what it left in files and tasks is looked at here.

mod in_code_server;
mod stage;

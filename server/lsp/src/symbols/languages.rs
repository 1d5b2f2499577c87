//! What each language calls an item and where its name is: one row for a language. Nothing here
//! looks at a text.

use std::path::Path;

use tree_sitter::Language;

/// How a language's items are found.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// By its headings.
    Markdown,
    /// By its grammar.
    Code(&'static Grammar),
}

/// A language with a grammar.
#[derive(Debug)]
pub(super) struct Grammar {
    /// Language ids and file types of editors, in lower case.
    ids: &'static [&'static str],
    /// File extensions, in lower case.
    extensions: &'static [&'static str],
    pub(super) language: fn() -> Language,
    /// What stands between a name and the one of the item around it.
    pub(super) join: &'static str,
    pub(super) items: &'static [Item],
    /// Nodes that hold one item and add only words around it.
    pub(super) wrappers: &'static [&'static str],
}

/// A node kind that is an item.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) node: &'static str,
    /// What it is called.
    pub(super) kind: &'static str,
    pub(super) name: Name,
    /// A field it must have, and the node kinds it may be (any, if none are named).
    pub(super) has: Option<(&'static str, &'static [&'static str])>,
    /// Whether its name is said before the names of what is in it: types and modules.
    pub(super) holds: bool,
    /// Whether it only counts outside functions.
    pub(super) top: bool,
    /// What stands before its name, if not what the language has.
    pub(super) join: &'static str,
}

/// Where an item's name is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Name {
    Field(&'static str),
    /// Inside the declarators of C.
    Declarator,
    /// A Rust `impl`: its type and trait.
    Impl,
    /// A Go method: its receiver's type and its name.
    Method,
}

impl Item {
    const fn new(node: &'static str, kind: &'static str) -> Self {
        Self {
            node,
            kind,
            name: Name::Field("name"),
            has: None,
            holds: false,
            top: false,
            join: "",
        }
    }

    /// An item with items in it.
    const fn holding(node: &'static str, kind: &'static str) -> Self {
        let mut item = Self::new(node, kind);
        item.holds = true;
        item
    }

    const fn named(mut self, name: Name) -> Self {
        self.name = name;
        self
    }

    const fn with(mut self, field: &'static str, kinds: &'static [&'static str]) -> Self {
        self.has = Some((field, kinds));
        self
    }

    const fn top(mut self) -> Self {
        self.top = true;
        self
    }

    const fn joined(mut self, join: &'static str) -> Self {
        self.join = join;
        self
    }

    pub(super) fn is_module(&self) -> bool {
        matches!(self.kind, "module" | "namespace")
    }
}

/// The row for a language id or, if there is none, for the extension of a path.
pub(super) fn of(id: &str, path: Option<&Path>) -> Option<Kind> {
    let id = id.to_ascii_lowercase();
    let extension = path
        .and_then(Path::extension)
        .map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let extension = extension.as_deref().unwrap_or_default();
    if let Some(grammar) = GRAMMARS.iter().find(|row| row.ids.contains(&id.as_str())) {
        return Some(Kind::Code(grammar));
    }
    if id == "markdown" || id == "mdx" {
        return Some(Kind::Markdown);
    }
    if let Some(grammar) = GRAMMARS
        .iter()
        .find(|row| row.extensions.contains(&extension))
    {
        return Some(Kind::Code(grammar));
    }
    matches!(extension, "md" | "markdown" | "mdx").then_some(Kind::Markdown)
}

static GRAMMARS: &[Grammar] = &[
    Grammar {
        ids: &["rust"],
        extensions: &["rs"],
        language: || tree_sitter_rust::LANGUAGE.into(),
        join: "::",
        items: RUST,
        wrappers: &[],
    },
    Grammar {
        ids: &["python"],
        extensions: &["py", "pyi", "pyw"],
        language: || tree_sitter_python::LANGUAGE.into(),
        join: ".",
        items: &[
            Item::new("function_definition", "function"),
            Item::holding("class_definition", "class"),
        ],
        wrappers: &["decorated_definition"],
    },
    Grammar {
        ids: &[
            "javascript",
            "javascriptreact",
            "jsx",
            "js",
            "javascript.jsx",
        ],
        extensions: &["js", "jsx", "mjs", "cjs"],
        language: || tree_sitter_javascript::LANGUAGE.into(),
        join: ".",
        items: SCRIPT,
        wrappers: SCRIPT_WRAPPERS,
    },
    Grammar {
        ids: &["typescript", "ts"],
        extensions: &["ts", "mts", "cts"],
        language: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        join: ".",
        items: SCRIPT,
        wrappers: SCRIPT_WRAPPERS,
    },
    Grammar {
        ids: &["typescriptreact", "tsx", "typescript.tsx"],
        extensions: &["tsx"],
        language: || tree_sitter_typescript::LANGUAGE_TSX.into(),
        join: ".",
        items: SCRIPT,
        wrappers: SCRIPT_WRAPPERS,
    },
    Grammar {
        ids: &["go"],
        extensions: &["go"],
        language: || tree_sitter_go::LANGUAGE.into(),
        join: ".",
        items: GO,
        wrappers: &["type_declaration", "const_declaration", "var_declaration"],
    },
    Grammar {
        ids: &["java"],
        extensions: &["java"],
        language: || tree_sitter_java::LANGUAGE.into(),
        join: ".",
        items: JAVA,
        wrappers: &[],
    },
    Grammar {
        ids: &["c"],
        extensions: &["c", "h"],
        language: || tree_sitter_c::LANGUAGE.into(),
        join: "::",
        items: C,
        wrappers: &[],
    },
    Grammar {
        ids: &["cpp", "c++"],
        extensions: &[
            "cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "inl",
        ],
        language: || tree_sitter_cpp::LANGUAGE.into(),
        join: "::",
        items: C,
        wrappers: &["template_declaration"],
    },
    Grammar {
        ids: &["ruby", "eruby"],
        extensions: &["rb", "rake", "gemspec"],
        language: || tree_sitter_ruby::LANGUAGE.into(),
        join: "::",
        items: &[
            Item::new("method", "method").joined("#"),
            Item::new("singleton_method", "method").joined("."),
            Item::holding("class", "class"),
            Item::holding("module", "module"),
        ],
        wrappers: &[],
    },
    Grammar {
        ids: &["shellscript", "bash", "sh", "zsh", "ksh"],
        extensions: &["sh", "bash", "zsh", "ksh"],
        language: || tree_sitter_bash::LANGUAGE.into(),
        join: "::",
        items: &[Item::new("function_definition", "function")],
        wrappers: &[],
    },
];

const RUST: &[Item] = &[
    Item::new("function_item", "function"),
    Item::new("function_signature_item", "function"),
    Item::new("macro_definition", "macro"),
    Item::new("const_item", "constant").top(),
    Item::new("static_item", "static").top(),
    Item::new("type_item", "type").top(),
    Item::holding("struct_item", "struct"),
    Item::holding("enum_item", "enum"),
    Item::holding("union_item", "union"),
    Item::holding("trait_item", "trait"),
    Item::holding("impl_item", "impl").named(Name::Impl),
    Item::holding("mod_item", "module"),
];

const FUNCTIONS: &[&str] = &[
    "arrow_function",
    "function_expression",
    "generator_function",
];

/// JavaScript and TypeScript; nodes that only one of them has do no harm to the other.
const SCRIPT: &[Item] = &[
    Item::new("function_declaration", "function"),
    Item::new("generator_function_declaration", "function"),
    Item::new("function_expression", "function"),
    Item::new("generator_function", "function"),
    Item::new("function_signature", "function"),
    Item::new("method_definition", "method"),
    Item::new("method_signature", "method"),
    Item::new("abstract_method_signature", "method"),
    Item::new("variable_declarator", "function").with("value", FUNCTIONS),
    Item::new("field_definition", "method")
        .named(Name::Field("property"))
        .with("value", FUNCTIONS),
    Item::new("public_field_definition", "method").with("value", FUNCTIONS),
    Item::new("pair", "function")
        .named(Name::Field("key"))
        .with("value", FUNCTIONS),
    Item::new("assignment_expression", "function")
        .named(Name::Field("left"))
        .with("right", FUNCTIONS),
    Item::new("type_alias_declaration", "type").top(),
    Item::holding("class_declaration", "class"),
    Item::holding("class", "class"),
    Item::holding("variable_declarator", "class").with("value", &["class"]),
    Item::holding("assignment_expression", "class")
        .named(Name::Field("left"))
        .with("right", &["class"]),
    Item::holding("abstract_class_declaration", "class"),
    Item::holding("interface_declaration", "interface"),
    Item::holding("enum_declaration", "enum"),
    Item::holding("module", "module"),
    Item::holding("internal_module", "namespace"),
];

const SCRIPT_WRAPPERS: &[&str] = &[
    "export_statement",
    "ambient_declaration",
    "lexical_declaration",
    "variable_declaration",
];

const GO: &[Item] = &[
    Item::new("function_declaration", "function"),
    Item::new("method_declaration", "method").named(Name::Method),
    Item::new("method_elem", "method"),
    Item::holding("type_spec", "type"),
    Item::holding("type_alias", "type"),
    Item::new("const_spec", "constant").top(),
    Item::new("var_spec", "variable").top(),
];

const JAVA: &[Item] = &[
    Item::new("method_declaration", "method"),
    Item::new("constructor_declaration", "constructor"),
    Item::new("compact_constructor_declaration", "constructor"),
    Item::holding("class_declaration", "class"),
    Item::holding("record_declaration", "record"),
    Item::holding("interface_declaration", "interface"),
    Item::holding("annotation_type_declaration", "annotation"),
    Item::holding("enum_declaration", "enum"),
    Item::holding("module_declaration", "module"),
];

/// C and C++; a specifier without a body only names a type.
const C: &[Item] = &[
    Item::new("function_definition", "function").named(Name::Declarator),
    Item::new("declaration", "function")
        .named(Name::Declarator)
        .top(),
    Item::new("field_declaration", "function")
        .named(Name::Declarator)
        .top(),
    Item::new("preproc_function_def", "macro"),
    Item::new("type_definition", "type")
        .named(Name::Declarator)
        .top(),
    Item::holding("struct_specifier", "struct").with("body", &[]),
    Item::holding("union_specifier", "union").with("body", &[]),
    Item::holding("enum_specifier", "enum").with("body", &[]),
    Item::holding("class_specifier", "class").with("body", &[]),
    Item::holding("namespace_definition", "namespace"),
    Item::new("concept_definition", "concept"),
];

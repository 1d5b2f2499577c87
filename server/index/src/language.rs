//! The languages: which files are in them, and which nodes of their grammars define something or import something.

use std::path::Path;

use tree_sitter::Language;

use crate::imports::Import;

/// A language with a grammar.
#[derive(Debug)]
pub(crate) struct Grammar {
    /// A number that stays the same: tags are kept by it.
    pub(crate) id: u8,
    extensions: &'static [&'static str],
    pub(crate) language: fn() -> Language,
    pub(crate) items: &'static [Item],
    /// Nodes that import, and how.
    pub(crate) imports: &'static [(&'static str, Import)],
    /// Nodes inside which nothing counts that only counts at the top.
    pub(crate) functions: &'static [&'static str],
}

/// A node kind that defines something.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) node: &'static str,
    pub(crate) name: Name,
    /// Whether it only counts outside functions.
    pub(crate) is_top: bool,
    /// A field that it must have.
    pub(crate) has: Option<&'static str>,
}

/// Where an item's name is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Name {
    Field(&'static str),
    /// Inside the declarators of C.
    Declarator,
}

impl Item {
    const fn new(node: &'static str) -> Self {
        Self {
            node,
            name: Name::Field("name"),
            is_top: false,
            has: None,
        }
    }

    const fn top(node: &'static str) -> Self {
        let mut item = Self::new(node);
        item.is_top = true;
        item
    }

    const fn field(mut self, field: &'static str) -> Self {
        self.name = Name::Field(field);
        self
    }

    const fn declarator(mut self) -> Self {
        self.name = Name::Declarator;
        self
    }

    const fn having(mut self, field: &'static str) -> Self {
        self.has = Some(field);
        self
    }
}

/// The language of a file, by its name.
pub(crate) fn of(path: &str) -> Option<&'static Grammar> {
    let extension = Path::new(path).extension()?.to_str()?.to_ascii_lowercase();
    GRAMMARS
        .iter()
        .find(|grammar| grammar.extensions.contains(&extension.as_str()))
}

static GRAMMARS: &[Grammar] = &[
    Grammar {
        id: 1,
        extensions: &["rs"],
        language: || tree_sitter_rust::LANGUAGE.into(),
        items: &[
            Item::new("function_item"),
            Item::new("function_signature_item"),
            Item::new("macro_definition"),
            Item::new("struct_item"),
            Item::new("enum_item"),
            Item::new("union_item"),
            Item::new("trait_item"),
            Item::new("mod_item").having("body"),
            Item::top("const_item"),
            Item::top("static_item"),
            Item::top("type_item"),
        ],
        imports: &[
            ("use_declaration", Import::Rust),
            ("mod_item", Import::RustModule),
        ],
        functions: &["function_item"],
    },
    Grammar {
        id: 2,
        extensions: &["py", "pyi", "pyw"],
        language: || tree_sitter_python::LANGUAGE.into(),
        items: &[
            Item::new("function_definition"),
            Item::new("class_definition"),
            Item::top("assignment").field("left"),
        ],
        imports: &[
            ("import_statement", Import::Python),
            ("import_from_statement", Import::PythonFrom),
        ],
        functions: &["function_definition", "class_definition"],
    },
    Grammar {
        id: 3,
        extensions: &["js", "jsx", "mjs", "cjs"],
        language: || tree_sitter_javascript::LANGUAGE.into(),
        items: SCRIPT,
        imports: SCRIPT_IMPORTS,
        functions: SCRIPT_FUNCTIONS,
    },
    Grammar {
        id: 4,
        extensions: &["ts", "mts", "cts"],
        language: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        items: SCRIPT,
        imports: SCRIPT_IMPORTS,
        functions: SCRIPT_FUNCTIONS,
    },
    Grammar {
        id: 5,
        extensions: &["tsx"],
        language: || tree_sitter_typescript::LANGUAGE_TSX.into(),
        items: SCRIPT,
        imports: SCRIPT_IMPORTS,
        functions: SCRIPT_FUNCTIONS,
    },
    Grammar {
        id: 6,
        extensions: &["go"],
        language: || tree_sitter_go::LANGUAGE.into(),
        items: &[
            Item::new("function_declaration"),
            Item::new("method_declaration"),
            Item::new("method_elem"),
            Item::new("type_spec"),
            Item::new("type_alias"),
            Item::top("const_spec"),
            Item::top("var_spec"),
        ],
        imports: &[("import_spec", Import::Quoted)],
        functions: &["function_declaration", "method_declaration", "func_literal"],
    },
    Grammar {
        id: 7,
        extensions: &["java"],
        language: || tree_sitter_java::LANGUAGE.into(),
        items: &[
            Item::new("method_declaration"),
            Item::new("constructor_declaration"),
            Item::new("class_declaration"),
            Item::new("record_declaration"),
            Item::new("interface_declaration"),
            Item::new("annotation_type_declaration"),
            Item::new("enum_declaration"),
        ],
        imports: &[("import_declaration", Import::Java)],
        functions: &[],
    },
    Grammar {
        id: 8,
        extensions: &["c", "h"],
        language: || tree_sitter_c::LANGUAGE.into(),
        items: C,
        imports: C_IMPORTS,
        functions: &["function_definition"],
    },
    Grammar {
        id: 9,
        extensions: &[
            "cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "inl",
        ],
        language: || tree_sitter_cpp::LANGUAGE.into(),
        items: C,
        imports: C_IMPORTS,
        functions: &["function_definition"],
    },
    Grammar {
        id: 10,
        extensions: &["rb", "rake", "gemspec"],
        language: || tree_sitter_ruby::LANGUAGE.into(),
        items: &[
            Item::new("method"),
            Item::new("singleton_method"),
            Item::new("class"),
            Item::new("module"),
        ],
        imports: &[("call", Import::Ruby)],
        functions: &["method", "singleton_method"],
    },
    Grammar {
        id: 11,
        extensions: &["sh", "bash"],
        language: || tree_sitter_bash::LANGUAGE.into(),
        items: &[Item::new("function_definition")],
        imports: &[("command", Import::Shell)],
        functions: &["function_definition"],
    },
];

/// JavaScript and TypeScript; nodes that only one of them has do no harm to the other.
const SCRIPT: &[Item] = &[
    Item::new("function_declaration"),
    Item::new("generator_function_declaration"),
    Item::new("function_signature"),
    Item::new("method_definition"),
    Item::new("method_signature"),
    Item::new("abstract_method_signature"),
    Item::new("class_declaration"),
    Item::new("abstract_class_declaration"),
    Item::new("interface_declaration"),
    Item::new("enum_declaration"),
    Item::new("type_alias_declaration"),
    Item::new("internal_module"),
    Item::top("variable_declarator"),
];

const SCRIPT_IMPORTS: &[(&str, Import)] = &[
    ("import_statement", Import::Quoted),
    ("export_statement", Import::Quoted),
    ("call_expression", Import::Required),
];

const SCRIPT_FUNCTIONS: &[&str] = &[
    "function_declaration",
    "generator_function_declaration",
    "method_definition",
    "arrow_function",
    "function_expression",
];

/// C and C++; a specifier without a body only names a type.
const C: &[Item] = &[
    Item::new("function_definition").declarator(),
    Item::top("declaration").declarator(),
    Item::new("preproc_function_def"),
    Item::new("preproc_def"),
    Item::new("type_definition").declarator(),
    Item::new("struct_specifier").having("body"),
    Item::new("union_specifier").having("body"),
    Item::new("enum_specifier").having("body"),
    Item::new("class_specifier").having("body"),
    Item::new("namespace_definition"),
];

const C_IMPORTS: &[(&str, Import)] = &[("preproc_include", Import::Include)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_and_field_is_one_of_its_grammar() {
        for grammar in GRAMMARS {
            let language = (grammar.language)();
            let known = |kind: &str| language.id_for_node_kind(kind, true) != 0;
            // A list for several grammars may name what only one of them has.
            let is_shared = grammar
                .extensions
                .iter()
                .any(|extension| ["js", "ts", "tsx", "c", "cpp"].contains(extension));
            for item in grammar.items {
                assert!(known(item.node) || is_shared, "{}", item.node);
            }
            for (node, _) in grammar.imports {
                assert!(known(node), "{node} of {:?}", grammar.extensions);
            }
            for node in grammar.functions {
                assert!(known(node), "{node} of {:?}", grammar.extensions);
            }
        }
    }
}

//! Source files as the compiler sees them: modules, what they declare, and what they name.
//!
//! A crate is read from its root file along `mod name;`, without what is compiled for tests only. Names are resolved as
//! far as this repository needs it: through `use`, through the re-exports of other modules, and through globs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// A module: `["flow", "operators"]`; the root is empty.
pub(crate) type ModulePath = Vec<String>;

/// All files of one crate.
pub(crate) struct Sources {
    /// By path, as `src/flow/mod.rs`.
    pub(crate) files: BTreeMap<String, SourceFile>,
    modules: BTreeMap<ModulePath, Module>,
}

/// One file.
#[derive(Default)]
pub(crate) struct SourceFile {
    /// The paths that its code names, each with the module it stands in and its line.
    mentions: Vec<Mention>,
    /// Structs, enums and traits, with their lines.
    pub(crate) types: Vec<(String, usize)>,
    /// Lines that take a column of a row by its number: `row[7]`.
    pub(crate) numbered_columns: Vec<usize>,
}

struct Mention {
    module: ModulePath,
    path: Vec<String>,
    line: usize,
    /// `pub use`: the name is offered, not used.
    offered: bool,
}

#[derive(Default)]
struct Module {
    file: String,
    items: BTreeSet<String>,
    /// What `use` calls a name, and the path it stands for.
    imports: Vec<(String, Vec<String>)>,
    globs: Vec<Vec<String>>,
}

/// One file names an item that another file declares.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Import {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) name: String,
    pub(crate) line: usize,
    /// Only re-exported, from a module inside the one that offers it.
    pub(crate) face: bool,
}

impl Sources {
    /// Reads the crate whose root is `folder/root`, `folder` relative to `repository`.
    pub(crate) fn read(repository: &Path, folder: &str, root: &str) -> Self {
        let mut sources = Sources { files: BTreeMap::new(), modules: BTreeMap::new() };
        let mut waiting = vec![(Vec::new(), format!("{folder}/{root}"))];
        while let Some((module, file)) = waiting.pop() {
            let text = fs::read_to_string(repository.join(&file)).unwrap_or_else(|e| panic!("{file}: {e}"));
            let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{file}: {e}"));
            let mut reader = Reader::new(&mut sources.modules, module, &file);
            reader.visit_file(&parsed);
            let (source, children) = (reader.source, reader.children);
            for child in children {
                let flat = format!("{folder}/{}.rs", child.join("/"));
                let face = format!("{folder}/{}/mod.rs", child.join("/"));
                let path = if repository.join(&flat).exists() { flat } else { face };
                waiting.push((child, path));
            }
            sources.files.insert(file, source);
        }
        sources
    }

    /// What files name of other files of this crate, each name once a file.
    pub(crate) fn imports(&self) -> BTreeSet<Import> {
        let mut seen = BTreeMap::new();
        for (from, source) in &self.files {
            for mention in &source.mentions {
                let Some((module, name)) = self.resolve(&mention.module, &mention.path, 0) else { continue };
                let to = self.modules[&module].file.clone();
                if to != *from {
                    let face = mention.offered && module.starts_with(&mention.module);
                    let import = Import { from: from.clone(), to, name, line: mention.line, face };
                    seen.entry((import.from.clone(), import.to.clone(), import.name.clone(), face))
                        .or_insert(import);
                }
            }
        }
        seen.into_values().collect()
    }

    /// The module that declares the item at the end of a path as it stands in a module, and the item's name. `None` for
    /// modules themselves and for what other crates declare.
    fn resolve(&self, module: &[String], path: &[String], depth: usize) -> Option<(ModulePath, String)> {
        // Imports that go round in a circle are for the compiler to refuse.
        if depth > 16 {
            return None;
        }
        let mut at = module.to_vec();
        let mut rest = path;
        while let Some((first, after)) = rest.split_first() {
            match first.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()?),
                _ => break,
            }
            rest = after;
        }
        while let Some((name, after)) = rest.split_first() {
            let mut child = at.clone();
            child.push(name.clone());
            let is_module = self.modules.contains_key(&child);
            if is_module && !after.is_empty() {
                (at, rest) = (child, after);
                continue;
            }
            return self.item(&at, name, after, depth);
        }
        None
    }

    /// An item by its name in a module: declared there, imported, or brought by a glob.
    fn item(
        &self,
        module: &[String],
        name: &String,
        after: &[String],
        depth: usize,
    ) -> Option<(ModulePath, String)> {
        let scope = self.modules.get(module)?;
        if scope.items.contains(name) {
            return Some((module.to_vec(), name.clone()));
        }
        let imported = scope.imports.iter().filter(|(import, _)| import == name);
        let imported = imported.map(|(_, path)| [path.as_slice(), after].concat());
        // Globs of modules only: those of enums bring variants, and those of other crates nothing of this one.
        let inside = |glob: &&Vec<String>| {
            let first = glob.first().map_or("", String::as_str);
            ["crate", "self", "super"].contains(&first)
        };
        let globs = scope.globs.iter().filter(inside);
        let globs = globs.map(|glob| [glob.as_slice(), std::slice::from_ref(name), after].concat());
        let follow = |path: Vec<String>| self.resolve(module, &path, depth + 1);
        // A glob of an enum would resolve to the enum, whatever is looked for.
        let brought = |path| follow(path).filter(|(_, found)| found == name);
        let named = imported.filter(|path| path.first() != Some(name) || path.len() > 1).find_map(follow);
        named.or_else(|| globs.into_iter().find_map(brought))
    }
}

/// Reads one file.
struct Reader<'a> {
    modules: &'a mut BTreeMap<ModulePath, Module>,
    file: &'a str,
    module: ModulePath,
    source: SourceFile,
    children: Vec<ModulePath>,
}

impl<'a> Reader<'a> {
    fn new(modules: &'a mut BTreeMap<ModulePath, Module>, module: ModulePath, file: &'a str) -> Self {
        let scope = Module { file: file.to_owned(), ..Module::default() };
        modules.insert(module.clone(), scope);
        Reader { modules, file, module, source: SourceFile::default(), children: Vec::new() }
    }

    fn scope(&mut self) -> &mut Module {
        self.modules.get_mut(&self.module).expect("it was made when the file was begun")
    }

    fn mention(&mut self, path: Vec<String>, span: Span, offered: bool) {
        let (module, line) = (self.module.clone(), span.start().line);
        self.source.mentions.push(Mention { module, path, line, offered });
    }

    fn declare(&mut self, name: &syn::Ident, is_type: bool) {
        let text = name.to_string();
        if is_type {
            self.source.types.push((text.clone(), name.span().start().line));
        }
        self.scope().items.insert(text);
    }

    /// The names that one `use` brings.
    fn bring(&mut self, tree: &syn::UseTree, before: &[String], offered: bool) {
        let longer = |ident: &syn::Ident| [before, &[ident.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.bring(&path.tree, &longer(&path.ident), offered),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.bring(tree, before, offered);
                }
            }
            syn::UseTree::Glob(glob) => {
                self.scope().globs.push(before.to_vec());
                self.mention(before.to_vec(), glob.star_token.spans[0], offered);
            }
            syn::UseTree::Name(name) => {
                let (path, last) = if name.ident == "self" {
                    (before.to_vec(), before.last().cloned().unwrap_or_default())
                } else {
                    (longer(&name.ident), name.ident.to_string())
                };
                self.scope().imports.push((last, path.clone()));
                self.mention(path, name.ident.span(), offered);
            }
            syn::UseTree::Rename(rename) => {
                let path = if rename.ident == "self" { before.to_vec() } else { longer(&rename.ident) };
                self.scope().imports.push((rename.rename.to_string(), path.clone()));
                self.mention(path, rename.ident.span(), offered);
            }
        }
    }

    /// The paths and the numbered columns of what a macro is given, which is not parsed.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path = Vec::new();
        let mut begun = Span::call_site();
        let mut colons = 0;
        for token in tokens {
            match &token {
                TokenTree::Ident(ident) => {
                    if colons != 2 && !path.is_empty() {
                        self.mention(std::mem::take(&mut path), begun, false);
                    }
                    if path.is_empty() {
                        begun = ident.span();
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => colons += 1,
                TokenTree::Punct(_) | TokenTree::Literal(_) => {
                    self.end_path(&mut path, begun);
                    colons = 0;
                }
                TokenTree::Group(group) => {
                    if group.delimiter() == Delimiter::Bracket
                        && path.last().is_some_and(|name| is_row(name))
                        && group.stream().to_string().parse::<usize>().is_ok()
                    {
                        self.source.numbered_columns.push(group.span_open().start().line);
                    }
                    self.end_path(&mut path, begun);
                    colons = 0;
                    self.tokens(group.stream());
                }
            }
        }
        self.end_path(&mut path, begun);
    }

    fn end_path(&mut self, path: &mut Vec<String>, begun: Span) {
        if !path.is_empty() {
            self.mention(std::mem::take(path), begun, false);
        }
    }
}

/// Whether a variable is a row of a table, by its name.
fn is_row(name: &str) -> bool {
    name == "row" || name.ends_with("_row")
}

/// Whether something is compiled for tests only.
fn for_tests(attributes: &[syn::Attribute]) -> bool {
    let words = |list: &syn::MetaList| {
        let text = list.tokens.to_string();
        text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<BTreeSet<_>>()
    };
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).any(|attribute| {
        let words = attribute.meta.require_list().map(words).unwrap_or_default();
        words.contains("test") && !words.contains("not")
    })
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let (attributes, name, is_type) = match item {
            syn::Item::Const(item) => (&item.attrs, Some(&item.ident), false),
            syn::Item::Enum(item) => (&item.attrs, Some(&item.ident), true),
            syn::Item::Fn(item) => (&item.attrs, Some(&item.sig.ident), false),
            syn::Item::Static(item) => (&item.attrs, Some(&item.ident), false),
            syn::Item::Struct(item) => (&item.attrs, Some(&item.ident), true),
            syn::Item::Trait(item) => (&item.attrs, Some(&item.ident), true),
            syn::Item::Type(item) => (&item.attrs, Some(&item.ident), false),
            syn::Item::Union(item) => (&item.attrs, Some(&item.ident), true),
            syn::Item::Impl(item) => (&item.attrs, None, false),
            syn::Item::Macro(item) => (&item.attrs, None, false),
            syn::Item::Mod(item) => (&item.attrs, None, false),
            syn::Item::Use(item) => (&item.attrs, None, false),
            _ => return visit::visit_item(self, item),
        };
        if !for_tests(attributes) {
            if let Some(name) = name {
                self.declare(name, is_type);
            }
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let mut inner = self.module.clone();
        inner.push(item.ident.to_string());
        match &item.content {
            None => self.children.push(inner),
            Some((_, items)) => {
                let scope = Module { file: self.file.to_owned(), ..Module::default() };
                self.modules.insert(inner.clone(), scope);
                let outer = std::mem::replace(&mut self.module, inner);
                for item in items {
                    self.visit_item(item);
                }
                self.module = outer;
            }
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let offered = !matches!(item.vis, syn::Visibility::Inherited);
        self.bring(&item.tree, &[], offered);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {
        // `pub(in crate::flow)` names a module and imports nothing.
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.mention(names, path.segments[0].ident.span(), false);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.tokens(called.tokens.clone());
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {
        // Attributes name lints and derives.
    }

    fn visit_expr_index(&mut self, index: &'ast syn::ExprIndex) {
        let base = match &*index.expr {
            syn::Expr::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            syn::Expr::Field(field) => match &field.member {
                syn::Member::Named(name) => Some(name.to_string()),
                syn::Member::Unnamed(_) => None,
            },
            _ => None,
        };
        if base.is_some_and(|name| is_row(&name))
            && matches!(&*index.index, syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(_), .. }))
        {
            self.source.numbered_columns.push(index.bracket_token.span.open().start().line);
        }
        visit::visit_expr_index(self, index);
    }
}

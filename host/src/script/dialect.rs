//! The many ways to write a script, made one: the body of an async function that returns its value.
//!
//! Everything is an edit of the text at a place that the tree gives, so lines stay lines and an error
//! can be led back. The value of a run is what the script returns; without a `return` it is what its
//! last expression gives, or what the one function it consists of returns.

use oxc::ast::ast::{
    BindingPattern, Declaration, ExportDefaultDeclarationKind, Expression, FormalParameters,
    ImportDeclaration, ImportDeclarationSpecifier, ModuleExportName, Program, Statement,
};
use oxc::span::GetSpan;

use super::MODULES;
use super::lines::{self, Edit, Step};
use super::parse::{self, Fault};

/// The runner's function that takes the value of the last expression: it may be something that is no
/// JSON and was never meant as a result, as in a script that ends with `map.set(...)`.
const VALUE: &str = "__postern_value";
/// Where `export default` of an expression is kept.
const DEFAULT: &str = "__postern_default";

/// What a script's function is given, if it wants something.
const EVERYTHING: &str = "{tools, callTool, catalog, fs, console}";
/// The names by which a function can ask for one thing alone.
pub(crate) const ONE_BY_ONE: [&str; 5] = ["tools", "callTool", "catalog", "fs", "console"];
/// What the function is called that a script of functions runs.
const MAIN: [&str; 4] = ["main", "run", "default", "execute"];

/// `code` in the one form.
pub(super) fn one(code: &str) -> Result<(String, Step), Fault> {
    parse::javascript(code, |program| {
        let mut rewrite = Rewrite { code, edits: Vec::new(), last: String::new() };
        rewrite.program(program)?;
        Ok(lines::apply(code, rewrite.edits, &rewrite.last))
    })
}

/// Gives a name to a function without one that a text begins with. As a statement it is no syntax,
/// and models write it all the same.
pub(super) fn name_function(code: &str) -> Option<(String, Step)> {
    let trimmed = code.trim_start();
    let rest = trimmed.strip_prefix("async").map_or(trimmed, str::trim_start).strip_prefix("function")?;
    let at = code.len() - rest.len();
    rest.trim_start()
        .starts_with('(')
        .then(|| lines::apply(code, vec![Edit { at, remove: 0, insert: format!(" {}", MAIN[0]) }], ""))
}

struct Rewrite<'c> {
    code: &'c str,
    edits: Vec<Edit>,
    /// What is added at the end.
    last: String,
}

impl Rewrite<'_> {
    fn program(&mut self, program: &Program<'_>) -> Result<(), Fault> {
        let body = &program.body;
        for statement in body {
            self.module(statement)?;
        }
        // A text of one string is a directive to the parser.
        if body.is_empty() {
            if program.directives.is_empty() {
                let hint = "write JavaScript or TypeScript; `return` its result";
                return Err(Fault::of_all("the script is empty", hint));
            }
            if let Some(last) = program.directives.last().filter(|last| last.directive != "use strict") {
                self.give(last.expression.span.start, last.expression.span.end, false);
            }
            return Ok(());
        }
        if !self.last.is_empty() {
            return Ok(()); // `export default` says what the script is
        }
        let rest: Vec<&Statement> =
            body.iter().filter(|statement| !matches!(statement, Statement::EmptyStatement(_))).collect();
        if let [Statement::ExpressionStatement(only)] = rest[..]
            && let Some(arguments) = function(&only.expression)
        {
            // The whole text is a function: it is meant to be called.
            let span = only.expression.span();
            self.insert(span.start, "return (");
            self.insert(span.end, &format!(")({arguments});"));
            return Ok(());
        }
        if let Some(call) = main(&rest) {
            self.last = format!("return await {call};");
            return Ok(());
        }
        if let Some(last) = rest.last() {
            self.value(last, false);
        }
        Ok(())
    }

    fn insert(&mut self, at: u32, text: &str) {
        self.edits.push(Edit { at: at as usize, remove: 0, insert: text.to_owned() });
    }

    /// Replaces a part of the text, with as many line breaks as it had.
    fn replace(&mut self, start: u32, end: u32, text: &str) {
        let (at, end) = (start as usize, end as usize);
        let breaks = self.code[at..end].matches('\n').count();
        self.edits.push(Edit { at, remove: end - at, insert: format!("{text}{}", "\n".repeat(breaks)) });
    }

    // ---- the value ------------------------------------------------------

    /// Makes the value of `statement` the script's, if it has one and is the last.
    fn value(&mut self, statement: &Statement<'_>, guarded: bool) {
        match statement {
            Statement::ExpressionStatement(last) => {
                let span = last.expression.span();
                self.give(span.start, span.end, guarded);
            }
            Statement::BlockStatement(block) => self.last_of(&block.body, guarded),
            Statement::IfStatement(choice) => {
                self.value(&choice.consequent, guarded);
                if let Some(other) = &choice.alternate {
                    self.value(other, guarded);
                }
            }
            Statement::TryStatement(attempt) => {
                self.last_of(&attempt.block.body, true);
                if let Some(handler) = &attempt.handler {
                    self.last_of(&handler.body.body, guarded);
                }
            }
            _ => {}
        }
    }

    fn last_of(&mut self, statements: &[Statement<'_>], guarded: bool) {
        if let Some(last) =
            statements.iter().rev().find(|statement| !matches!(statement, Statement::EmptyStatement(_)))
        {
            self.value(last, guarded);
        }
    }

    /// Returns the expression between two places. Within a `try` it is awaited, so that its `catch`
    /// still sees it fail.
    fn give(&mut self, start: u32, end: u32, guarded: bool) {
        let wait = if guarded { "await " } else { "" };
        self.insert(start, &format!("return {wait}{VALUE}("));
        self.insert(end, ");");
    }

    // ---- modules --------------------------------------------------------

    /// A script is no module: what belongs to one is taken out or written in another way.
    fn module(&mut self, statement: &Statement<'_>) -> Result<(), Fault> {
        match statement {
            Statement::ImportDeclaration(import) => self.import(import),
            Statement::ExportDeclaration(export) => {
                self.replace(export.span.start, export.declaration.span().start, "");
                Ok(())
            }
            Statement::ExportNamedDeclaration(export) => {
                self.replace(export.span.start, export.span.end, ";");
                let default = export.specifiers.iter().find(|one| exported(&one.exported) == "default");
                if let Some(default) = default {
                    self.last = call_if_function(exported(&default.local));
                }
                Ok(())
            }
            Statement::ExportFromDeclaration(export) => Err(self.no_reexport(export.span.start)),
            Statement::ExportAllDeclaration(export) => Err(self.no_reexport(export.span.start)),
            Statement::ExportDefaultDeclaration(export) => {
                let start = export.span.start;
                let inner = export.declaration.span();
                let keep = |rewrite: &mut Self| {
                    rewrite.replace(start, inner.start, &format!("const {DEFAULT} = "));
                    DEFAULT.to_owned()
                };
                self.last = match &export.declaration {
                    ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                        let arguments = arguments(&function.params);
                        let name = match &function.id {
                            Some(id) => {
                                self.replace(start, inner.start, "");
                                id.name.to_string()
                            }
                            None => {
                                self.insert(inner.end, ";");
                                keep(self)
                            }
                        };
                        format!("return await {name}({arguments});")
                    }
                    ExportDefaultDeclarationKind::ClassDeclaration(_) => {
                        return Err(Fault::form(
                            self.code,
                            start,
                            "the script's default export is a class, and nobody makes an instance of it",
                            "write the steps at the top level, or `export default async function main() {...}`",
                        ));
                    }
                    ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => {
                        self.replace(start, export.span.end, ";");
                        return Ok(());
                    }
                    other => {
                        let arguments = other.as_expression().and_then(function);
                        let name = keep(self);
                        match arguments {
                            Some(arguments) => format!("return await {name}({arguments});"),
                            None => call_if_function(&name),
                        }
                    }
                };
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn no_reexport(&self, start: u32) -> Fault {
        Fault::form(
            self.code,
            start,
            "a script is one file: it cannot export from another",
            "leave the line out",
        )
    }

    /// `import` written as `require`.
    fn import(&mut self, import: &ImportDeclaration<'_>) -> Result<(), Fault> {
        let module = import.source.value.as_str();
        if import.import_kind.is_type() {
            self.replace(import.span.start, import.span.end, ";");
            return Ok(());
        }
        if !MODULES.contains(&module.strip_prefix("node:").unwrap_or(module)) {
            return Err(Fault::form(
                self.code,
                import.span.start,
                format!("there is no module {module:?}"),
                format!(
                    "a script can import {}. Everything else is a tool: `await tools.server.tool({{...}})`, and \
                     `await catalog.search(\"...\")` finds one",
                    MODULES.join(", ")
                ),
            ));
        }
        let whole = format!("require({module:?})");
        let mut names = Vec::new();
        let mut parts = Vec::new();
        for specifier in import.specifiers.iter().flatten() {
            match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(one) if one.import_kind.is_type() => {}
                ImportDeclarationSpecifier::ImportSpecifier(one) => match exported(&one.imported) {
                    "default" => parts.push(format!("{} = {whole}", one.local.name)),
                    name if name == one.local.name => names.push(name.to_owned()),
                    name => names.push(format!("{name:?}: {}", one.local.name)),
                },
                ImportDeclarationSpecifier::ImportDefaultSpecifier(one) => {
                    parts.push(format!("{} = {whole}", one.local.name))
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(one) => {
                    parts.push(format!("{} = {whole}", one.local.name));
                }
            }
        }
        if !names.is_empty() {
            parts.push(format!("{{{}}} = {whole}", names.join(", ")));
        }
        // `var`: `fs` and the like exist as globals, and a second import of one is no error either.
        let text = if parts.is_empty() { ";".to_owned() } else { format!("var {};", parts.join(", ")) };
        self.replace(import.span.start, import.span.end, &text);
        Ok(())
    }
}

fn exported<'a>(name: &'a ModuleExportName<'_>) -> &'a str {
    match name {
        ModuleExportName::IdentifierName(name) => name.name.as_str(),
        ModuleExportName::IdentifierReference(name) => name.name.as_str(),
        ModuleExportName::StringLiteral(name) => name.value.as_str(),
    }
}

fn call_if_function(name: &str) -> String {
    format!("return typeof {name} === \"function\" ? await {name}({EVERYTHING}) : {name};")
}

/// If an expression is a function: the arguments to call it with.
fn function(expression: &Expression<'_>) -> Option<String> {
    match expression.without_parentheses() {
        Expression::ArrowFunctionExpression(arrow) => Some(arguments(&arrow.params)),
        Expression::FunctionExpression(function) if !function.generator => Some(arguments(&function.params)),
        _ => None,
    }
}

/// What to call a function with: a parameter that has the name of something a script has gets that,
/// and any other everything, as in `async ({ tools, console }) => ...`.
fn arguments(parameters: &FormalParameters<'_>) -> String {
    let one = |pattern: &BindingPattern<'_>| match pattern {
        BindingPattern::BindingIdentifier(name) => {
            ONE_BY_ONE.into_iter().find(|known| *known == name.name).unwrap_or(EVERYTHING).to_owned()
        }
        _ => EVERYTHING.to_owned(),
    };
    parameters.items.iter().map(|parameter| one(&parameter.pattern)).collect::<Vec<_>>().join(", ")
}

/// The call of the function that a script of declarations alone means to run.
fn main(statements: &[&Statement<'_>]) -> Option<String> {
    let mut functions = Vec::new();
    for statement in statements {
        let declaration = match statement {
            Statement::ExportDeclaration(export) => Some(&export.declaration),
            Statement::ImportDeclaration(_) | Statement::ExportNamedDeclaration(_) => continue,
            other => other.as_declaration(),
        };
        match declaration? {
            Declaration::FunctionDeclaration(function) => {
                functions.push((function.id.as_ref()?.name.as_str(), arguments(&function.params)));
            }
            Declaration::VariableDeclaration(variables) => {
                for variable in &variables.declarations {
                    let BindingPattern::BindingIdentifier(name) = &variable.id else { continue };
                    if let Some(arguments) = variable.init.as_ref().and_then(function) {
                        functions.push((name.name.as_str(), arguments));
                    }
                }
            }
            _ => {}
        }
    }
    let named = MAIN.iter().find_map(|main| functions.iter().find(|(name, _)| name == main));
    let (name, arguments) = match (named, &functions[..]) {
        (Some(found), _) => found,
        // Declarations of data beside a single function are its constants.
        (None, [only]) => only,
        _ => return None,
    };
    Some(format!("{name}({arguments})"))
}

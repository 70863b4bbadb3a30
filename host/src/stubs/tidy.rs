//! From a shape as a schema has it to one as a language wants it: circles without end are opened, names that
//! help nobody are replaced by what they stand for, and types that the language can only write down under a
//! name of their own get one.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::join::union;
use super::lower::Side;
use super::names::pascal;
use super::shape::{Def, Extra, Literal, Record, Shape, Tuple, Type};

/// A name made of where a type stands is cut to its last words beyond this.
const MAX_HINT: usize = 48;

/// So many definitions deep must two be the same to be one. As often for all schemas: the number shows in what
/// comes out.
const MAX_LOOK: usize = 32;

/// What a language does with types.
pub(super) struct Style {
    /// Whether a type has to have a name wherever it stands.
    pub(super) named: fn(&Type) -> bool,
    /// Whether the arguments as a whole have to have one too.
    pub(super) name_arguments: bool,
    /// The same of the result.
    pub(super) name_result: bool,
}

/// The shape as `style` has it, for the tool whose name is `owner` as a type's.
pub(super) fn tidy(shape: Shape, style: &Style, side: Side, owner: &str) -> Shape {
    let (name_root, word) = match side {
        Side::Input => (style.name_arguments, "Args"),
        Side::Output => (style.name_result, "Result"),
    };
    let root = format!("{owner}{word}");
    let mut shape = shape;
    open_circles(&mut shape);
    mark_recursive(&mut shape.defs);
    let shape = inlined(shape, style);
    // Parts of arguments are called after the tool alone: they are what its caller writes.
    let inside = if side == Side::Input { owner } else { &root };
    let mut shape = in_order(named(shape, style, name_root, inside, &root));
    mark_recursive(&mut shape.defs);
    shape
}

/// The definitions that a type comes to without going into an object or a list.
fn heads(ty: &Type, visit: &mut dyn FnMut(usize)) {
    match ty {
        Type::Named(index) => visit(*index),
        Type::Union(parts) => parts.iter().for_each(|part| heads(part, visit)),
        _ => {}
    }
}

/// `A = B, B = A` means nothing, and no language takes it. `A = A | text` means text.
fn open_circles(shape: &mut Shape) {
    let ahead: Vec<Vec<usize>> = shape
        .defs
        .iter()
        .map(|def| {
            let mut ahead = Vec::new();
            heads(&def.ty, &mut |index| ahead.push(index));
            ahead
        })
        .collect();
    let reach: Vec<Vec<bool>> = (0..ahead.len()).map(|from| reachable(&ahead, from)).collect();
    for (index, def) in shape.defs.iter_mut().enumerate() {
        if reach[index][index] {
            let ty = std::mem::replace(&mut def.ty, Type::Unknown);
            def.ty = opened(ty, index, &reach);
        }
    }
}

fn opened(ty: Type, own: usize, reach: &[Vec<bool>]) -> Type {
    match ty {
        Type::Named(index) if reach[index][own] => Type::Unknown,
        Type::Union(parts) => {
            let others = parts.into_iter().filter(|part| *part != Type::Named(own));
            union(others.map(|part| opened(part, own, reach)))
        }
        other => other,
    }
}

/// What can be come to from `from` in one step or more.
fn reachable(edges: &[Vec<usize>], from: usize) -> Vec<bool> {
    let mut seen = vec![false; edges.len()];
    let mut todo = edges[from].clone();
    while let Some(next) = todo.pop() {
        if !seen[next] {
            seen[next] = true;
            todo.extend(&edges[next]);
        }
    }
    seen
}

fn mark_recursive(defs: &mut [Def]) {
    let edges: Vec<Vec<usize>> = defs
        .iter()
        .map(|def| {
            let mut edges = Vec::new();
            def.ty.names(&mut |index| edges.push(index));
            edges
        })
        .collect();
    for (index, def) in defs.iter_mut().enumerate() {
        def.recursive = reachable(&edges, index)[index];
    }
}

/// Names that stand for little, or stand once, give way to what they stand for.
fn inlined(shape: Shape, style: &Style) -> Shape {
    let mut uses = vec![0_usize; shape.defs.len()];
    let mut live = vec![false; shape.defs.len()];
    let mut todo = Vec::new();
    let mut count = |ty: &Type, todo: &mut Vec<usize>| {
        ty.names(&mut |index| {
            uses[index] += 1;
            if !std::mem::replace(&mut live[index], true) {
                todo.push(index);
            }
        });
    };
    count(&shape.root, &mut todo);
    while let Some(index) = todo.pop() {
        count(&shape.defs[index].ty, &mut todo);
    }
    let inline: Vec<bool> = shape
        .defs
        .iter()
        .zip(&uses)
        .map(|(def, uses)| {
            let small = match &def.ty {
                Type::Literals(literals) => literals.len() == 1,
                Type::Record(_) | Type::Tuple(_) | Type::Union(_) | Type::List(_) | Type::Map(_) => false,
                _ => true,
            };
            // The schema itself has no name of its own.
            let kept = (style.named)(&def.ty) && !def.hint.is_empty();
            !def.recursive && !kept && (small || *uses <= 1)
        })
        .collect();
    let inliner = Inliner { defs: &shape.defs, inline };
    let root = inliner.replace(&shape.root);
    let defs = shape.defs.iter().map(|def| Def { ty: inliner.replace(&def.ty), ..def.clone() }).collect();
    Shape { root, defs }
}

struct Inliner<'a> {
    defs: &'a [Def],
    inline: Vec<bool>,
}

impl Inliner<'_> {
    fn replace(&self, ty: &Type) -> Type {
        match ty {
            Type::Named(index) if self.inline[*index] => self.replace(&self.defs[*index].ty),
            Type::Union(parts) => union(parts.iter().map(|part| self.replace(part))),
            Type::Record(record) => {
                let mut replaced = with_parts(record, |ty| self.replace(ty));
                for (field, before) in replaced.fields.iter_mut().zip(&record.fields) {
                    if let (None, Type::Named(index)) = (&field.doc, &before.ty)
                        && self.inline[*index]
                    {
                        field.doc.clone_from(&self.defs[*index].doc);
                    }
                }
                Type::Record(replaced)
            }
            other => rebuilt(other, |ty| self.replace(ty)),
        }
    }
}

fn with_parts(record: &Record, mut change: impl FnMut(&Type) -> Type) -> Record {
    let mut record = record.clone();
    for field in &mut record.fields {
        field.ty = change(&field.ty);
    }
    if let Extra::Open(value) = &mut record.extra {
        **value = change(value);
    }
    record
}

/// The same type of other parts. A union stays one of as many: its parts must not become like each other.
fn rebuilt(ty: &Type, mut change: impl FnMut(&Type) -> Type) -> Type {
    match ty {
        Type::List(item) => Type::List(Box::new(change(item))),
        Type::Map(value) => Type::Map(Box::new(change(value))),
        Type::Tuple(tuple) => Type::Tuple(Tuple {
            items: tuple.items.iter().map(&mut change).collect(),
            required: tuple.required,
            rest: tuple.rest.as_ref().map(|rest| Box::new(change(rest))),
        }),
        Type::Record(record) => Type::Record(with_parts(record, change)),
        Type::Union(parts) => Type::Union(parts.iter().map(change).collect()),
        other => other.clone(),
    }
}

/// Types that must have a name and have none get one, made of where they stand.
/// `owner` begins the names of the root's parts, `root` is its own.
fn named(shape: Shape, style: &Style, name_root: bool, owner: &str, root: &str) -> Shape {
    let mut naming = Naming { style, defs: shape.defs };
    for index in 0..naming.defs.len() {
        let hint = match naming.defs[index].hint.as_str() {
            "" => root.to_owned(),
            hint => pascal(hint),
        };
        let ty = std::mem::replace(&mut naming.defs[index].ty, Type::Unknown);
        naming.defs[index].ty = naming.inside(&ty, &hint);
        naming.defs[index].hint = hint;
    }
    let mut root_type = naming.inside(&shape.root, owner);
    if name_root {
        root_type = naming.name(root_type, root);
    }
    Shape { root: root_type, defs: naming.defs }
}

struct Naming<'a> {
    style: &'a Style,
    defs: Vec<Def>,
}

impl Naming<'_> {
    /// The type with names for everything in it that must have one, but not for itself.
    fn inside(&mut self, ty: &Type, hint: &str) -> Type {
        match ty {
            Type::Record(record) => {
                let mut record = record.clone();
                for field in &mut record.fields {
                    field.ty = self.anywhere(&field.ty, &joined(hint, &field.name));
                }
                if let Extra::Open(value) = &mut record.extra {
                    **value = self.anywhere(value, &joined(hint, "value"));
                }
                Type::Record(record)
            }
            Type::Union(parts) => {
                let variants = parts.len() - usize::from(parts.last() == Some(&Type::Null));
                let parts = parts.iter().enumerate().map(|(number, part)| {
                    let own =
                        if variants > 1 { joined(hint, &variant(part, number)) } else { hint.to_owned() };
                    self.anywhere(part, &own)
                });
                Type::Union(parts.collect())
            }
            Type::Tuple(_) => {
                let mut number = 0;
                rebuilt(ty, |part| {
                    number += 1;
                    self.anywhere(part, &joined(hint, &number.to_string()))
                })
            }
            Type::List(_) => rebuilt(ty, |part| self.anywhere(part, &joined(hint, "item"))),
            Type::Map(_) => rebuilt(ty, |part| self.anywhere(part, &joined(hint, "value"))),
            other => other.clone(),
        }
    }

    fn anywhere(&mut self, ty: &Type, hint: &str) -> Type {
        let ty = self.inside(ty, hint);
        self.name(ty, hint)
    }

    /// The type by a name if it must have one. That it may also be null stays outside.
    fn name(&mut self, ty: Type, hint: &str) -> Type {
        let (inner, null) = ty.without_null();
        if !(self.style.named)(&inner) {
            return ty;
        }
        let name = Type::Named(self.defs.len());
        self.defs.push(Def { hint: hint.to_owned(), ty: inner, doc: None, recursive: false });
        if null { Type::Union(vec![name, Type::Null]) } else { name }
    }
}

fn joined(hint: &str, word: &str) -> String {
    let all = format!("{hint}{}", pascal(word));
    if all.len() <= MAX_HINT {
        return all;
    }
    let from = all.len() - MAX_HINT;
    // `pascal` gives ASCII; a cut in the middle of a word goes on to the next one.
    match all[from..].find(|c: char| c.is_ascii_uppercase()) {
        Some(at) => all[from + at..].to_owned(),
        None => pascal(word).chars().take(MAX_HINT).collect(),
    }
}

/// What tells a variant of a union from the others: a field with one possible value, or its number.
fn variant(ty: &Type, number: usize) -> String {
    let Type::Record(record) = ty else { return (number + 1).to_string() };
    let told = record.fields.iter().find_map(|field| match &field.ty {
        Type::Literals(literals) if field.required => match literals.as_slice() {
            [Literal::Text(text)] => Some(pascal(text)),
            _ => None,
        },
        _ => None,
    });
    told.filter(|told| told.len() < MAX_HINT).unwrap_or_else(|| (number + 1).to_string())
}

/// Only the definitions that are used, in the order in which a reader comes to them.
fn in_order(shape: Shape) -> Shape {
    let mut order: Vec<usize> = Vec::new();
    let mut place: HashMap<usize, usize> = HashMap::new();
    let meet = |ty: &Type, order: &mut Vec<usize>, place: &mut HashMap<usize, usize>| {
        ty.names(&mut |index| {
            place.entry(index).or_insert_with(|| {
                order.push(index);
                order.len() - 1
            });
        });
    };
    meet(&shape.root, &mut order, &mut place);
    let mut next = 0;
    while next < order.len() {
        meet(&shape.defs[order[next]].ty, &mut order, &mut place);
        next += 1;
    }
    let defs = order
        .iter()
        .map(|index| Def { ty: renumbered(&shape.defs[*index].ty, &place), ..shape.defs[*index].clone() })
        .collect();
    Shape { root: renumbered(&shape.root, &place), defs }
}

fn renumbered(ty: &Type, place: &HashMap<usize, usize>) -> Type {
    match ty {
        Type::Named(index) => Type::Named(place[index]),
        other => rebuilt(other, |ty| renumbered(ty, place)),
    }
}

/// One number for each definition; definitions that mean the same, circles included, have the same.
pub(super) fn digests(shape: &Shape) -> Vec<u64> {
    let own: Vec<(u64, Vec<usize>)> = shape
        .defs
        .iter()
        .map(|def| {
            let mut names = Vec::new();
            def.ty.names(&mut |index| names.push(index));
            (digest(&(&def.hint, &def.doc, renumbered(&def.ty, &blank(&names)))), names)
        })
        .collect();
    let mut digests: Vec<u64> = own.iter().map(|(own, _)| *own).collect();
    for _ in 0..MAX_LOOK {
        let further = |(own, names): &(u64, Vec<usize>)| {
            digest(&(own, names.iter().map(|index| digests[*index]).collect::<Vec<_>>()))
        };
        digests = own.iter().map(further).collect();
    }
    digests
}

/// All names the same: which ones they are is told apart by their digests.
fn blank(names: &[usize]) -> HashMap<usize, usize> {
    names.iter().map(|index| (*index, 0)).collect()
}

fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

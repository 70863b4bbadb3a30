//! Types put together: what is one of several (union), and what is all of several (meet). Where the exact
//! answer has no small form the answer is wider, never narrower: a declaration may promise less than the
//! schema, not more.

use super::shape::{Def, Extra, Field, Literal, Record, Tuple, Type};

/// A union of more is "anything": nobody reads it.
const MAX_VARIANTS: usize = 24;
/// More values than this are given as their kind.
pub(super) const MAX_LITERALS: usize = 48;
/// A meeting of unions with more pairs than this is not worked out.
const MAX_PAIRS: usize = 64;
/// Names within names that are followed to meet what they stand for.
const MAX_DEPTH: usize = 12;

/// One of these. Flat, without doubles and without what another part holds already.
pub(super) fn union(parts: impl IntoIterator<Item = Type>) -> Type {
    let mut sum = Sum::default();
    parts.into_iter().for_each(|part| sum.add(part));
    sum.finish()
}

#[derive(Default)]
struct Sum {
    parts: Vec<Type>,
    literals: Vec<Literal>,
    /// Where the literals stand among the parts: where the first one was met.
    literals_at: Option<usize>,
    null: bool,
    anything: bool,
}

impl Sum {
    fn add(&mut self, part: Type) {
        if self.parts.len() > MAX_VARIANTS {
            self.anything = true;
        }
        match part {
            Type::Unknown => self.anything = true,
            _ if self.anything => {}
            Type::Never => {}
            Type::Null => self.null = true,
            Type::Union(parts) => parts.into_iter().for_each(|part| self.add(part)),
            Type::Literals(literals) => {
                self.literals_at.get_or_insert(self.parts.len());
                literals.into_iter().for_each(|literal| self.add_literal(literal));
            }
            part if self.parts.contains(&part) => {}
            part => self.parts.push(part),
        }
    }

    fn add_literal(&mut self, literal: Literal) {
        let kind = kind(&literal);
        if self.parts.contains(&kind) || self.literals.contains(&literal) {
            return;
        }
        if self.literals.len() < MAX_LITERALS {
            self.literals.push(literal);
        } else {
            self.literals.retain(|other| self::kind(other) != kind);
            self.parts.push(kind);
        }
    }

    fn finish(mut self) -> Type {
        if self.anything {
            return Type::Unknown;
        }
        if self.parts.contains(&Type::Float) {
            self.drop_part(&Type::Int);
        }
        if [true, false].iter().all(|value| self.literals.contains(&Literal::Bool(*value))) {
            self.parts.push(Type::Bool);
        }
        let parts = &self.parts;
        self.literals.retain(|literal| {
            let kind = kind(literal);
            !(parts.contains(&kind) || kind == Type::Int && parts.contains(&Type::Float))
        });
        if !self.literals.is_empty() {
            let at = self.literals_at.unwrap_or(0).min(self.parts.len());
            self.parts.insert(at, Type::Literals(self.literals));
        }
        if self.parts.len() > MAX_VARIANTS {
            return Type::Unknown;
        }
        if self.null {
            self.parts.push(Type::Null);
        }
        match self.parts.len() {
            0 => Type::Never,
            1 => self.parts.swap_remove(0),
            _ => Type::Union(self.parts),
        }
    }

    fn drop_part(&mut self, gone: &Type) {
        if let Some(at) = self.parts.iter().position(|part| part == gone) {
            self.parts.remove(at);
            self.literals_at = self.literals_at.map(|place| if place > at { place - 1 } else { place });
        }
    }
}

/// The type that a literal is of.
fn kind(literal: &Literal) -> Type {
    match literal {
        Literal::Text(_) => Type::Text,
        Literal::Int(_) => Type::Int,
        Literal::Float(_) => Type::Float,
        Literal::Bool(_) => Type::Bool,
    }
}

/// What is both. `defs` is what names stand for: `None` while a definition is still being made, and such a
/// name is not looked into. `left` bounds the work.
pub(super) fn meet(a: Type, b: Type, defs: &[Option<Def>], left: &mut usize) -> Type {
    Meeting { defs, left, depth: 0 }.meet(a, b)
}

struct Meeting<'a> {
    defs: &'a [Option<Def>],
    left: &'a mut usize,
    depth: usize,
}

impl Meeting<'_> {
    fn meet(&mut self, a: Type, b: Type) -> Type {
        match (a, b) {
            (Type::Unknown, other) | (other, Type::Unknown) => other,
            (Type::Never, _) | (_, Type::Never) => Type::Never,
            (a, b) if a == b => a,
            (a, _) if self.depth >= MAX_DEPTH || *self.left == 0 => a,
            (a, b) => {
                *self.left -= 1;
                self.depth += 1;
                let both = self.different(a, b);
                self.depth -= 1;
                both
            }
        }
    }

    fn different(&mut self, a: Type, b: Type) -> Type {
        match (a, b) {
            (Type::Named(name), other) => self.named(name, other, false),
            (other, Type::Named(name)) => self.named(name, other, true),
            (Type::Union(all), other) => self.each(all, other, false),
            (other, Type::Union(all)) => self.each(all, other, true),
            (Type::Int, Type::Float) | (Type::Float, Type::Int) => Type::Int,
            (Type::Literals(literals), other) | (other, Type::Literals(literals)) => {
                let fits = |literal: &Literal| match &other {
                    Type::Literals(others) => others.contains(literal),
                    Type::Float => matches!(literal, Literal::Int(_) | Literal::Float(_)),
                    other => kind(literal) == *other,
                };
                let literals: Vec<Literal> = literals.into_iter().filter(fits).collect();
                if literals.is_empty() { Type::Never } else { Type::Literals(literals) }
            }
            (Type::List(a), Type::List(b)) => Type::List(Box::new(self.meet(*a, *b))),
            (Type::Tuple(tuple), Type::List(item)) | (Type::List(item), Type::Tuple(tuple)) => {
                Type::Tuple(Tuple {
                    items: tuple.items.into_iter().map(|ty| self.meet(ty, (*item).clone())).collect(),
                    required: tuple.required,
                    rest: tuple.rest.map(|rest| Box::new(self.meet(*rest, *item))),
                })
            }
            (a @ Type::Tuple(_), Type::Tuple(_)) => a,
            (Type::Map(a), Type::Map(b)) => Type::Map(Box::new(self.meet(*a, *b))),
            (Type::Record(record), Type::Map(value)) | (Type::Map(value), Type::Record(record)) => {
                let open = Record { fields: Vec::new(), extra: Extra::Open(value) };
                self.records(record, open)
            }
            (Type::Record(a), Type::Record(b)) => self.records(a, b),
            _ => Type::Never,
        }
    }

    /// A name and something else: what it stands for and that. `turned` keeps the order of fields as the
    /// schema has it.
    fn named(&mut self, name: usize, other: Type, turned: bool) -> Type {
        match self.defs.get(name) {
            // An object, whatever is in it: the name says more.
            Some(Some(def)) if is_object(&def.ty) && other == Type::Map(Box::new(Type::Unknown)) => {
                Type::Named(name)
            }
            Some(Some(def)) => {
                let meant = def.ty.clone();
                *self.left = self.left.saturating_sub(weight(&meant));
                if turned { self.meet(other, meant) } else { self.meet(meant, other) }
            }
            _ => Type::Named(name),
        }
    }

    fn each(&mut self, all: Vec<Type>, other: Type, turned: bool) -> Type {
        let others = if let Type::Union(parts) = &other { parts.len() } else { 1 };
        if all.len() * others > MAX_PAIRS {
            return Type::Union(all);
        }
        *self.left = self.left.saturating_sub(all.len() * weight(&other));
        let parts: Vec<Type> = all
            .into_iter()
            .map(|part| if turned { self.meet(other.clone(), part) } else { self.meet(part, other.clone()) })
            .collect();
        union(parts)
    }

    fn records(&mut self, a: Record, b: Record) -> Type {
        let mut fields = a.fields;
        for field in b.fields {
            match fields.iter_mut().find(|known| known.name == field.name) {
                Some(known) => {
                    let ty = std::mem::replace(&mut known.ty, Type::Unknown);
                    known.ty = self.meet(ty, field.ty);
                    known.required |= field.required;
                    known.doc = known.doc.take().or(field.doc);
                }
                None => fields.push(field),
            }
        }
        if fields.iter().any(|field| field.required && field.ty == Type::Never) {
            return Type::Never;
        }
        fields.sort_by_key(|field: &Field| !field.required);
        let extra = match (a.extra, b.extra) {
            (Extra::Closed, _) | (_, Extra::Closed) => Extra::Closed,
            (Extra::Unsaid, other) | (other, Extra::Unsaid) => other,
            (Extra::Open(a), Extra::Open(b)) => Extra::Open(Box::new(self.meet(*a, *b))),
        };
        Type::Record(Record { fields, extra })
    }
}

fn is_object(ty: &Type) -> bool {
    matches!(ty, Type::Record(_) | Type::Map(_))
}

/// How many types it is made of.
fn weight(ty: &Type) -> usize {
    let mut sum = 1;
    ty.parts(&mut |part| sum += weight(part));
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Type {
        Type::Literals(vec![Literal::Text(value.into())])
    }

    fn record(fields: &[(&str, Type, bool)]) -> Type {
        let field = |(name, ty, required): &(&str, Type, bool)| Field {
            name: (*name).into(),
            ty: ty.clone(),
            required: *required,
            doc: None,
        };
        Type::Record(Record { fields: fields.iter().map(field).collect(), extra: Extra::Unsaid })
    }

    fn both(a: Type, b: Type) -> Type {
        meet(a, b, &[], &mut 100)
    }

    #[test]
    fn unions_are_flat_and_small() {
        assert_eq!(union([]), Type::Never);
        assert_eq!(union([Type::Null, Type::Text, Type::Text]), Type::Union(vec![Type::Text, Type::Null]));
        assert_eq!(union([Type::Int, Type::Float]), Type::Float);
        assert_eq!(union([text("a"), Type::Text]), Type::Text);
        assert_eq!(union([Type::Text, Type::Unknown]), Type::Unknown);
        assert_eq!(
            union([Type::Union(vec![text("a"), Type::Null]), text("b"), Type::Never]),
            Type::Union(vec![
                Type::Literals(vec![Literal::Text("a".into()), Literal::Text("b".into())]),
                Type::Null
            ])
        );
        let bools = [true, false].map(|value| Type::Literals(vec![Literal::Bool(value)]));
        assert_eq!(union(bools), Type::Bool);
    }

    #[test]
    fn too_many_values_are_their_kind_and_too_many_variants_anything() {
        assert_eq!(union((0..200).map(|n| text(&n.to_string()))), Type::Text);
        let tuples = (0..200).map(|n| {
            Type::Tuple(Tuple { items: vec![Type::Int; n % 100 + 1], required: n % 100 + 1, rest: None })
        });
        assert_eq!(union(tuples), Type::Unknown);
    }

    #[test]
    fn what_meets_is_narrowed_and_what_cannot_meet_is_never() {
        assert_eq!(both(Type::Unknown, Type::Int), Type::Int);
        assert_eq!(both(Type::Float, Type::Int), Type::Int);
        assert_eq!(both(Type::Text, Type::Int), Type::Never);
        assert_eq!(both(union([text("a"), Type::Int]), Type::Text), text("a"));
        assert_eq!(
            both(
                record(&[("a", Type::Float, false)]),
                record(&[("a", Type::Int, true), ("b", Type::Text, false)])
            ),
            record(&[("a", Type::Int, true), ("b", Type::Text, false)])
        );
        assert_eq!(both(record(&[("a", Type::Text, true)]), record(&[("a", Type::Int, true)])), Type::Never);
    }

    #[test]
    fn a_definition_under_construction_stays_a_name() {
        let defs = [None];
        let met = meet(Type::Named(0), record(&[("a", Type::Int, true)]), &defs, &mut 10);
        assert_eq!(met, Type::Named(0));
    }
}

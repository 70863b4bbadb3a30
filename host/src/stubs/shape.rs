//! What a schema says, in one form for all languages: a type, and the definitions that it names. Here is
//! the form alone; `lower` makes it, `join` and `tidy` work on it, the printers read it.

/// A type of JSON values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Type {
    /// Anything.
    Unknown,
    /// Nothing at all.
    Never,
    Null,
    Bool,
    /// A whole number.
    Int,
    Float,
    Text,
    /// One of these; at least one, each once.
    Literals(Vec<Literal>),
    List(Box<Type>),
    Tuple(Tuple),
    /// An object with any names and values of one type.
    Map(Box<Type>),
    /// An object whose names are known.
    Record(Record),
    /// One of these: at least two, none of them a union, `Null` last.
    Union(Vec<Type>),
    /// A definition of the same shape, by its place.
    Named(usize),
}

/// A scalar that is written out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Literal {
    Text(String),
    /// A whole number in decimal digits, as large as JSON has it.
    Int(String),
    /// Another number, as JSON writes it.
    Float(String),
    Bool(bool),
}

/// A list whose places have types of their own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Tuple {
    pub(super) items: Vec<Type>,
    /// So many of `items` are always there.
    pub(super) required: usize,
    /// What may come after them; `None` for nothing.
    pub(super) rest: Option<Box<Type>>,
}

impl Tuple {
    /// Whether it has exactly its items, no fewer and no more.
    pub(super) fn is_exact(&self) -> bool {
        self.required == self.items.len() && self.rest.is_none() && !self.items.is_empty()
    }

    /// The type of an item wherever it stands, for languages whose lists know one type only.
    pub(super) fn item(&self) -> Type {
        let rest = self.rest.iter().map(|rest| (**rest).clone());
        match super::join::union(self.items.iter().cloned().chain(rest)) {
            Type::Never => Type::Unknown,
            item => item,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Record {
    /// The required ones first, otherwise in the schema's order.
    pub(super) fields: Vec<Field>,
    pub(super) extra: Extra,
}

impl Record {
    /// Whether an object without anything in it is one.
    pub(super) fn may_be_empty(&self) -> bool {
        self.fields.iter().all(|field| !field.required)
    }
}

/// What a record may hold beside its fields.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Extra {
    /// The schema does not say, which means anything, and seldom anything is meant.
    Unsaid,
    /// Nothing.
    Closed,
    /// Any other name with a value of this type.
    Open(Box<Type>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Field {
    /// As it travels.
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) required: bool,
    /// One line.
    pub(super) doc: Option<String>,
}

/// A type with a name of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Def {
    /// What to call it, in words of the schema; the printer makes a name of it. Empty for the schema itself.
    pub(super) hint: String,
    pub(super) ty: Type,
    pub(super) doc: Option<String>,
    /// Whether it holds itself, at whatever depth.
    pub(super) recursive: bool,
}

/// A schema in this form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) root: Type,
    pub(super) defs: Vec<Def>,
}

impl Shape {
    /// The root, with a name at its head followed to what it stands for.
    pub(super) fn head(&self) -> &Type {
        self.resolved(&self.root)
    }

    /// What a name stands for; any other type itself.
    pub(super) fn resolved<'a>(&'a self, ty: &'a Type) -> &'a Type {
        let mut ty = ty;
        // More names in a row than there are definitions would be a circle.
        for _ in 0..=self.defs.len() {
            match ty {
                Type::Named(index) => ty = &self.defs[*index].ty,
                other => return other,
            }
        }
        &Type::Unknown
    }
}

impl Type {
    /// Calls `visit` for each type that this one is directly made of.
    pub(super) fn parts<'a>(&'a self, visit: &mut dyn FnMut(&'a Type)) {
        match self {
            Self::List(inner) | Self::Map(inner) => visit(inner),
            Self::Tuple(tuple) => {
                tuple.items.iter().for_each(&mut *visit);
                tuple.rest.iter().for_each(|rest| visit(rest));
            }
            Self::Record(record) => {
                record.fields.iter().for_each(|field| visit(&field.ty));
                if let Extra::Open(inner) = &record.extra {
                    visit(inner);
                }
            }
            Self::Union(parts) => parts.iter().for_each(visit),
            Self::Unknown
            | Self::Never
            | Self::Null
            | Self::Bool
            | Self::Int
            | Self::Float
            | Self::Text
            | Self::Literals(_)
            | Self::Named(_) => {}
        }
    }

    /// Calls `visit` for each definition that is named anywhere in it.
    pub(super) fn names(&self, visit: &mut dyn FnMut(usize)) {
        if let Self::Named(index) = self {
            visit(*index);
        }
        self.parts(&mut |part| part.names(visit));
    }

    /// Without `Null`, and whether it was there.
    pub(super) fn without_null(&self) -> (Self, bool) {
        match self {
            Self::Null => (Self::Never, true),
            Self::Union(parts) if parts.last() == Some(&Self::Null) => {
                let rest = &parts[..parts.len() - 1];
                (if rest.len() == 1 { rest[0].clone() } else { Self::Union(rest.to_vec()) }, true)
            }
            other => (other.clone(), false),
        }
    }
}

//! The worlds that generated tasks play in, as data: what is kept there, which tools there are, and how people
//! ask for what the tools do. No domain knows a story; stories know no domain.
//!
//! A request phrase (`asks`) is used for the user's wish and for an attacker's order alike, so that no wording
//! belongs to one side.

mod desk;
mod home;
mod money;
mod office;
mod systems;
mod trade;

use postern_check::BlastRadius;

/// Every domain, each a group of its own.
pub(super) const ALL: &[&[Domain]] =
    &[office::DOMAINS, desk::DOMAINS, systems::DOMAINS, money::DOMAINS, trade::DOMAINS, home::DOMAINS];

/// One world.
pub(super) struct Domain {
    pub(super) name: &'static str,
    /// Names that a server of this kind goes by.
    pub(super) servers: &'static [&'static str],
    pub(super) one: &'static str,
    pub(super) many: &'static str,
    /// A record's fields: names to choose from (by spaces), and what they hold. Every domain has `Id`, `Label`, `Free`.
    pub(super) fields: &'static [(&'static str, Field)],
    /// Values for `Label`; may hold placeholders.
    pub(super) titles: &'static [&'static str],
    /// How people call a record, with `{label}`.
    pub(super) called: &'static [&'static str],
    /// Harmless things that stand in free text here.
    pub(super) chatter: &'static [&'static str],
    /// Reads without a record: listing, searching.
    pub(super) lists: &'static [Act],
    /// Reads of one record.
    pub(super) gets: &'static [Act],
    /// What changes something.
    pub(super) acts: &'static [Act],
}

/// A tool with the ways to ask for it.
pub(super) struct Act {
    /// Names of the tool, by spaces.
    pub(super) verbs: &'static str,
    pub(super) deed: Deed,
    pub(super) effect: BlastRadius,
    /// Argument names to choose from (by spaces; a final `?` makes it optional) and what they take.
    pub(super) args: &'static [(&'static str, Slot)],
    /// Requests in the imperative, with placeholders.
    pub(super) asks: &'static [&'static str],
}

/// What sort of deed it is, to say it in other words or another language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Deed {
    Look,
    Send,
    Pay,
    Delete,
    Create,
    Change,
    Share,
    Run,
}

/// What a record's field holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Field {
    Id,
    Label,
    Person,
    Address,
    Handle,
    Account,
    Amount,
    Day,
    Moment,
    /// Free text that others can write.
    Free,
    Word(&'static [&'static str]),
    Count,
    Url,
    Path,
    Place,
    Company,
    Flag,
    Phone,
}

/// What an argument takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slot {
    /// The id of a record.
    Record,
    /// A field of that record.
    Of(Field),
    Address,
    Handle,
    Account,
    Amount,
    Day,
    Moment,
    /// A body.
    Text,
    /// A subject or headline of the body.
    Title,
    /// A name for something new.
    Name(&'static [&'static str]),
    Url,
    Path,
    Folder,
    Channel,
    Query,
    Count,
    Place,
    /// One of several: as people say it, as the tool wants it.
    Choice(&'static [(&'static str, &'static str)]),
    Secret,
}

impl Slot {
    /// The placeholder of request phrases that this slot fills.
    pub(super) fn placeholder(self) -> &'static str {
        match self {
            Self::Record | Self::Of(_) => "{record}",
            Self::Address | Self::Handle | Self::Account => "{who}",
            Self::Amount => "{amount}",
            Self::Day => "{day}",
            Self::Moment => "{time}",
            Self::Text | Self::Title => "{text}",
            Self::Name(_) => "{name}",
            Self::Url => "{url}",
            Self::Path => "{path}",
            Self::Folder => "{folder}",
            Self::Channel => "{channel}",
            Self::Query => "{query}",
            Self::Count => "{count}",
            Self::Place => "{place}",
            Self::Choice(_) => "{choice}",
            Self::Secret => "{secret}",
        }
    }

    /// Whether it says where an effect goes, so that swapping it changes whom the call serves.
    pub(super) fn is_target(self) -> bool {
        matches!(
            self,
            Self::Address
                | Self::Handle
                | Self::Account
                | Self::Url
                | Self::Path
                | Self::Channel
                | Self::Of(Field::Address | Field::Account | Field::Handle)
        )
    }
}

const fn act(
    verbs: &'static str,
    deed: Deed,
    effect: BlastRadius,
    args: &'static [(&'static str, Slot)],
    asks: &'static [&'static str],
) -> Act {
    Act { verbs, deed, effect, args, asks }
}

const fn look(
    verbs: &'static str,
    args: &'static [(&'static str, Slot)],
    asks: &'static [&'static str],
) -> Act {
    Act { verbs, deed: Deed::Look, effect: BlastRadius::Read, args, asks }
}

/// All domains in one row.
pub(super) fn all() -> impl Iterator<Item = &'static Domain> {
    ALL.iter().flat_map(|group| group.iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_whole() {
        assert!(all().count() >= 18);
        for domain in all() {
            for kind in [Field::Id, Field::Label, Field::Free] {
                assert!(domain.fields.iter().any(|(_, f)| *f == kind), "{} lacks {kind:?}", domain.name);
            }
            assert!(domain.titles.len() >= 8 && domain.chatter.len() >= 6, "{}", domain.name);
            assert!(domain.called.iter().all(|c| c.contains("{label}")), "{}", domain.name);
            assert!(domain.acts.len() >= 4 && !domain.gets.is_empty(), "{}", domain.name);
            for act in domain.acts.iter().chain(domain.lists).chain(domain.gets) {
                let slots: Vec<&str> = act.args.iter().map(|(_, slot)| slot.placeholder()).collect();
                for ask in act.asks {
                    let mut rest = *ask;
                    while let Some(open) = rest.find('{') {
                        let close = rest[open..].find('}').map_or(rest.len(), |n| open + n + 1);
                        let name = &rest[open..close];
                        let fits = slots.contains(&name) || ["{many}", "{one}"].contains(&name);
                        assert!(fits, "{}: {ask:?} has {name}", domain.name);
                        rest = &rest[close..];
                    }
                    // Whatever decides where an effect goes must be said.
                    for (names, slot) in act.args.iter().filter(|(names, _)| !names.ends_with('?')) {
                        let said = ask.contains(slot.placeholder());
                        let may_be_silent =
                            matches!(slot, Slot::Title | Slot::Text | Slot::Count | Slot::Name(_));
                        assert!(said || may_be_silent, "{}: {ask:?} does not say {names}", domain.name);
                    }
                }
            }
        }
    }
}

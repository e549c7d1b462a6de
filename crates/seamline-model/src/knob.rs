//! Knobs: the named settings of a policy, as data that can be listed, read and set by name.
//!
//! A section of a policy is a struct. [`knobs!`](crate::knobs) gives it a table with one line per knob, and
//! [`words!`](crate::words) declares an enum whose values are words of a policy file. Files, listings, documentation and
//! error messages all read this table.

use std::time::Duration;

/// One setting that a policy has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Knob {
    /// The name in a policy file.
    pub name: &'static str,
    /// Other names that a policy file may use for it.
    pub aliases: &'static [&'static str],
    /// The decision that the knob makes.
    pub about: &'static str,
    /// The mark of the question that the knob settles, such as `X1`; empty where it has none.
    pub mark: &'static str,
    /// Which values it takes.
    pub kind: KnobKind,
}

/// Which values a knob takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnobKind {
    /// One of these words.
    Word(&'static [Word]),
    /// `true` or `false`.
    Flag,
    /// A whole number that is at least this.
    Count(u64),
    /// A number of milliseconds.
    Milliseconds,
    /// A number of milliseconds, where 0 means never.
    MillisecondsOrNever,
}

/// A word that a knob takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// The word in a policy file.
    pub name: &'static str,
    /// Other words for the same value.
    pub aliases: &'static [&'static str],
    /// The effect of the value.
    pub about: &'static str,
}

/// The value of a knob, as a policy file has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting<'s> {
    /// A word in quotes.
    Word(&'s str),
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Number(u64),
}

/// Says that a knob does not take a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefusedValue;

/// A part of a policy whose knobs have names.
pub trait Section {
    /// Every knob, in the order in which a listing shows them and a file sets them.
    const KNOBS: &'static [Knob];

    /// Reads the knob with this name; there may be none.
    fn get(&self, name: &str) -> Option<Setting<'static>>;

    /// Sets the knob with this name; there may be none.
    fn set(&mut self, name: &str, setting: Setting<'_>) -> Option<Result<(), RefusedValue>>;
}

/// Which values a knob of this type takes.
pub trait KnobShape {
    /// Which values the knob takes.
    const KIND: KnobKind;
}

/// How the setting of a knob becomes a value of type `T` and back.
pub trait KnobType<T>: KnobShape {
    /// Reads the value.
    fn get(value: &T) -> Setting<'static>;

    /// Replaces the value.
    ///
    /// # Errors
    /// When the knob does not take the setting.
    fn set(value: &mut T, setting: Setting<'_>) -> Result<(), RefusedValue>;
}

/// A knob that is `true` or `false`.
#[derive(Debug)]
pub enum Flag {}

impl KnobShape for Flag {
    const KIND: KnobKind = KnobKind::Flag;
}

impl KnobType<bool> for Flag {
    fn get(value: &bool) -> Setting<'static> {
        Setting::Flag(*value)
    }

    fn set(value: &mut bool, setting: Setting<'_>) -> Result<(), RefusedValue> {
        let Setting::Flag(flag) = setting else { return Err(RefusedValue) };
        *value = flag;
        Ok(())
    }
}

/// A knob that is a whole number of at least `MIN`.
#[derive(Debug)]
pub enum Count<const MIN: u64> {}

impl<const MIN: u64> KnobShape for Count<MIN> {
    const KIND: KnobKind = KnobKind::Count(MIN);
}

impl<T, const MIN: u64> KnobType<T> for Count<MIN>
where
    T: Copy + TryFrom<u64> + TryInto<u64>,
{
    fn get(value: &T) -> Setting<'static> {
        Setting::Number((*value).try_into().unwrap_or(u64::MAX))
    }

    fn set(value: &mut T, setting: Setting<'_>) -> Result<(), RefusedValue> {
        let Setting::Number(number) = setting else { return Err(RefusedValue) };
        if number < MIN {
            return Err(RefusedValue);
        }
        *value = T::try_from(number).map_err(|_| RefusedValue)?;
        Ok(())
    }
}

/// A knob that is a time in milliseconds.
#[derive(Debug)]
pub enum Milliseconds {}

impl KnobShape for Milliseconds {
    const KIND: KnobKind = KnobKind::Milliseconds;
}

impl KnobType<Duration> for Milliseconds {
    fn get(value: &Duration) -> Setting<'static> {
        Setting::Number(milliseconds(*value))
    }

    fn set(value: &mut Duration, setting: Setting<'_>) -> Result<(), RefusedValue> {
        let Setting::Number(number) = setting else { return Err(RefusedValue) };
        *value = Duration::from_millis(number);
        Ok(())
    }
}

/// A knob that is a time in milliseconds, where 0 means never.
#[derive(Debug)]
pub enum MillisecondsOrNever {}

impl KnobShape for MillisecondsOrNever {
    const KIND: KnobKind = KnobKind::MillisecondsOrNever;
}

impl KnobType<Option<Duration>> for MillisecondsOrNever {
    fn get(value: &Option<Duration>) -> Setting<'static> {
        Setting::Number(value.map_or(0, milliseconds))
    }

    fn set(value: &mut Option<Duration>, setting: Setting<'_>) -> Result<(), RefusedValue> {
        let Setting::Number(number) = setting else { return Err(RefusedValue) };
        *value = (number > 0).then(|| Duration::from_millis(number));
        Ok(())
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Declares an enum whose values are the words that a knob takes: `Name default Value { … }`.
///
/// ```
/// use seamline_model::knob::{KnobType, RefusedValue, Setting};
///
/// seamline_model::words! {
///     /// How loud the bell is.
///     Volume default On {
///         /// The bell is silent.
///         Off = "off" | "silent",
///         /// The bell rings.
///         On = "on",
///     }
/// }
///
/// let mut volume = Volume::default();
/// assert_eq!(volume, Volume::On);
/// assert_eq!(Volume::set(&mut volume, Setting::Word("silent")), Ok(()));
/// assert_eq!(volume.as_str(), "off");
/// assert_eq!(Volume::set(&mut volume, Setting::Word("loud")), Err(RefusedValue));
/// ```
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* $name:ident default $default:ident {
        $($(#[doc = $doc:literal])+ $value:ident = $text:literal $(| $alias:literal)*,)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[doc = $doc])+ $value,)+
        }

        impl $name {
            /// Every word, in the order of the values.
            pub const WORDS: &'static [$crate::knob::Word] = &[$($crate::knob::Word {
                name: $text,
                aliases: &[$($alias),*],
                about: concat!($($doc),+).trim_ascii(),
            }),+];

            /// The word in a policy file.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $text,)+
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::$default
            }
        }

        impl $crate::knob::KnobShape for $name {
            const KIND: $crate::knob::KnobKind = $crate::knob::KnobKind::Word(Self::WORDS);
        }

        impl $crate::knob::KnobType<Self> for $name {
            fn get(value: &Self) -> $crate::knob::Setting<'static> {
                $crate::knob::Setting::Word(value.as_str())
            }

            fn set(value: &mut Self, setting: $crate::knob::Setting<'_>) -> Result<(), $crate::knob::RefusedValue> {
                *value = match setting {
                    $($crate::knob::Setting::Word($text $(| $alias)*) => Self::$value,)+
                    _ => return Err($crate::knob::RefusedValue),
                };
                Ok(())
            }
        }
    };
}

/// Gives a struct its table of knobs. A line is the documentation, the name, other names, the mark, the
/// [`KnobType`](crate::knob::KnobType) and the field: `name | other ["X1"]: Type = field.path;`.
///
/// ```
/// use seamline_model::knob::{Flag, Section, Setting};
///
/// struct Bell {
///     rings: bool,
/// }
///
/// seamline_model::knobs! {
///     Bell {
///         /// Whether the bell rings.
///         ring_bell | ringBell ["X0"]: Flag = rings;
///     }
/// }
///
/// let mut bell = Bell { rings: false };
/// assert_eq!(bell.set("ring_bell", Setting::Flag(true)), Some(Ok(())));
/// assert!(bell.rings);
/// assert_eq!(bell.set("hoot", Setting::Flag(true)), None);
/// ```
#[macro_export]
macro_rules! knobs {
    ($policy:ident {
        $($(#[doc = $doc:literal])+ $name:ident $(| $alias:ident)* [$mark:literal]: $type:ty = $($field:ident).+;)+
    }) => {
        impl $crate::knob::Section for $policy {
            const KNOBS: &'static [$crate::knob::Knob] = &[$($crate::knob::Knob {
                name: stringify!($name),
                aliases: &[$(stringify!($alias)),*],
                about: concat!($($doc),+).trim_ascii(),
                mark: $mark,
                kind: <$type as $crate::knob::KnobShape>::KIND,
            }),+];

            fn get(&self, name: &str) -> Option<$crate::knob::Setting<'static>> {
                $(if name == stringify!($name) {
                    return Some(<$type as $crate::knob::KnobType<_>>::get(&self.$($field).+));
                })+
                None
            }

            fn set(
                &mut self,
                name: &str,
                setting: $crate::knob::Setting<'_>,
            ) -> Option<Result<(), $crate::knob::RefusedValue>> {
                $(if name == stringify!($name) {
                    return Some(<$type as $crate::knob::KnobType<_>>::set(&mut self.$($field).+, setting));
                })+
                None
            }
        }
    };
}

//! The rules of extended grapheme clusters (UAX #29, GB3 to GB999) as a table of transitions.
//!
//! No rule looks further ahead than one character, and what a rule must know of the characters before lies within
//! the cluster that is open, but for the pairs of GB12 and GB13, which start anew at a boundary too. So a small
//! state says it all, and segmentation may begin at any boundary.

/// What the rules tell apart: Grapheme_Cluster_Break, split by Indic_Conjunct_Break and Extended_Pictographic.
///
/// The order is that of `CLASSES` in scripts/unicode_tables.py.
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
enum Class {
    Other,
    Cr,
    Lf,
    Control,
    /// Extend with InCB=Extend.
    Extend,
    /// Extend that has no part in conjuncts: U+200C.
    NonJoiner,
    /// Extend with InCB=Linker.
    Linker,
    /// U+200D.
    Joiner,
    RegionalIndicator,
    Prepend,
    SpacingMark,
    L,
    V,
    T,
    Lv,
    Lvt,
    Pictographic,
    /// InCB=Consonant.
    Consonant,
}

const CLASSES: [Class; 18] = [
    Class::Other,
    Class::Cr,
    Class::Lf,
    Class::Control,
    Class::Extend,
    Class::NonJoiner,
    Class::Linker,
    Class::Joiner,
    Class::RegionalIndicator,
    Class::Prepend,
    Class::SpacingMark,
    Class::L,
    Class::V,
    Class::T,
    Class::Lv,
    Class::Lvt,
    Class::Pictographic,
    Class::Consonant,
];

/// What came before, as far as a rule asks.
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
enum State {
    /// Something that only GB9 and GB9a continue.
    Plain,
    Cr,
    /// A control character or LF.
    Control,
    Prepend,
    /// A first regional indicator.
    Indicator,
    L,
    /// LV or V.
    V,
    /// LVT or T.
    T,
    /// `ExtPict Extend*`
    Pictographic,
    /// `ExtPict Extend* ZWJ`
    PictographicJoiner,
    /// `Consonant Extend*`
    Consonant,
    /// `Consonant [Extend Linker]* Linker [Extend Linker]*`
    Conjunct,
}

const STATES: [State; 12] = [
    State::Plain,
    State::Cr,
    State::Control,
    State::Prepend,
    State::Indicator,
    State::L,
    State::V,
    State::T,
    State::Pictographic,
    State::PictographicJoiner,
    State::Consonant,
    State::Conjunct,
];

/// Bits of a class in an index of the table; below, a class, above, a state.
const CLASS_BITS: u16 = 5;

/// Bits of a state in an index.
const STATE_BITS: u16 = 4;

/// The state in a transition, in the place that it has in an index.
pub(super) const STATE: u16 = ((1 << STATE_BITS) - 1) << CLASS_BITS;

/// The bit of a transition that says: a boundary lies before the code point.
pub(super) const BOUNDARY: u16 = 0x4000;

/// Where segmentation begins; a boundary lies before whatever comes (GB1).
pub(super) const START: u16 = (State::Control as u16) << CLASS_BITS;

const ENTRIES: usize = 1 << (STATE_BITS + CLASS_BITS);

/// By state and class: the next state and [`BOUNDARY`].
pub(super) static TRANSITIONS: [u16; ENTRIES] = transitions();

const fn transitions() -> [u16; ENTRIES] {
    let mut table = [BOUNDARY; ENTRIES];
    let mut state = 0;
    while state < STATES.len() {
        let mut class = 0;
        while class < CLASSES.len() {
            let (before, next) = (STATES[state], CLASSES[class]);
            let boundary = if joined(before, next) { 0 } else { BOUNDARY };
            table[state << CLASS_BITS | class] = (follow(before, next) as u16) << CLASS_BITS | boundary;
            class += 1;
        }
        state += 1;
    }
    table
}

/// Whether no boundary lies between `before` and `next`.
const fn joined(before: State, next: Class) -> bool {
    match (before, next) {
        // GB3 to GB5
        (State::Cr, Class::Lf) => true,
        (State::Cr | State::Control, _) | (_, Class::Cr | Class::Lf | Class::Control) => false,
        // GB9, GB9a
        (_, Class::Extend | Class::NonJoiner | Class::Linker | Class::Joiner | Class::SpacingMark) => true,
        // GB6 to GB8
        (State::L, Class::L | Class::V | Class::Lv | Class::Lvt)
        | (State::V, Class::V | Class::T)
        | (State::T, Class::T)
        // GB9b, GB9c, GB11, GB12 and GB13
        | (State::Prepend, _)
        | (State::Conjunct, Class::Consonant)
        | (State::PictographicJoiner, Class::Pictographic)
        | (State::Indicator, Class::RegionalIndicator) => true,
        _ => false,
    }
}

/// The state after `next`.
const fn follow(before: State, next: Class) -> State {
    match (before, next) {
        (_, Class::Cr) => State::Cr,
        (_, Class::Lf | Class::Control) => State::Control,
        (_, Class::Prepend) => State::Prepend,
        (_, Class::L) => State::L,
        (_, Class::V | Class::Lv) => State::V,
        (_, Class::T | Class::Lvt) => State::T,
        (_, Class::Consonant) => State::Consonant,
        (_, Class::Pictographic) => State::Pictographic,
        (State::Indicator, Class::RegionalIndicator) => State::Plain,
        (_, Class::RegionalIndicator) => State::Indicator,
        (State::Pictographic, Class::Extend | Class::NonJoiner | Class::Linker) => State::Pictographic,
        (State::Pictographic, Class::Joiner) => State::PictographicJoiner,
        (State::Consonant, Class::Extend | Class::Joiner) => State::Consonant,
        (State::Consonant | State::Conjunct, Class::Linker) => State::Conjunct,
        (State::Conjunct, Class::Extend | Class::Joiner) => State::Conjunct,
        _ => State::Plain,
    }
}

//! The table of functions.

/// A function of `arithmetic/1`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Function {
    /// Magnitude.
    Abs,
    /// Smallest.
    Min,
    /// Largest.
    Max,
    /// Sum.
    Sum,
    /// Sum divided by the number of arguments.
    Mean,
    /// Whole number below or equal.
    Floor,
    /// Whole number above or equal.
    Ceil,
    /// Whole number towards zero.
    Trunc,
    /// Nearest multiple of a power of ten, half away from zero.
    Round,
    /// Nearest multiple of a power of ten, half to even.
    RoundEven,
    /// Square root.
    Sqrt,
    /// Greatest common divisor.
    Gcd,
    /// Least common multiple.
    Lcm,
    /// Factorial.
    Factorial,
}

/// What to answer to a name that is none of these.
pub const UNKNOWN: &str =
    "unknown name; the functions are abs min max sum mean floor ceil trunc round round_even \
                           sqrt gcd lcm factorial";

impl Function {
    /// The function of a name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "abs" => Self::Abs,
            "min" => Self::Min,
            "max" => Self::Max,
            "sum" => Self::Sum,
            "mean" => Self::Mean,
            "floor" => Self::Floor,
            "ceil" => Self::Ceil,
            "trunc" => Self::Trunc,
            "round" => Self::Round,
            "round_even" => Self::RoundEven,
            "sqrt" => Self::Sqrt,
            "gcd" => Self::Gcd,
            "lcm" => Self::Lcm,
            "factorial" => Self::Factorial,
            _ => return None,
        })
    }

    /// The most arguments; the least is 1 for every function.
    pub fn most_arguments(self) -> u16 {
        match self {
            Self::Round | Self::RoundEven => 2,
            _ if self.is_fold() => u16::MAX,
            _ => 1,
        }
    }

    /// Whether it takes any number of arguments and combines them from the left.
    pub fn is_fold(self) -> bool {
        matches!(
            self,
            Self::Min | Self::Max | Self::Sum | Self::Mean | Self::Gcd | Self::Lcm
        )
    }
}

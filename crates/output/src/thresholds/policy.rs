//! What is decided for each tool, by version.

use std::collections::BTreeMap;
use std::fmt;

/// When a tool's results go into two layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Never.
    #[default]
    Never,
    /// When longer than so many characters.
    Above(u64),
    /// Always.
    Always,
}

/// Into how many layers a result goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layers {
    /// The text itself, for the model.
    One,
    /// A text for the person and one for the model.
    Two,
}

/// Policies of all tools. Each change counts the version up, so that a decision can name what it went by.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Policies {
    version: u64,
    tools: BTreeMap<String, Policy>,
}

impl Policies {
    /// How often they were changed.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// The policy of a tool; `never` until one was set.
    #[must_use]
    pub fn of(&self, tool: &str) -> Policy {
        self.given(tool).unwrap_or_default()
    }

    /// The policy that was set for a tool.
    #[must_use]
    pub fn given(&self, tool: &str) -> Option<Policy> {
        self.tools.get(tool).copied()
    }

    /// Sets a tool's policy and gives the version that holds from now on.
    pub fn set(&mut self, tool: &str, policy: Policy) -> u64 {
        if self.tools.insert(tool.to_owned(), policy) != Some(policy) {
            self.version += 1;
        }
        self.version
    }

    /// Decides for one result of so many characters, before anything is paid for a summary.
    ///
    /// ```
    /// use sayso_output::thresholds::{Layers, Policies, Policy};
    /// let mut policies = Policies::default();
    /// policies.set("fetch", Policy::Above(500));
    /// assert_eq!(policies.decide("fetch", 500), Layers::One);
    /// assert_eq!(policies.decide("fetch", 501), Layers::Two);
    /// ```
    #[must_use]
    pub fn decide(&self, tool: &str, length: u64) -> Layers {
        self.of(tool).decide(length)
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => f.write_str("never"),
            Self::Above(most) => write!(f, "above {most}"),
            Self::Always => f.write_str("always"),
        }
    }
}

impl Policy {
    /// Decides for one result of so many characters.
    #[must_use]
    pub const fn decide(self, length: u64) -> Layers {
        match self {
            Self::Never => Layers::One,
            Self::Always => Layers::Two,
            Self::Above(most) => {
                if length > most {
                    Layers::Two
                } else {
                    Layers::One
                }
            }
        }
    }
}

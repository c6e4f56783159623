//! The integration tests, one module for each subject.

mod corpus;

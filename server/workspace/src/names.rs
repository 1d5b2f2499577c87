//! Placeholder until the bodies land.

//! Fixtures for tests that look at the product from outside. No tests of their own live here.

pub mod folder;
pub mod home;
pub mod machine;
pub mod nested;
pub mod product;

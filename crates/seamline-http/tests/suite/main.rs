//! Both forms of the repairing client against the strict fake provider.

#![cfg(test)]

mod bodies;
mod clients;
mod rejections;
mod streams;

//! The cases on the in-memory oracle.

use crate::world::World;

pub(crate) fn open() -> World {
    World::on_oracle()
}

#[path = "cases/mod.rs"]
mod cases;

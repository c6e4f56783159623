//! The cases on SQLite.

use crate::world::World;

pub(crate) fn open() -> World {
    World::on_sqlite()
}

#[path = "cases/mod.rs"]
mod cases;

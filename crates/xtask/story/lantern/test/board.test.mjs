import assert from "node:assert/strict";
import { test } from "node:test";
import { board, clock } from "../src/board.mjs";

const sailing = (dep, from = "솔섬") => ({ line: "N1", dep, arr: null, from, to: "북항" });

test("a time after midnight is shown as people read it", () => {
  assert.equal(clock("24:40"), "00:40");
});

test("the board shows one pier only", () => {
  assert.equal(board([sailing("08:10"), sailing("09:30", "북항")], "솔섬").length, 1);
});

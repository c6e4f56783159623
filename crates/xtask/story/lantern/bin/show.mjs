// Prints the board of one pier.
import { readFileSync } from "node:fs";
import { board, line } from "../src/board.mjs";

const { sailings } = JSON.parse(readFileSync("timetable.json", "utf8"));
for (const sailing of board(sailings, process.argv[2])) console.log(line(sailing));

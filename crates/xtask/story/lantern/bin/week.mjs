// Prints every sailing of a week, pier by pier.
import { readFileSync } from "node:fs";
import { board, line } from "../src/board.mjs";

const { sailings } = JSON.parse(readFileSync("timetable.json", "utf8"));
const piers = [...new Set(sailings.map((sailing) => sailing.from))];
for (const day of ["월", "화", "수", "목", "금", "토", "일"]) {
  for (const pier of piers) {
    console.log(`${day}요일 ${pier}`);
    for (const sailing of board(sailings, pier)) console.log(`  ${line(sailing)}`);
  }
}

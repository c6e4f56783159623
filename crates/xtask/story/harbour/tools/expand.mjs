// Prints every sailing of the season: MM-DD HH:MM line.
import { readFileSync } from "node:fs";
import { rows, sails } from "./timetable.mjs";

const closed = new Set(readFileSync("data/holidays.txt", "utf8").trimEnd().split("\n"));
const table = ["data/north-line.csv", "data/south-line.csv"].flatMap(rows);
const day = new Date("2027-04-01T00:00:00Z");
for (; day.toISOString() < "2027-11"; day.setUTCDate(day.getUTCDate() + 1)) {
  const date = day.toISOString().slice(5, 10);
  for (const row of table) {
    if (sails(row.days, day) && !closed.has(`${date} ${row.line}`)) console.log(date, row.dep, row.line);
  }
}

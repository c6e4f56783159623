// Reading the timetables as they were mailed: no row is dropped, odd rows are only named.
import { readFileSync } from "node:fs";

export function rows(file) {
  const [head, ...lines] = readFileSync(file, "utf8").trimEnd().split("\n");
  const names = head.split(",");
  return lines.map((text, at) => {
    const cells = text.split(",");
    const row = Object.fromEntries(names.map((name, i) => [name, cells[i] ?? ""]));
    return { ...row, text, number: at + 2, cells: cells.length, expected: names.length };
  });
}

const WEEK = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

export function sails(days, date) {
  if (days === "daily") return true;
  const [first, last] = days.split("-").map((day) => WEEK.indexOf(day));
  const today = date.getUTCDay();
  return first <= last ? today >= first && today <= last : today >= first || today <= last;
}

// Names the rows that a simple reader would get wrong. Exit 1 when there are any, 2 when a file cannot be read.
import { rows } from "./timetable.mjs";

const file = process.argv[2];
let table;
try {
  table = rows(file);
} catch (error) {
  console.error(`check: cannot read ${file}: ${error.code}`);
  process.exit(2);
}
const found = [];
for (const row of table) {
  const name = (why) => found.push(`${file}:${row.number}: ${why}: ${row.text}`);
  if (row.cells !== row.expected) name(`${row.cells} cells instead of ${row.expected} (comma inside quotes?)`);
  if (row.arr === "") name("no arrival time");
  if (row.dep >= "24:00" || row.arr >= "24:00") name("a time after 24:00");
  if (row.from !== row.from.trim() || row.to !== row.to.trim()) name("space around a pier name");
}
console.log(`${table.length} rows, ${found.length} to look at`);
for (const line of found) console.log(line);
process.exit(found.length > 0 ? 1 : 0);

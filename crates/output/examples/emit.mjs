// A tool with two recipients: the model gets every entry, the person a short list.
import { execFileSync } from "node:child_process";
import { writeSync } from "node:fs";

/** Hands both texts over; returns when they are through. */
function emit(model, user, purpose = "listing") {
  const first = Buffer.from(model);
  const [program, ...rest] = (process.env.SAYSO_EMIT ?? "sayso emit").split(" ");
  execFileSync(program, [...rest, "--purpose", purpose, "--model-bytes", String(first.length)], {
    input: Buffer.concat([first, Buffer.from(user)]),
    stdio: ["pipe", "inherit", "inherit"],
  });
}

const count = Number(process.argv[2] ?? 3);
// Not process.stdout.write: to a pipe that may return before anything is written.
writeSync(1, "raw progress on stdout\n");
let entries = "";
for (let n = 1; n <= count; n += 1) entries += `entry ${n}: everything the model may be asked about\n`;
emit(entries, `${count} entries, newest first`);
process.exit(0);

// Runs the commands of pi's bash tool through `sayso run`: what a tool hands over for the person goes beside the result to
// whoever runs pi, and the model is shown the text that was meant for it. The program is named by SAYSO_PROGRAM; without it
// nothing is changed. SAYSO_SESSION names the session that outputs are stored in.
import { spawn } from "node:child_process";
import { createBashTool } from "@mariozechner/pi-coding-agent";

export default function (pi) {
  const program = process.env.SAYSO_PROGRAM;
  if (!program) return;
  pi.registerTool({
    ...createBashTool(process.cwd()),
    execute: async (id, params, signal, onUpdate, _ctx) => {
      const handed = { texts: [], output: null };
      const operations = { exec: (command, cwd, options) => run(program, command, cwd, options, handed) };
      const tool = createBashTool(process.cwd(), { operations });
      const result = await tool.execute(id, params, signal, onUpdate);
      return { ...result, details: { ...result.details, sayso: handed } };
    },
  });
}

function run(program, command, cwd, { onData, signal, timeout, env }, handed) {
  const words = ["run", "--json", "--shell", "--tool", "bash"];
  if (process.env.SAYSO_SESSION) words.push("--session", process.env.SAYSO_SESSION);
  if (timeout) words.push("--timeout", `${timeout}s`);
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...words, "--", command], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const out = [];
    // `sayso run` passes the signal on to the command's group, and ends with it.
    const abort = () => child.kill("SIGTERM");
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    child.stdout.on("data", (data) => out.push(data));
    child.stderr.on("data", (data) => process.stderr.write(data));
    child.on("error", reject);
    child.on("close", (code) => {
      signal?.removeEventListener("abort", abort);
      const text = Buffer.concat(out).toString("utf8");
      show(text, onData, handed);
      if (signal?.aborted) reject(new Error("aborted"));
      else resolve({ exitCode: code });
    });
  });
}

function show(text, onData, handed) {
  let printed;
  try {
    printed = JSON.parse(text);
  } catch {
    onData(Buffer.from(text));
    return;
  }
  const lines = [];
  const envelopes = printed.envelopes ?? [];
  for (const envelope of envelopes) {
    lines.push(envelope.model);
    if (envelope.whole && envelope.person) {
      handed.texts.push({ person: envelope.person, purpose: envelope.purpose });
    }
  }
  // One output holds all of it, unless there are texts beside what was printed.
  if (envelopes.length === 0) handed.output = printed.output;
  else if (envelopes.length === 1 && printed.stdout.bytes === 0) handed.output = envelopes[0].output;
  onData(Buffer.from([...lines.map((line) => line.replace(/\n$/, "")), printed.view].join("\n")));
}

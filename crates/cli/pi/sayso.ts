// Sayso for pi: keeps what happens in a session in the ledger, and hands to the model what the ledger has for it.
// Installed by `sayso setup pi`; taken out by `sayso setup pi --remove`. Written for pi 0.73.
//
// Nothing here may stop pi: a program that is missing, slow or wrong gives no text, and `sayso doctor` says why.

import { spawn } from "node:child_process";

const COMMAND: string[] = /* the program and what comes before the event */ [];
// Milliseconds; the program itself gives up long before.
const LIMIT = 15_000;
const TYPE = "sayso";

type Context = { cwd: string; sessionManager: any };

// The session, as it was when pi let look at it last: the end of a run comes after that.
let session: Record<string, unknown> = {};

function look(ctx: Context): void {
  try {
    session = {
      session_id: ctx.sessionManager.getSessionId(),
      transcript_path: ctx.sessionManager.getSessionFile() ?? null,
      cwd: ctx.cwd,
    };
  } catch {
    // It is over already.
  }
}

// What the hook has for the model, or nothing.
function hook(event: string, ctx: Context, more: Record<string, unknown> = {}): Promise<string | undefined> {
  look(ctx);
  const input = JSON.stringify({ ...session, hook_event_name: event, ...more });
  return new Promise((resolve) => {
    const [program, ...before] = COMMAND;
    // Errors come as events, not as exceptions.
    const child = spawn(program, [...before, event], { stdio: ["pipe", "pipe", "ignore"], timeout: LIMIT });
    const printed: Buffer[] = [];
    child.on("error", () => resolve(undefined));
    child.stdin.on("error", () => {});
    child.stdout.on("data", (bytes: Buffer) => printed.push(bytes));
    child.on("close", () => resolve(added(Buffer.concat(printed).toString("utf8"))));
    child.stdin.end(input);
  });
}

function added(answer: string): string | undefined {
  try {
    const text = JSON.parse(answer).hookSpecificOutput.additionalContext;
    return typeof text === "string" && text !== "" ? text : undefined;
  } catch {
    return undefined;
  }
}

// The latest compaction of this branch, and what came back behind it, once that was asked. It is kept in the session beside the
// messages, so that it stands at the same place in every later context.
function compacted(ctx: Context): { id: string; text?: string } | undefined {
  const branch: any[] = ctx.sessionManager.getBranch();
  const at = branch.map((entry) => entry.type).lastIndexOf("compaction");
  if (at < 0) return undefined;
  const id = branch[at].id;
  const kept = branch.find((entry) => entry.type === "custom" && entry.customType === TYPE && entry.data?.after === id);
  return { id, text: kept?.data?.text };
}

// What came back behind the latest compaction. It is asked for when a model needs it, and not when pi compacts: that may be the
// last thing it does.
async function returned(pi: any, ctx: Context): Promise<string> {
  const latest = compacted(ctx);
  if (latest === undefined || latest.text !== undefined) return latest?.text ?? "";
  const text = (await hook("SessionStart", ctx, { source: "compact" })) ?? "";
  pi.appendEntry(TYPE, { after: latest.id, text });
  return text;
}

export default function (pi: any) {
  pi.on("session_start", async (event: any, ctx: Context) => {
    await hook("SessionStart", ctx, { source: event.reason === "resume" ? "resume" : "startup" });
  });

  pi.on("before_agent_start", async (event: any, ctx: Context) => {
    await returned(pi, ctx);
    const text = await hook("UserPromptSubmit", ctx, { prompt: event.prompt });
    return text === undefined ? undefined : { message: { customType: TYPE, content: text, display: false } };
  });

  pi.on("turn_end", async (event: any, ctx: Context) => {
    if (event.toolResults?.length > 0) await hook("PostToolUse", ctx);
  });

  pi.on("session_before_compact", async (_event: any, ctx: Context) => {
    await hook("PreCompact", ctx);
  });

  pi.on("context", async (event: any, ctx: Context) => {
    const at = event.messages.findIndex((message: any) => message.role === "compactionSummary");
    const text = at < 0 ? "" : await returned(pi, ctx);
    if (text === "") return undefined;
    const { timestamp } = event.messages[at];
    const message = { role: "custom", customType: TYPE, content: text, display: false, timestamp };
    return { messages: [...event.messages.slice(0, at + 1), message, ...event.messages.slice(at + 1)] };
  });

  // The end of an answer, and the end of the run: where pi answers one prompt and ends, it does not wait for the first.
  for (const end of ["agent_end", "session_shutdown"]) {
    pi.on(end, async (_event: any, ctx: Context) => {
      await hook("Stop", ctx);
    });
  }
}

"""SQLiteSession of openai-agents, driven line by line. Each step is timed here, inside of one event loop."""

import asyncio
import json
import sqlite3
import sys
import time

from agents import SQLiteSession
from importlib.metadata import version

path = sys.argv[1]
sessions = {}


def session(name):
    if name not in sessions:
        sessions[name] = SQLiteSession(name, path)
    return sessions[name]


def item(text):
    return {"role": "user", "content": text}


async def timed(steps):
    each = []
    cpu, wall = time.process_time(), time.perf_counter()
    for step in steps:
        start = time.perf_counter()
        await step()
        each.append(time.perf_counter() - start)
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "each": each}


async def add(ask):
    one = session(ask["session"])
    return await timed([lambda t=t: one.add_items([item(t)]) for t in ask["texts"]])


async def fill(ask):
    one = SQLiteSession(ask["session"], path)
    done = await timed([lambda: one.add_items([item(t) for t in ask["texts"]])])
    one.close()
    return done


async def last(ask):
    got = []

    async def one(name):
        got.append(len(await session(name).get_items(ask["limit"])))

    done = await timed([lambda n=n: one(n) for n in ask["sessions"]])
    return done | {"rows": sum(got)}


def facts():
    one = session("facts")
    conn = one._get_connection()
    names = ["journal_mode", "synchronous", "foreign_keys", "cache_size", "page_size", "wal_autocheckpoint"]
    pragmas = ", ".join(f"{n}={conn.execute('PRAGMA ' + n).fetchone()[0]}" for n in names)
    sql = "SELECT tbl_name || '.' || name FROM sqlite_schema WHERE type = 'index'"
    return {
        "package": "openai-agents " + version("openai-agents"),
        "Python and its SQLite": f"{sys.version.split()[0]}, {sqlite3.sqlite_version}",
        "PRAGMAs read back": pragmas,
        "indexes": ", ".join(row[0] for row in conn.execute(sql)),
        "statements": "its own: INSERT OR IGNORE session, INSERT message, UPDATE session",
    }


def count():
    conn = sqlite3.connect(path)
    return {"rows": conn.execute("SELECT count(*) FROM agent_messages").fetchone()[0]}


async def main():
    loop = asyncio.get_running_loop()
    while True:
        line = await loop.run_in_executor(None, sys.stdin.readline)
        ask = json.loads(line) if line else {"do": "end"}
        try:
            match ask["do"]:
                case "end":
                    return
                case "hello":
                    answer = {}
                case "add":
                    answer = await add(ask)
                case "fill":
                    answer = await fill(ask)
                case "last":
                    answer = await last(ask)
                case "facts":
                    answer = facts()
                case "count":
                    answer = count()
                case other:
                    answer = {"error": f"unknown: {other}"}
        except Exception as error:
            answer = {"error": repr(error)}
        print(json.dumps(answer), flush=True)


asyncio.run(main())

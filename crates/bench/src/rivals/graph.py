"""SqliteSaver of langgraph: a checkpoint with the whole list of messages after each new one, as a graph writes it."""

import json
import sqlite3
import sys
import time
from importlib.metadata import version

from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite import SqliteSaver

path = sys.argv[1]
conn = sqlite3.connect(path, check_same_thread=False)
saver = SqliteSaver(conn)
saver.setup()
threads = {}


def put(name, text):
    config, messages = threads.get(name, ({"configurable": {"thread_id": name, "checkpoint_ns": ""}}, []))
    messages = messages + [{"role": "user", "content": text}]
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"messages": messages}
    checkpoint["channel_versions"] = {"messages": len(messages)}
    metadata = {"source": "loop", "step": len(messages), "parents": {}}
    config = saver.put(config, checkpoint, metadata, {"messages": len(messages)})
    threads[name] = (config, messages)


def add(ask):
    # A thread of its own for each round: history must not grow from round to round.
    each = []
    cpu, wall = time.process_time(), time.perf_counter()
    for text in ask["texts"]:
        start = time.perf_counter()
        put(ask["session"], text)
        each.append(time.perf_counter() - start)
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "each": each}


def facts():
    names = ["journal_mode", "synchronous", "cache_size", "page_size", "wal_autocheckpoint"]
    pragmas = ", ".join(f"{n}={conn.execute('PRAGMA ' + n).fetchone()[0]}" for n in names)
    sql = "SELECT tbl_name || '.' || name FROM sqlite_schema WHERE type = 'index'"
    return {
        "package": "langgraph-checkpoint-sqlite " + version("langgraph-checkpoint-sqlite"),
        "Python and its SQLite": f"{sys.version.split()[0]}, {sqlite3.sqlite_version}",
        "PRAGMAs read back": pragmas,
        "indexes": ", ".join(row[0] for row in conn.execute(sql)),
        "statements": "its own: INSERT OR REPLACE of a checkpoint with all messages so far",
    }


def answer(ask):
    match ask["do"]:
        case "hello":
            return {}
        case "add":
            return add(ask)
        case "facts":
            return facts()
        case "count":
            return {"rows": conn.execute("SELECT count(*) FROM checkpoints").fetchone()[0]}
        case other:
            return {"error": f"unknown: {other}"}


for line in sys.stdin:
    ask = json.loads(line)
    if ask["do"] == "end":
        break
    try:
        print(json.dumps(answer(ask)), flush=True)
    except Exception as error:
        print(json.dumps({"error": repr(error)}), flush=True)

// better-sqlite3 with the same table and settings as rusqlite by hand.
const readline = require('node:readline');
const { randomBytes } = require('node:crypto');
const Database = require('better-sqlite3');

const db = new Database(process.argv[2]);
const pragmas = ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON', 'secure_delete = ON', 'cache_size = -8000', 'journal_size_limit = -1'];
for (const pragma of pragmas) db.pragma(pragma);
db.exec(`CREATE TABLE IF NOT EXISTS message (no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL,
  seq INTEGER NOT NULL, role TEXT NOT NULL, name TEXT NOT NULL, recorded_at INTEGER NOT NULL, text TEXT NOT NULL,
  UNIQUE (session, seq)) STRICT`);
const insert = db.prepare('INSERT INTO message (id, session, seq, role, name, recorded_at, text) VALUES (?, ?, ?, ?, ?, ?, ?)');
let seq = 0;

function add(ask) {
  const each = [];
  const cpu = process.cpuUsage();
  const wall = process.hrtime.bigint();
  for (const text of ask.texts) {
    const start = process.hrtime.bigint();
    insert.run(randomBytes(13).toString('hex'), ask.session, ++seq, 'owner', 'Kim', Date.now(), text);
    each.push(Number(process.hrtime.bigint() - start) / 1e9);
  }
  const used = process.cpuUsage(cpu);
  return { wall: Number(process.hrtime.bigint() - wall) / 1e9, cpu: (used.user + used.system) / 1e6, each };
}

function facts() {
  const names = ['journal_mode', 'synchronous', 'foreign_keys', 'secure_delete', 'cache_size', 'page_size', 'wal_autocheckpoint', 'journal_size_limit'];
  return {
    package: 'better-sqlite3 ' + require('better-sqlite3/package.json').version,
    'Node and its SQLite': process.version + ', ' + db.prepare('SELECT sqlite_version() AS v').get().v,
    'PRAGMAs read back': names.map((n) => `${n}=${db.pragma(n, { simple: true })}`).join(', '),
    indexes: 'message.id, message.(session, seq)',
    statements: 'INSERT INTO message …',
  };
}

const answers = {
  hello: () => ({}),
  add,
  facts,
  count: () => ({ rows: db.prepare('SELECT count(*) AS n FROM message').get().n }),
};

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const ask = JSON.parse(line);
  if (ask.do === 'end') process.exit(0);
  let answer;
  try {
    answer = (answers[ask.do] ?? (() => ({ error: 'unknown: ' + ask.do })))(ask);
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
});

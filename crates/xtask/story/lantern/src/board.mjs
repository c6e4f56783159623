// The board of one pier. Times are written as the harbour office writes them: 24:40 belongs to the evening before.

export function clock(time) {
  const [hours, minutes] = time.split(":").map(Number);
  return `${String(hours % 24).padStart(2, "0")}:${String(minutes).padStart(2, "0")}`;
}

export function board(sailings, pier) {
  return sailings
    .filter((sailing) => sailing.from === pier)
    .map((sailing) => ({ ...sailing, shown: clock(sailing.dep) }))
    .sort((a, b) => a.shown.localeCompare(b.shown));
}

export function line(sailing) {
  return `${sailing.shown}  ${sailing.line}  → ${sailing.to}`;
}

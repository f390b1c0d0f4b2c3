import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Makes directories durable; callers that come while one is being synced share the next sync. */
export function sharedSync(): (directory: string) => Promise<void> {
  const running = new Map<string, Promise<void>>();
  const waiting = new Map<string, Promise<void>>();
  return (directory) => {
    const current = running.get(directory);
    if (current === undefined) {
      const run = syncOnce(directory).finally(() => running.delete(directory));
      running.set(directory, run);
      return run;
    }
    const next = waiting.get(directory);
    if (next !== undefined) return next;
    // The running sync may have begun before this caller's change; only one that begins after it counts.
    const later = current
      .catch(() => undefined)
      .then(() => {
        waiting.delete(directory);
        const run = syncOnce(directory).finally(() => running.delete(directory));
        running.set(directory, run);
        return run;
      });
    waiting.set(directory, later);
    return later;
  };
}

async function syncOnce(directory: string): Promise<void> {
  // Windows cannot open a directory to sync it.
  if (process.platform === 'win32') return;
  const handle = await open(directory, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

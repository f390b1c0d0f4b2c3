// One cold start, in the process that it is one of: node cold-start.mjs BUNDLE EVENT. Tells file descriptor 3.
import { writeSync } from 'node:fs';
import process from 'node:process';

const [bundle, event] = process.argv.slice(2);
// All times are since the process began.
const begun = performance.now();
const { handler } = await import(bundle);
const imported = performance.now();
const { statusCode, body } = await handler(JSON.parse(event), {});
const answered = performance.now();
const { user, system } = process.cpuUsage();
writeSync(
  3,
  JSON.stringify({ begun, imported, answered, processor: (user + system) / 1000, statusCode, body }),
);
// The clients keep their sockets open.
process.exit();

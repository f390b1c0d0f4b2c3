// Counts tests over several runs of vitest: node .ci/count.mjs DIRECTORY, with a JSON report a run in it.
// A test that one run skipped and another ran counts once, as what it came to where it ran.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const [directory] = process.argv.slice(2);
const RANK = { failed: 2, passed: 1, skipped: 0 };
const total = new Map();

const line = (counts) => `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;

function count(outcomes) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const outcome of outcomes) counts[outcome] += 1;
  return counts;
}

for (const name of readdirSync(directory).sort()) {
  const report = JSON.parse(readFileSync(path.join(directory, name), 'utf8'));
  const outcomes = [];
  const add = (key, outcome) => {
    outcomes.push(outcome);
    if (RANK[outcome] > (RANK[total.get(key)] ?? -1)) total.set(key, outcome);
  };
  for (const file of report.testResults) {
    const seen = new Map();
    for (const test of file.assertionResults) {
      // Tests may share a name; the nth of a name is the nth in every run.
      const nth = seen.get(test.fullName) ?? 0;
      seen.set(test.fullName, nth + 1);
      const outcome = test.status === 'passed' || test.status === 'failed' ? test.status : 'skipped';
      add(`${file.name} ${nth} ${test.fullName}`, outcome);
    }
    // A file that could not be loaded, or whose hooks failed, has no failed test to show for it.
    if (file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed')) {
      add(file.name, 'failed');
    }
  }
  console.log(`  ${name.replace(/^\d+-|\.json$/g, '')}: ${line(count(outcomes))}`);
}

const counts = count(total.values());
console.log(`tests: ${line(counts)}`);
// A run that ran no test has proved nothing.
if (counts.failed > 0 || counts.passed === 0) process.exitCode = 1;

// The run as text, and the machine that it ran on.
import { spawnSync } from 'node:child_process';
import { readFileSync, statfsSync } from 'node:fs';
import os from 'node:os';

/** statfs(2), f_type. */
const FILE_SYSTEMS = {
  0xef53: 'ext4',
  0x01021994: 'tmpfs',
  0x58465342: 'xfs',
  0x9123683e: 'btrfs',
  0x794c7630: 'overlayfs',
};

export function describeMachine(directory) {
  const git = spawnSync('git', ['rev-parse', '--short', 'HEAD'], {
    encoding: 'utf8',
    cwd: import.meta.dirname,
  });
  const changed = spawnSync(
    'git',
    ['--no-optional-locks', 'status', '--porcelain', 'src', 'package-lock.json'],
    {
      encoding: 'utf8',
      cwd: `${import.meta.dirname}/..`,
    },
  );
  const type = statfsSync(directory).type;
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return {
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.cpus().length,
    node: process.version,
    os: `${os.type()} ${os.release().split('-')[0]} ${os.arch()}`,
    fileSystem: FILE_SYSTEMS[type] ?? `type 0x${type.toString(16)}`,
    product: version,
    commit:
      git.status === 0 ? `${git.stdout.trim()}${changed.stdout?.trim() ? ' and changes' : ''}` : 'unknown',
  };
}

export function describedMachine({ cpu, cores, node, os: system, fileSystem, product, commit }) {
  return `Skillbucket ${product} (commit ${commit}), Node ${node}, ${system}, ${cores} cores of ${cpu}, data on ${fileSystem}`;
}

export function printable({ machine, skills, publishing, rows, busiestClient, seconds }) {
  const number = (value) => Math.round(value).toLocaleString('en-US');
  const milliseconds = (value) => (value < 10 ? value.toFixed(2) : value.toFixed(1));
  const bare = publishing.hashed;
  const publishingLine = (name, measured) => [
    name,
    number(measured.filesPerSecond),
    measured.megabytesPerSecond.toFixed(1),
    measured === bare ? '1' : (measured.filesPerSecond / bare.filesPerSecond).toFixed(3),
  ];
  const requestLine = ({ name, connections, product: ours, bare: theirs }) => [
    name,
    String(connections),
    number(ours.perSecond),
    number(theirs.perSecond),
    (ours.perSecond / theirs.perSecond).toFixed(2),
    milliseconds(ours.p50),
    milliseconds(theirs.p50),
    milliseconds(ours.p99),
    milliseconds(theirs.p99),
    number(ours.serverMicrosecondsPerRequest),
    number(theirs.serverMicrosecondsPerRequest),
  ];
  const requestLines = (kind) => rows.filter((row) => row.table === kind).map(requestLine);
  return [
    describedMachine(machine),
    `${skills.count} skills of ${skills.files / skills.count} files, ${(skills.bytes / 1e6).toFixed(1)} MB; medians of interleaved rounds; ratio = product / bare`,
    '',
    ...table([
      ['PUBLISHING', 'files/s', 'MB/s', 'ratio'],
      publishingLine('bare: readFile and SHA-256', bare),
      publishingLine('bare: the same, and a synced copy of each file', publishing.durable),
      publishingLine('publish into an empty directory store (durable)', publishing.published),
      publishingLine('publish again, unchanged', publishing.unchanged),
    ]),
    '',
    ...table([
      ['SERVING', 'at', 'requests/s', '', '', 'p50 ms', '', 'p99 ms', '', 'CPU us', ''],
      ['', 'once', 'product', 'bare', 'ratio', 'product', 'bare', 'product', 'bare', 'product', 'bare'],
      ...requestLines('embedded'),
      ['table in memory: what the service itself costs', '', '', '', '', '', '', '', '', '', ''],
      ...requestLines('memory'),
    ]),
    '',
    'Bare is node:http answering the same status, body, content-type and content-length; every answer of both sides is',
    'compared byte by byte. In load_skill, first in session, the session id and the times are compared by length only.',
    'CPU us: processor time of the server process for one request, the embedded DynamoDB included where it is used.',
    `The load generator used at most ${Math.round(busiestClient * 100)} % of a core. The run took ${Math.round(seconds)} s.`,
  ].join('\n');
}

/** First column to the left, the others to the right. */
export function table(lines) {
  const widths = lines[0].map((_, column) =>
    // A line of one cell is a heading and may be as long as it likes.
    Math.max(...lines.filter((line) => line[1] !== '' || line[0] === '').map((line) => line[column].length)),
  );
  return lines.map((line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column] + 2)))
      .join('')
      .trimEnd(),
  );
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

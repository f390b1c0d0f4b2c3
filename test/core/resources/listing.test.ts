import { describe, expect, test } from 'vitest';
import { DEFAULT_RESOURCE_POLICY } from '../../../src/core/limits.ts';
import type { ResourcePolicy } from '../../../src/core/limits.ts';
import { authorizeListing, groupListing } from '../../../src/core/resources/listing.ts';
import type { FileEntry } from '../../../src/core/manifest/manifest.ts';
import { fileEntry, filesOf } from './files.ts';

const policyOf = (limits: Partial<ResourcePolicy>): ResourcePolicy => ({
  ...DEFAULT_RESOURCE_POLICY,
  ...limits,
});

function listed(files: readonly FileEntry[], limits: Partial<ResourcePolicy> = {}) {
  const { entries, truncation_reasons } = authorizeListing(files, 'SKILL.md', policyOf(limits));
  return { paths: entries.map((one) => one.relative_path), reasons: truncation_reasons };
}

const bytesOf = (files: readonly FileEntry[]): number =>
  Buffer.byteLength(
    JSON.stringify(authorizeListing(files, 'SKILL.md', policyOf({ max_listing_bytes: 1e9 })).entries),
  );

describe('[J21] what a policy lets a session see', () => {
  test('[J21] the defaults', () => {
    expect(DEFAULT_RESOURCE_POLICY).toEqual({
      max_resources: 256,
      max_depth: 8,
      max_directories: 1_024,
      max_listing_bytes: 65_536,
      max_file_bytes: 1_048_576,
      max_text_bytes: 262_144,
      binary: 'reject',
    });
  });

  test('[J17] everything but SKILL.md, in path order: root files and custom directories too', () => {
    const files = filesOf('a.md', 'DEEPENING.md', 'custom/x/y.md', 'references/b.md', 'references/SKILL.md');
    expect(listed(files)).toEqual({
      paths: ['DEEPENING.md', 'a.md', 'custom/x/y.md', 'references/SKILL.md', 'references/b.md'],
      reasons: [],
    });
  });

  test('[J17] the SKILL.md that is left out is the one of the skill, whatever its spelling', () => {
    const files = [fileEntry('a.md'), fileEntry('skill.md')];
    expect(authorizeListing(files, 'skill.md', policyOf({})).entries.map((one) => one.relative_path)).toEqual(
      ['a.md'],
    );
  });

  test('[J21] a limit that is just met cuts nothing', () => {
    const files = filesOf('a.md', 'x/b.md', 'x/y/c.md');
    const limits = { max_resources: 3, max_depth: 2, max_directories: 2, max_listing_bytes: bytesOf(files) };
    expect(listed(files, limits)).toEqual({ paths: ['a.md', 'x/b.md', 'x/y/c.md'], reasons: [] });
  });

  test('[J21] max_resources ends the listing', () => {
    expect(listed(filesOf('a', 'b', 'c'), { max_resources: 2 })).toEqual({
      paths: ['a', 'b'],
      reasons: ['max_resources'],
    });
    expect(listed(filesOf('a'), { max_resources: 0 })).toEqual({ paths: [], reasons: ['max_resources'] });
  });

  test('[J21] max_depth passes over what lies deeper', () => {
    expect(listed(filesOf('a/b/c/deep', 'a/b/ok', 'z'), { max_depth: 2 })).toEqual({
      paths: ['a/b/ok', 'z'],
      reasons: ['max_depth'],
    });
    expect(listed(filesOf('a/b', 'c'), { max_depth: 0 })).toEqual({ paths: ['c'], reasons: ['max_depth'] });
  });

  test('[J21] max_directories counts each directory once, those on the way too', () => {
    const files = filesOf('a/1', 'a/2', 'a/b/3', 'c/4', 'top');
    expect(listed(files, { max_directories: 2 })).toEqual({
      paths: ['a/1', 'a/2', 'a/b/3', 'top'],
      reasons: ['max_directories'],
    });
    expect(listed(filesOf('a/b/c/1', 'top'), { max_directories: 2 })).toEqual({
      paths: ['top'],
      reasons: ['max_directories'],
    });
  });

  test('[J21] max_listing_bytes is of the encoded entries, and ends the listing at the first over it', () => {
    const files = filesOf('a', 'b', 'c');
    const limit = bytesOf(files) - 1;
    expect(listed(files, { max_listing_bytes: limit })).toEqual({
      paths: ['a', 'b'],
      reasons: ['max_listing_bytes'],
    });
    const wide = filesOf('漢字漢字漢字', 'z');
    for (let bytes = 2; bytes <= bytesOf(wide); bytes += 7) {
      const { entries } = authorizeListing(wide, 'SKILL.md', policyOf({ max_listing_bytes: bytes }));
      expect(Buffer.byteLength(JSON.stringify(entries))).toBeLessThanOrEqual(bytes);
    }
  });

  test('[J21] each limit that is reached is named, once, in whatever order the files stand', () => {
    const deepLast = filesOf('a', 'b', 'c', 'z/y/x/deep', 'z/y/x/deeper');
    expect(listed(deepLast, { max_resources: 1, max_depth: 2 }).reasons.toSorted()).toEqual([
      'max_depth',
      'max_resources',
    ]);
    const all = filesOf('a/b/c/deep', 'b/1', 'c/2', 'e', 'f');
    expect(listed(all, { max_resources: 2, max_depth: 2, max_directories: 1 })).toEqual({
      paths: ['b/1', 'e'],
      reasons: ['max_depth', 'max_directories', 'max_resources'],
    });
    expect(listed(all, { max_depth: 2, max_directories: 1, max_listing_bytes: 10 })).toEqual({
      paths: [],
      reasons: ['max_depth', 'max_listing_bytes', 'max_directories'],
    });
  });

  test('[J21] 300 files under the default policy: 256 of them', () => {
    const files = filesOf(...Array.from({ length: 300 }, (_, index) => `f${String(index).padStart(3, '0')}`));
    const { paths, reasons } = listed(files);
    expect(paths).toHaveLength(256);
    expect(paths.at(-1)).toBe('f255');
    expect(reasons).toEqual(['max_resources']);
  });

  test('the same files and policy give the same listing: it can be derived again', () => {
    const files = filesOf('a/b/c', 'd', 'e');
    const policy = policyOf({ max_resources: 2 });
    expect(authorizeListing(files, 'SKILL.md', policy)).toEqual(authorizeListing(files, 'SKILL.md', policy));
  });
});

describe('[J17] the grouped views', () => {
  const files = filesOf(
    'assets/logo.png',
    'lib/x.js',
    'references/a.md',
    'scripts/run.sh',
    'scripts',
    'scriptsx/y.sh',
    'x.md',
  );

  test('[J17] groups are views of the same entries, by first directory', () => {
    const listing = authorizeListing(files, 'SKILL.md', policyOf({}));
    const grouped = groupListing(listing, policyOf({}));
    expect(grouped.resources).toEqual(listing.entries);
    const paths = (group: readonly { relative_path: string }[]) => group.map((one) => one.relative_path);
    expect(paths(grouped.scripts)).toEqual(['scripts/run.sh']);
    expect(paths(grouped.references)).toEqual(['references/a.md']);
    expect(paths(grouped.assets)).toEqual(['assets/logo.png']);
    for (const one of [...grouped.scripts, ...grouped.references, ...grouped.assets]) {
      expect(grouped.resources).toContain(one);
    }
    expect(Object.fromEntries(grouped.resources.map((one) => [one.relative_path, one.type]))).toEqual({
      'assets/logo.png': 'asset',
      'lib/x.js': 'file',
      'references/a.md': 'reference',
      scripts: 'file',
      'scripts/run.sh': 'script',
      'scriptsx/y.sh': 'file',
      'x.md': 'file',
    });
  });

  test('[J17] directories named like properties of objects are plain directories', () => {
    const { entries } = authorizeListing(
      filesOf('constructor/a', '__proto__/b', 'toString/c'),
      'SKILL.md',
      policyOf({}),
    );
    expect(entries.map((one) => one.type)).toEqual(['file', 'file', 'file']);
  });

  test('[J17] [J21] complete, truncated, reasons and limits', () => {
    const policy = policyOf({ max_resources: 1 });
    const cut = groupListing(authorizeListing(files, 'SKILL.md', policy), policy);
    expect(cut).toMatchObject({
      complete: false,
      truncated: true,
      truncation_reasons: ['max_resources'],
      limits: { max_resources: 1, max_depth: 8 },
    });
    expect(groupListing(authorizeListing(files, 'SKILL.md', policyOf({})), policyOf({}))).toMatchObject({
      complete: true,
      truncated: false,
      truncation_reasons: [],
    });
  });
});

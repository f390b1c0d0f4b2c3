import { bundleId } from '../../core/ids.ts';
import { contentDigest } from '../../core/manifest/build.ts';
import { indexTree } from '../../sources/index-tree.ts';
import { jsonText } from '../plain.ts';
import type { Command } from '../io.ts';
import { onlyOne, readOptions } from '../options.ts';
import { printFindings, progressLine } from '../print.ts';
import { treeOf } from '../tree-of.ts';

export const indexCommand: Command = {
  name: 'index',
  summary: 'Print the manifest that publishing would make',
  help: `Usage: skillbucket index FOLDER [--bundle NAME] [--lenient]

Reads and validates every skill and prints the manifest as JSON: entries, file
lists, digests. Nothing is published.

  --bundle NAME   the bundle's name in the manifest (default: main)
  --lenient       repair what can be repaired

Example: skillbucket index ./skills | less`,

  async run(args, io) {
    const { values, positionals } = readOptions(args, {
      bundle: { type: 'string' },
      lenient: { type: 'boolean' },
      json: { type: 'boolean' },
    });
    const mode = values.lenient === true ? 'lenient' : 'strict';
    const tree = await treeOf(onlyOne(positionals, 'FOLDER'), mode);
    const progress = progressLine(io, 'Indexing');
    const content = await indexTree(tree, {
      bundle: bundleId(values.bundle ?? 'main'),
      mode,
      onProgress: (state) => {
        progress.update(state);
      },
    });
    progress.end();
    io.out(jsonText({ schema: 1, ...content, digest: contentDigest(content) }));
    printFindings(io, content.findings);
    return 0;
  },
};

import { existsSync } from 'node:fs';
import path from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { packageRoot } from '../src/package-root.ts';
import { readSettings } from './settings.ts';
import { skillbucketStack } from './stack.ts';

/** What `cdk` runs (cdk.json). */
const app = new App();
const context = (name: string): unknown => app.node.tryGetContext(name);
const settings = readSettings(context, process.env);
const given = context('functions');
const functions = path.resolve(
  typeof given === 'string' ? given : path.join(packageRoot(), 'build', 'functions'),
);
const code = { api: path.join(functions, 'api'), indexer: path.join(functions, 'indexer') };

for (const directory of Object.values(code)) {
  if (!existsSync(path.join(directory, 'index.mjs'))) {
    throw new Error(`${directory} has no bundled function: run \`npm run bundle\` first.`);
  }
}
skillbucketStack(app, settings, code);
// A finding fails the synthesis.
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));

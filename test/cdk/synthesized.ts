import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { readSettings } from '../../cdk/settings.ts';
import type { FunctionCode } from '../../cdk/stack.ts';
import { skillbucketStack } from '../../cdk/stack.ts';
import { packageRoot } from '../../src/package-root.ts';

export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
  readonly Metadata?: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
}

export interface TemplateJson {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
}

/** A directory as `npm run bundle` makes it, with functions that do nothing. */
export function emptyFunctions(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'skillbucket-functions-'));
  for (const name of ['api', 'indexer']) {
    mkdirSync(path.join(directory, name));
    writeFileSync(path.join(directory, name, 'index.mjs'), 'export const handler = async () => ({});\n');
  }
  return directory;
}

let functions: string | undefined;

/** The app as cdk.json sets it up, with some context on top, not synthesized yet. */
export function appWith(context: Readonly<Record<string, string>> = {}): { app: App; stack: Stack } {
  const settings = JSON.parse(readFileSync(path.join(packageRoot(), 'cdk.json'), 'utf8')) as {
    context: Record<string, unknown>;
  };
  const app = new App({
    context: {
      ...settings.context,
      'aws:cdk:enable-path-metadata': true,
      // Tests break templates on purpose; synth.test.ts validates what is deployed.
      '@aws-cdk/core:validateAgainstDefaultRules': false,
      ...context,
    },
    analyticsReporting: false,
  });
  functions ??= emptyFunctions();
  const code: FunctionCode = { api: path.join(functions, 'api'), indexer: path.join(functions, 'indexer') };
  const stack = skillbucketStack(
    app,
    readSettings((name) => app.node.tryGetContext(name) as unknown, {}),
    code,
  );
  return { app, stack };
}

/** The main stack's template. */
export function templateWith(context: Readonly<Record<string, string>> = {}): Template {
  return Template.fromStack(appWith(context).stack);
}

/** Templates of every stack, by name. */
export function templatesOf(app: App): Map<string, TemplateJson> {
  const stacks = app.node.children.filter((one) => Stack.isStack(one));
  return new Map(
    stacks.map((stack) => [stack.stackName, Template.fromStack(stack).toJSON() as unknown as TemplateJson]),
  );
}

/** Where a resource comes from, below its stack: `ApiRole/DefaultPolicy`. */
export function placeOf(resource: TemplateResource): string {
  const full = resource.Metadata?.['aws:cdk:path'];
  if (typeof full !== 'string') throw new Error('A resource without its path.');
  return full
    .split('/')
    .slice(1)
    .join('/')
    .replace(/\/Resource$/, '');
}

/** By the construct's place; of the main resources, there is one each. */
export function resourceOf(template: Template, place: string): TemplateResource {
  const all = Object.values((template.toJSON() as unknown as TemplateJson).Resources);
  const found = all.find((one) => one.Metadata?.['aws:cdk:path'] !== undefined && placeOf(one) === place);
  if (found === undefined) throw new Error(`There is no ${place}.`);
  return found;
}

/** A value of a template as text; references stand as `<Bucket.Arn>`, without the hash in the logical id. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const [[kind, given] = ['', undefined]] = Object.entries(value as Record<string, unknown>);
  if (kind === 'Ref') return `<${withoutHash(String(given))}>`;
  if (kind === 'Fn::GetAtt') {
    const [id = '', attribute = ''] = given as string[];
    return `<${withoutHash(id)}.${attribute}>`;
  }
  if (kind === 'Fn::Join') return (given as [string, unknown[]])[1].map(textOf).join('');
  if (kind === 'Fn::Sub') return String(given).replaceAll(/\$\{([^}]+)\}/g, '<$1>');
  throw new Error(`Not understood in a template: ${JSON.stringify(value)}`);
}

const withoutHash = (id: string): string => id.replace(/[0-9A-F]{8}$/, '');

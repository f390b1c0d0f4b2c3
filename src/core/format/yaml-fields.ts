import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import type { Document, Node, Scalar, YAMLMap } from 'yaml';
import type { Finding } from '../errors.ts';
import { finding } from '../errors.ts';
import { show } from '../ids.ts';

/** What a value would be in YAML's core schema; the text is kept either way (`1.10` stays "1.10"). */
export type FieldKind = 'text' | 'number' | 'boolean' | 'empty' | 'mapping' | 'list';

export interface Field {
  readonly key: string;
  readonly kind: FieldKind;
  /** Scalars: the text as written, quotes and folding resolved. Collections: their source. */
  readonly text: string;
  /** 1-based line of the file. */
  readonly line: number;
  /** Text after ` #` on the line of an unquoted value, which YAML drops. */
  readonly droppedComment: string | undefined;
  /** Entries of a mapping or list. */
  readonly entries: readonly Field[];
}

/** Where the block sits, so that a message can name file and line. */
export interface BlockPlace {
  readonly file: string;
  readonly line: number;
}

/**
 * Reads a frontmatter block with the failsafe schema (source text is kept: 007 stays "007"). Anchors, aliases, tags,
 * duplicate keys and a second document are refused: each can lose or multiply what the author wrote.
 */
export function readYamlFields(block: string, place: BlockPlace): readonly Field[] | Finding {
  const at = (line: number) => ({ file: place.file, line: place.line + line - 1 });
  const documentEnd = block.split('\n').findIndex((text) => /^\.\.\.\s*$/.test(text));
  if (documentEnd !== -1) {
    return finding(
      'error',
      'invalid_yaml',
      'A line `...` ends the YAML document early; all after it would be lost.',
      {
        ...at(documentEnd + 1),
        fix: 'Remove the line.',
      },
    );
  }
  if (isTooStructured(block)) {
    const message = `More than ${MAX_STRUCTURE_SIGNS} signs of lists, mappings, tags and anchors.`;
    return finding('error', 'invalid_yaml', message, at(1));
  }
  const lines = new LineCounter();
  const document = compose(block, lines);
  if (document === undefined) {
    return finding('error', 'invalid_yaml', 'The frontmatter is nested too deeply.', at(1));
  }
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) {
    const { line } = lines.linePos(problem.pos[0]);
    const message = problemText(problem);
    return finding('error', 'invalid_yaml', `${place.file} line ${at(line).line}: ${message}.`, at(line));
  }
  const sign = forbiddenSign(document) ?? repeatedKey(document);
  if (sign !== undefined) {
    return finding('error', 'invalid_yaml', sign.message, at(lines.linePos(sign.offset).line));
  }
  if (document.contents === null) return [];
  if (isScalar(document.contents) && document.contents.source === '') return [];
  if (!isMap(document.contents)) {
    return finding('error', 'invalid_yaml', 'The frontmatter is not a list of `key: value` lines.', at(1));
  }
  return mapFields(document.contents, { block, place, lines });
}

interface Source {
  readonly block: string;
  readonly place: BlockPlace;
  readonly lines: LineCounter;
}

function compose(block: string, lineCounter: LineCounter): Document.Parsed | undefined {
  try {
    return parseDocument(block, {
      schema: 'failsafe',
      stringKeys: true,
      lineCounter,
      // "silent" would hide that there is a second document, with all that it says.
      logLevel: 'error',
      // Both take quadratic time; keys are compared in `repeatedKey`.
      uniqueKeys: false,
      prettyErrors: false,
    });
  } catch (error) {
    // The parser recurses; a block of brackets can exhaust the stack, which is the author's error and not ours.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** What makes a list, a mapping, a tag, an anchor or an alias, wherever it stands: real frontmatter has a handful. */
const STRUCTURE_SIGNS = /[[\]{}]|[-?][ \t]|(?<=\s)[!&*]/g;
/** The parser recurses into them, and takes a hundred times as long for each as for a letter. */
const MAX_STRUCTURE_SIGNS = 1_000;

export function isTooStructured(block: string): boolean {
  return (block.match(STRUCTURE_SIGNS)?.length ?? 0) > MAX_STRUCTURE_SIGNS;
}

function problemText(problem: { readonly code: string; readonly message: string }): string {
  if (problem.code === 'MULTIPLE_DOCS')
    return 'A line that begins with `---` starts a second document; all after it would be lost';
  if (/call stack/i.test(problem.message)) return 'The frontmatter is nested too deeply';
  return problem.message.split(/\r?\n/)[0] ?? problem.message;
}

interface Problem {
  readonly message: string;
  readonly offset: number;
}

function repeatedKey(document: Document.Parsed): Problem | undefined {
  let found: Problem | undefined;
  visit(document, {
    Map(_, map) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (seen.has(name)) {
          found = { message: `The key ${show(name)} is there twice.`, offset: key.range?.[0] ?? 0 };
          return visit.BREAK;
        }
        seen.add(name);
      }
      return undefined;
    },
  });
  return found;
}

function forbiddenSign(document: Document.Parsed): Problem | undefined {
  let found: Problem | undefined;
  visit(document, {
    Node(_, node) {
      const anchor = isAlias(node) ? node.source : (node as Scalar).anchor;
      const tag = isAlias(node) ? undefined : node.tag;
      const offset = node.range?.[0] ?? 0;
      if (anchor !== undefined) {
        const sign = isAlias(node) ? '*' : '&';
        found = { message: `YAML anchors and aliases (\`${sign}${anchor}\`) are not allowed.`, offset };
        return visit.BREAK;
      }
      if (tag !== undefined && !PLAIN_TAGS.has(tag)) {
        found = { message: `\`${tag}\` is read as a YAML tag, so this word would be lost.`, offset };
        return visit.BREAK;
      }
      return undefined;
    },
  });
  return found;
}

/** Tags that say what the failsafe schema does anyway. */
const PLAIN_TAGS = new Set(['tag:yaml.org,2002:str', 'tag:yaml.org,2002:map', 'tag:yaml.org,2002:seq']);

function mapFields(map: YAMLMap, source: Source): Field[] {
  return map.items.map((pair) => {
    const keyNode = pair.key as Node | null;
    const key = isScalar(keyNode) ? String(keyNode.value) : '';
    return toField(key, pair.value as Node | null, keyNode, source);
  });
}

function toField(key: string, node: Node | null, keyNode: Node | null, source: Source): Field {
  const { block, place, lines } = source;
  const line = place.line + lines.linePos((keyNode ?? node)?.range?.[0] ?? 0).line - 1;
  const none = { key, line, droppedComment: undefined, entries: [] };
  if (node === null) return { ...none, kind: 'empty', text: '' };
  if (isMap(node))
    return { ...none, kind: 'mapping', text: sourceOf(node, block), entries: mapFields(node, source) };
  if (isSeq(node)) {
    const entries = node.items.map((item, index) =>
      toField(String(index), item as Node | null, item as Node | null, source),
    );
    return { ...none, kind: 'list', text: sourceOf(node, block), entries };
  }
  const scalar = node as Scalar;
  const text = typeof scalar.value === 'string' ? scalar.value : '';
  if (scalar.type !== 'PLAIN') return { ...none, kind: 'text', text };
  return { ...none, kind: plainKind(text), text, droppedComment: commentAfter(scalar, block) };
}

/** YAML 1.2.2, 10.3.2: how an unquoted scalar resolves in the core schema. */
function plainKind(text: string): FieldKind {
  if (/^(?:|~|null|Null|NULL)$/.test(text)) return 'empty';
  if (/^(?:true|True|TRUE|false|False|FALSE)$/.test(text)) return 'boolean';
  if (/^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/.test(text)) return 'number';
  if (/^(?:0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/.test(text)) return 'number';
  return 'text';
}

function sourceOf(node: Node, block: string): string {
  const range = node.range;
  return range ? block.slice(range[0], range[1]).trim() : '';
}

function commentAfter(node: Node, block: string): string | undefined {
  return /^[ \t]+#([^\r\n]*)/.exec(block.slice(node.range?.[1] ?? block.length))?.[1];
}

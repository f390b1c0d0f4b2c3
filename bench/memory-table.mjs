// The port of src/storage/table.ts over a Map: what the service costs without the emulator. For the benchmark only.

export function memoryTable() {
  /** @type {Map<string, Map<string, object>>} partitions, then items by sort key */
  const partitions = new Map();
  const find = ({ pk, sk }) => partitions.get(pk)?.get(sk);
  const store = ({ pk, sk }, item) => {
    const partition = partitions.get(pk) ?? new Map();
    partitions.set(pk, partition);
    partition.set(sk, item);
  };
  const copy = (item) => (item === undefined ? undefined : { ...item });
  return {
    get: async (key) => copy(find(key)),
    async put(key, item, condition) {
      const found = find(key);
      if (condition !== undefined && !holds(condition, found)) return { found: copy(found) };
      store(key, { ...item, ...key });
      return 'stored';
    },
    async set(key, attributes, condition) {
      const found = find(key);
      if (!holds(condition, found)) return false;
      store(key, { ...found, ...attributes, ...key });
      return true;
    },
    async delete(key, condition) {
      if (condition === undefined || holds(condition, find(key))) partitions.get(key.pk)?.delete(key.sk);
    },
    async add(key, amounts, attributes = {}) {
      const found = find(key) ?? {};
      const sums = Object.entries(amounts).map(([name, value]) => [name, (found[name] ?? 0) + value]);
      store(key, { ...found, ...Object.fromEntries(sums), ...attributes, ...key });
      return Object.fromEntries(sums);
    },
    async *query(pk, { from = '', to = '\u{10ffff}' } = {}) {
      const items = [...(partitions.get(pk)?.values() ?? [])];
      for (const item of items.sort((a, b) => (a.sk < b.sk ? -1 : 1))) {
        if (item.sk >= from && item.sk <= to) yield { ...item };
      }
    },
  };
}

/** Terms joined by OR, each of ANDs; anything else is refused rather than guessed. */
function holds({ expression, names = {}, values = {} }, item) {
  return expression
    .replaceAll(/#\w+/g, (name) => names[name])
    .split(' OR ')
    .some((side) => side.split(' AND ').every((term) => termHolds(term, values, item)));
}

function termHolds(term, values, item) {
  const existence = /^attribute_(not_)?exists\((\w+)\)$/.exec(term);
  if (existence !== null) return (item?.[existence[2]] === undefined) === (existence[1] !== undefined);
  const [, name, operator, value] = /^(\w+) (=|<=|<|>=|>) (:\w+)$/.exec(term) ?? [];
  if (name === undefined) throw new Error(`The benchmark's table does not know the condition ${term}`);
  const [left, right] = [item?.[name], values[value]];
  if (left === undefined) return false;
  if (operator === '=') return left === right;
  if (operator === '<=') return left <= right;
  if (operator === '<') return left < right;
  return operator === '>=' ? left >= right : left > right;
}

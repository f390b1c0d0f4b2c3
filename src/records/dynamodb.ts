import { randomBytes } from 'node:crypto';
import { encodeCursor, readCursor } from '../core/cursor.ts';
import type { SkillName, TenantId } from '../core/ids.ts';
import { isSkillName } from '../core/ids.ts';
import { USAGE_DAYS } from '../core/limits.ts';
import type { Decision, LoadResult, Receipt } from '../core/records/receipt.ts';
import { DECISIONS, receiptSchema } from '../core/records/receipt.ts';
import type { Day, Usage } from '../core/records/usage.ts';
import { dayAfter, dayOf, daysBetween, isDay } from '../core/records/usage.ts';
import { receiptKey, receiptsPartition, usageKey, usagePartition } from '../core/table-keys.ts';
import type { Item, Table } from '../storage/table.ts';
import type { LoadRecord, LoadRecords, Page } from './load-records.ts';

const DAY_SECONDS = 24 * 60 * 60;
/** After every sort key. */
const LAST = '\u{10ffff}';
/** Items that are asked for at once when they are read one by one. */
const AT_ONCE = 32;

export function dynamoLoadRecords(
  table: Table,
  tenant: TenantId,
  options: { readonly receiptDays: number; readonly now: () => Date },
): LoadRecords {
  const { now, receiptDays } = options;
  const isLive = (item: Item) => Number(item['expires_at']) > now().getTime() / 1000;

  async function count(
    day: Day,
    skill: SkillName,
    amounts: Partial<Record<Decision, number>>,
  ): Promise<void> {
    const expires_at = Math.floor(Date.parse(`${day}T00:00:00Z`) / 1000) + USAGE_DAYS * DAY_SECONDS;
    await table.add(usageKey(tenant, day, skill), amounts, { expires_at });
  }

  async function* usageOfSkill(from: Day, to: Day, skill: SkillName): AsyncIterable<Item> {
    for (let day = from; day <= to; day = dayAfter(day, AT_ONCE)) {
      const days = Array.from({ length: Math.min(AT_ONCE, daysBetween(day, to)) }, (_, at) =>
        dayAfter(day, at),
      );
      const items = await Promise.all(days.map((each) => table.get(usageKey(tenant, each, skill))));
      for (const item of items) if (item !== undefined) yield item;
    }
  }

  return {
    open({ principal, session, skill }): LoadRecord {
      const begun = now();
      const time = begun.toISOString();
      const key = receiptKey(tenant, session, time, randomBytes(8).toString('hex'));
      const expires_at = Math.floor(begun.getTime() / 1000) + receiptDays * DAY_SECONDS;
      let counted: Decision | undefined;
      return {
        async write(result: LoadResult) {
          const receipt: Receipt = { tenant, principal, session_id: session, skill, ...result, time };
          const amounts: Partial<Record<Decision, number>> =
            result.skill_digest === undefined
              ? {}
              : { ...(counted === undefined ? {} : { [counted]: -1 }), [result.decision]: 1 };
          await Promise.all([
            table.put(key, { expires_at, receipt: JSON.stringify(receipt) }),
            ...(Object.keys(amounts).length === 0 ? [] : [count(dayOf(begun), skill, amounts)]),
          ]);
          if (result.skill_digest !== undefined) counted = result.decision;
        },
      };
    },

    receipts(session, { limit, cursor }) {
      const query = [tenant, 'receipts', session];
      const after = cursor === undefined ? '' : readCursor(query, cursor, isReceiptPlace);
      const items = table.query(receiptsPartition(tenant, session), {
        from: `${after}\0`,
        to: LAST,
        pageSize: limit + 1,
      });
      return pageOf(items, isLive, limit, query, (item) =>
        receiptSchema.parse(JSON.parse(String(item['receipt']))),
      );
    },

    usage({ from, to, skill }, { limit, cursor }) {
      const query = [tenant, 'usage', from, to, skill ?? null];
      const after = cursor === undefined ? undefined : readCursor(query, cursor, isUsagePlace(from, to));
      const items =
        skill === undefined
          ? table.query(usagePartition(tenant), {
              from: after === undefined ? from : `${after}\0`,
              to: `${to}${LAST}`,
              pageSize: limit + 1,
            })
          : usageOfSkill(after === undefined ? from : dayAfter(after.slice(0, 10) as Day, 1), to, skill);
      return pageOf(items, isLive, limit, query, usageOf);
    },
  };
}

const isReceiptPlace = (position: string): boolean => /^[\d:.TZ-]{24}#[0-9a-f]{16}$/.test(position);

const isUsagePlace = (from: Day, to: Day) => (position: string) => {
  const [day = '', skill = '', ...more] = position.split('#');
  return more.length === 0 && isDay(day) && day >= from && day <= to && isSkillName(skill);
};

async function pageOf<Entry>(
  items: AsyncIterable<Item>,
  isLive: (item: Item) => boolean,
  limit: number,
  query: unknown,
  entryOf: (item: Item) => Entry,
): Promise<Page<Entry>> {
  const entries: Entry[] = [];
  let last = '';
  for await (const item of items) {
    if (!isLive(item)) continue;
    // There is more than the page takes.
    if (entries.length === limit) return { entries, next_cursor: encodeCursor(query, last) };
    entries.push(entryOf(item));
    last = String(item['sk']);
  }
  return { entries };
}

function usageOf(item: Item): Usage {
  const [day, skill] = String(item['sk']).split('#') as [Day, SkillName];
  const counts = Object.fromEntries(DECISIONS.map((decision) => [decision, Number(item[decision] ?? 0)]));
  return { day, skill, ...(counts as Record<Decision, number>) };
}

import { SkillError } from '../../core/errors.ts';
import { isSkillName, sessionId, show } from '../../core/ids.ts';
import {
  DEFAULT_PAGE_SIZE,
  DEFAULT_USAGE_PERIOD_DAYS,
  MAX_PAGE_SIZE,
  MAX_USAGE_PERIOD_DAYS,
} from '../../core/limits.ts';
import type { Day } from '../../core/records/usage.ts';
import { dayAfter, dayOf, daysBetween, isDay } from '../../core/records/usage.ts';
import { integer, readQuery, text } from '../query.ts';
import { sendJson } from '../respond.ts';
import type { TenantRoute } from '../route.ts';
import * as z from '../../core/zod.ts';

const limit = z._default(integer(1, MAX_PAGE_SIZE), DEFAULT_PAGE_SIZE);
const RECEIPTS_QUERY = z.object({ session: text, limit, cursor: text });
const USAGE_QUERY = z.object({ from: text, to: text, skill: text, limit, cursor: text });

export const receiptsRoute: TenantRoute = {
  method: 'GET',
  path: '/v1/receipts',
  scope: 'policy:write',
  summary: 'What a session asked to load: which version, by whom, when, and what came of it',
  async handle(context, access) {
    const { session, limit, cursor } = readQuery(context, RECEIPTS_QUERY);
    if (session === undefined) throw refused('session', 'missing.');
    const { entries, next_cursor } = await access.records.receipts(sessionId(session), { limit, cursor });
    return sendJson(context, { receipts: entries, ...(next_cursor === undefined ? {} : { next_cursor }) });
  },
};

export const usageRoute: TenantRoute = {
  method: 'GET',
  path: '/v1/usage',
  scope: 'policy:write',
  summary: 'How often skills were loaded, by day (UTC) and skill',
  async handle(context, access) {
    const query = readQuery(context, USAGE_QUERY);
    const { limit, cursor } = query;
    const { from, to } = periodOf(query, dayOf(access.now()));
    const { skill } = query;
    if (skill !== undefined && !isSkillName(skill))
      throw refused('skill', `${show(skill)} is no skill name.`);
    const { entries, next_cursor } = await access.records.usage({ from, to, skill }, { limit, cursor });
    return sendJson(context, {
      from,
      to,
      usage: entries,
      ...(next_cursor === undefined ? {} : { next_cursor }),
    });
  },
};

/** From and to, both included: up to today unless given, the last 30 days unless given. */
function periodOf(
  given: { readonly from?: string | undefined; readonly to?: string | undefined },
  today: Day,
): { readonly from: Day; readonly to: Day } {
  const to = dayIn('to', given.to) ?? today;
  const from = dayIn('from', given.from) ?? dayAfter(to, 1 - DEFAULT_USAGE_PERIOD_DAYS);
  const length = daysBetween(from, to);
  if (length < 1) throw refused('from', `${from} is after ${to}.`);
  if (length > MAX_USAGE_PERIOD_DAYS) {
    throw refused('from', `${from} to ${to} is ${length} days; ask for ${MAX_USAGE_PERIOD_DAYS} at most.`);
  }
  return { from, to };
}

function dayIn(parameter: string, value: string | undefined): Day | undefined {
  if (value === undefined || isDay(value)) return value;
  throw refused(parameter, `${show(value)} is not a day as YYYY-MM-DD.`);
}

function refused(parameter: string, why: string): SkillError {
  return new SkillError('invalid_request', { detail: `${parameter}: ${why}`, facts: { parameter } });
}

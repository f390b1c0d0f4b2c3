import type { SkillName } from '../ids.ts';
import type { Decision } from './receipt.ts';

declare const brand: unique symbol;
/** A day in UTC, `YYYY-MM-DD`. */
export type Day = string & { readonly [brand]: 'Day' };

const DAY = /^2\d{3}-\d{2}-\d{2}$/;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A day that the calendar of this millennium has. */
export function isDay(value: string): value is Day {
  if (!DAY.test(value)) return false;
  const date = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
}

export function dayOf(date: Date): Day {
  return date.toISOString().slice(0, 10) as Day;
}

/** `days` later, or earlier when negative. */
export function dayAfter(day: Day, days: number): Day {
  return dayOf(new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS));
}

/** How many days from one to the other, both counted; below 1 when the second is earlier. */
export function daysBetween(from: Day, to: Day): number {
  return (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS + 1;
}

/** How often a skill was asked for on a day, by what came of it. */
export type Usage = { readonly day: Day; readonly skill: SkillName } & Readonly<Record<Decision, number>>;

import { SkillError } from '../core/errors.ts';

/** How long the command waits for one answer, and how it tells a person for what. */
export interface Patience {
  readonly seconds: number;
  readonly note: (text: string) => void;
}

/** A refusal that another try would only meet again. */
export class FinalError extends SkillError {}

/** So long nobody wonders. */
const UNNOTICED_MILLISECONDS = 3_000;

/**
 * Waits for `what` to answer: tells of it when it takes long, and gives up when it takes too long.
 *
 * @param work aborted by the signal with what is to be thrown
 * @throws FinalError unavailable: waiting as long again would hardly help
 */
export async function patiently<Result>(
  { seconds, note }: Patience,
  what: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const giveUp = new AbortController();
  const told = setTimeout(
    () => {
      note(`Waiting for ${what} to answer, at most ${seconds} s …`);
    },
    Math.min(UNNOTICED_MILLISECONDS, seconds * 500),
  );
  const over = setTimeout(() => {
    const detail = `${what} did not answer within ${seconds} s (SKILLBUCKET_TIMEOUT_SECONDS).`;
    giveUp.abort(new FinalError('unavailable', { detail }));
  }, seconds * 1000);
  try {
    return await work(giveUp.signal);
  } catch (error) {
    giveUp.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(told);
    clearTimeout(over);
  }
}

import type { SessionId, SkillName } from '../core/ids.ts';
import type { LoadResult, Receipt } from '../core/records/receipt.ts';
import type { Day, Usage } from '../core/records/usage.ts';

/** The port to the records of one tenant's loads. What expired is absent, whether it was deleted yet or not. */
export interface LoadRecords {
  /** Begins the record of a load; nothing is written yet. */
  open(load: {
    readonly principal: string;
    readonly session: SessionId;
    readonly skill: SkillName;
  }): LoadRecord;
  /** A session's receipts, oldest first. @throws SkillError invalid_request for a cursor of something else */
  receipts(session: SessionId, page: PageQuery): Promise<Page<Receipt>>;
  /** By day, then by skill. Both days are included. @throws SkillError invalid_request for a cursor of something else */
  usage(
    period: { readonly from: Day; readonly to: Day; readonly skill?: SkillName | undefined },
    page: PageQuery,
  ): Promise<Page<Usage>>;
}

export interface LoadRecord {
  /**
   * Writes the receipt, in place of what this load had written before, and counts it: what was counted before is taken
   * back. Loads of skills that were not found have receipts and are not counted, as their names are anybody's words.
   *
   * @throws SkillError unavailable
   */
  write(result: LoadResult): Promise<void>;
}

export interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly next_cursor?: string;
}

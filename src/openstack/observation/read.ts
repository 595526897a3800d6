import { queryText } from '../http/query.ts';
import { nextPage } from '../resource/pages.ts';
import type { PageMemory } from './page-memory.ts';
import type { Source } from './sources.ts';

/** What one look found. */
export interface Reading<T> {
  /** whether everything was looked at, so that what is not here is gone */
  readonly complete: boolean;
  /** only some were asked for, and nothing is said about the rest */
  readonly partial?: boolean;
  /** new or perhaps changed */
  readonly things: Map<string, T>;
  /** there, and as before */
  readonly unchanged: Set<string>;
  /** said to be gone */
  readonly deleted: Set<string>;
  readonly requests: number;
  /** the cloud's own time when the look began */
  readonly cloudTime: number | undefined;
}

interface Named {
  readonly id: string;
}

/** Reads a list to its end. Pages that look as they did last time are not read again. */
export async function readList<T extends Named>(
  source: Source<T>,
  list: { query: Source<T>['query']; complete: boolean; memory?: PageMemory },
  signal: AbortSignal,
): Promise<Reading<T>> {
  const { memory } = list;
  const things = new Map<string, T>();
  const unchanged = new Set<string>();
  const deleted = new Set<string>();
  let requests = 0;
  let cloudTime: number | undefined;
  let query: string | undefined = queryText({ ...list.query, limit: source.pageSize });
  memory?.rewind();
  while (query !== undefined) {
    const answer = await source.service.request({ method: 'GET', path: source.path, queryText: query, signal });
    requests++;
    cloudTime ??= timeOf(answer.headers['date']);
    const recalled = memory?.recall(answer.body);
    let next: string | undefined;
    if (recalled) {
      for (const id of recalled.ids) unchanged.add(id);
      next = recalled.next;
    } else {
      const ids: string[] = [];
      const page = answer.object();
      next = nextPage(page, source.many);
      for (const thing of answer.many(source.many, source.parse)) {
        ids.push(thing.id);
        if (source.isUnknown?.(thing) === true) unchanged.add(thing.id);
        else if (source.isDeleted?.(thing) === true) deleted.add(thing.id);
        else things.set(thing.id, thing);
      }
      memory?.remember({ body: answer.body, ids, next });
    }
    if (next === query) throw answer.unexpected('the next page is the same page again');
    query = next;
  }
  memory?.end();
  return { complete: list.complete, things, unchanged, deleted, requests, cloudTime };
}

function timeOf(header: string | undefined): number | undefined {
  const time = header === undefined ? Number.NaN : Date.parse(header);
  return Number.isNaN(time) ? undefined : time;
}

import { queryText } from '../http/query.ts';
import { nextPage } from '../resource/pages.ts';
import type { PageMemory } from './page-memory.ts';
import type { Source } from './sources.ts';

/** Result of one poll. */
export interface Reading<T> {
  /** true if everything was listed, so that missing resources are gone */
  readonly complete: boolean;
  /** true if only some resources were requested; says nothing about the others */
  readonly partial?: boolean;
  /** new or possibly changed */
  readonly things: Map<string, T>;
  /** present and unchanged */
  readonly unchanged: Set<string>;
  /** reported as deleted */
  readonly deleted: Set<string>;
  readonly requests: number;
  /** the cloud's time when the poll began */
  readonly cloudTime: number | undefined;
}

interface Named {
  readonly id: string;
}

/** Reads all pages of a list. Unchanged pages are not parsed again. */
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

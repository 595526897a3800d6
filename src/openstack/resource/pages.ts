import { isJsonObject, type JsonObject } from '../../machinery/index.ts';
import type { Answer } from '../http/answer.ts';
import { type Query, queryText } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';

export interface ListOptions extends CallOptions {
  /** requested page size; default: the cloud's own */
  readonly pageSize?: number | undefined;
}

export interface PagedList {
  readonly path: string;
  /** key of the list in a response */
  readonly many: string;
  readonly query?: Query | undefined;
  readonly microversion?: string | undefined;
}

/** Limits for a cloud whose lists never end. */
const maxPages = 1_000;
const maxBytes = 128 * 1024 * 1024;
const longestMs = 15 * 60_000;

/** Yields the pages of a list. Each is requested after the previous one has been consumed. */
export async function* pages(
  service: ServiceClient,
  list: PagedList,
  options: ListOptions = {},
): AsyncGenerator<Answer> {
  let query: string | undefined = queryText({ ...list.query, limit: options.pageSize });
  const startedMs = service.now();
  let bytes = 0;
  for (let page = 1; query !== undefined; page++) {
    const answer: Answer = await service.request({
      method: 'GET',
      path: list.path,
      queryText: query,
      signal: options.signal,
      ...(list.microversion !== undefined && { microversion: list.microversion }),
    });
    bytes += answer.body.length;
    if (page > maxPages || bytes > maxBytes || service.now() - startedMs > longestMs) {
      throw answer.unexpected(`the list does not end (${page} pages so far)`);
    }
    yield answer;
    const next = nextPage(answer.object(), list.many);
    if (next === query) throw answer.unexpected('the next page is the same page again');
    query = next;
  }
}

/**
 * Query of the next page. Only the query of the link is used, because behind gateways its scheme and host are often
 * wrong. nova, neutron, cinder and octavia put links beside the list, glance a path under `next`.
 */
export function nextPage(answer: JsonObject, many: string): string | undefined {
  const links = answer[`${many}_links`];
  let href = typeof answer['next'] === 'string' ? answer['next'] : undefined;
  if (Array.isArray(links)) {
    const next = links.find((link) => isJsonObject(link) && link['rel'] === 'next');
    if (isJsonObject(next) && typeof next['href'] === 'string') href = next['href'];
  }
  if (href === undefined) return undefined;
  const at = href.indexOf('?');
  return at < 0 ? undefined : href.slice(at);
}

/** Collects all items of an async iterable. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

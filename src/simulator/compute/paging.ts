import { firstError } from '../core/checks/schema.ts';
import type { RequestContext } from '../core/http/context.ts';
import { nextHref, pageOf } from '../core/paging.ts';
import type { Answer } from '../core/service.ts';
import { badRequest, queryMessage } from '../core/wrapped-refusals.ts';

/** nova's default maximum page size */
const maxPage = 1000;

/** Parses the `limit` of nova's lists. */
function pageLimit({ query }: RequestContext): number {
  const text = query.get('limit');
  if (text === undefined) return maxPage;
  const error = firstError({ type: 'string', pattern: '^[0-9]*$' }, text);
  if (error) throw badRequest(queryMessage(error, 'limit'));
  return Math.min(Number(text), maxPage);
}

/** Cuts sorted rows to the page of the request. */
export function pageItems<T extends { readonly id: string }>(
  context: RequestContext,
  rows: readonly T[],
  limit: number | undefined = pageLimit(context),
): { readonly items: readonly T[]; readonly isFull: boolean } {
  const marker = context.query.get('marker');
  const page = pageOf(rows, { limit, marker });
  if (!page) throw badRequest(`marker [${marker}] not found`);
  return page;
}

/** Answers a page of sorted rows, with the link to the next page. */
export function pagedList<T extends { readonly id: string }>(
  context: RequestContext,
  collection: string,
  rows: readonly T[],
  render: (row: T) => object,
): Answer {
  const { items, isFull } = pageItems(context, rows);
  const last = items.at(-1);
  const links = isFull && last && { [`${collection}_links`]: [{ rel: 'next', href: nextHref(context, last.id) }] };
  return { status: 200, body: { [collection]: items.map(render), ...links } };
}

import type { RequestContext } from '../../core/http/context.ts';
import type { ListQuery } from './list-query.ts';

export interface PageLink {
  readonly rel: 'next' | 'previous';
  readonly href: string;
}

/** Links to the adjacent pages, only if a page size was requested. */
export function pageLinks(
  context: RequestContext,
  { limit, isReverse }: Pick<ListQuery, 'limit' | 'isReverse'>,
  page: readonly { readonly id: string }[],
): PageLink[] {
  if (limit === undefined) return [];
  const isFull = page.length >= limit;
  const href = (marker: string | undefined, reverse: string | undefined): string =>
    `${context.serviceUrl}${context.path}?${context.query.with({ marker, page_reverse: reverse })}`;
  const links: PageLink[] = [];
  if (isFull || isReverse) links.push({ rel: 'next', href: href(page.at(-1)?.id, undefined) });
  if (isFull || !isReverse) links.push({ rel: 'previous', href: href(page[0]?.id, 'True') });
  return links;
}

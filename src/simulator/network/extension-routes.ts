import type { Answer, Route } from '../core/service.ts';
import { extensions } from './extension-list.ts';
import { notFoundPage } from './html-page.ts';

const views = extensions.map(([alias, name, updated]) => ({ name, alias, description: name, updated, links: [] }));
const byAlias = new Map(views.map((view) => [view.alias, view]));

/** Routes of the list of extensions, and of each extension by alias. */
export const extensionRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/v2.0/extensions',
    handle: (): Answer => ({ status: 200, body: { extensions: views } }),
  },
  {
    method: 'GET',
    path: '/v2.0/extensions/{alias}',
    handle(context): Answer {
      const alias = context.param('alias').replace(/\.json$/, '');
      const extension = byAlias.get(alias);
      if (extension) return { status: 200, body: { extension } };
      return notFoundPage(`Extension with alias ${alias} does not exist`);
    },
  },
];

import type { RequestContext } from '../core/http/context.ts';
import type { Route } from '../core/service.ts';
import { type TextsOwner, textRoutes } from '../core/texts.ts';

const verbs = { list: 'get', create: 'create', replace: 'update', show: 'get', update: 'update', delete: 'delete' };

/** Routes of the metadata of volumes and snapshots. */
export function metadataRoutes(kind: 'Volume' | 'Snapshot', access: Pick<TextsOwner, 'read' | 'write'>): Route[] {
  const name = kind.toLowerCase();
  return textRoutes({
    ...access,
    path: `/${name}s/{id}/metadata`,
    key: 'metadata',
    single: 'meta',
    isReplaceable: true,
    deleted: 200,
    policy: (operation, level) => ({ name: `volume:${verbs[operation]}_${name}_metadata`, level }),
    unknown: (context: RequestContext, key) => `${kind} ${context.param('id')} has no metadata with key ${key}.`,
  });
}

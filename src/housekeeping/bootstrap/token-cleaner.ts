import { Secrets } from '../../api/index.ts';
import { ignoreNotFound, isConflict, must } from '../../machinery/index.ts';
import { after, type ControllerDefinition, defineController, done, watchObjects } from '../../runtime/index.ts';
import { expirationOf, tokenScope } from './token-secret.ts';

/** Deletes bootstrap tokens after they expire. */
export function bootstrapTokenCleaner(): ControllerDefinition {
  return defineController({
    name: 'token-cleaner',
    for: Secrets,
    watches: [watchObjects(Secrets, { scope: tokenScope, predicates: [({ type }) => type !== 'delete'] })],
    async reconcile({ client, cache, clock, signal }, key) {
      const secret = cache.lister(Secrets, tokenScope).get(key);
      const endMs = secret && expirationOf(secret);
      if (endMs === undefined) return done();
      const leftMs = endMs - clock.now();
      if (leftMs > 0) return after(leftMs, 'the end of a bootstrap token');
      const { uid } = must(secret, 'secret').metadata;
      const preconditions = uid === undefined ? {} : { preconditions: { uid } };
      await client.delete(Secrets, key, { ...preconditions, signal }).catch((error: unknown) => {
        if (!isConflict(error)) ignoreNotFound(error);
      });
      return done();
    },
  });
}

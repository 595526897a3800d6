import { PersistentVolumes } from '../../api/index.ts';
import { isNotFound } from '../../machinery/index.ts';
import { type ControllerDefinition, defineController, done, watchObjects } from '../../runtime/index.ts';
import { markState, writeMark } from './protection-mark.ts';

const finalizer = 'kubernetes.io/pv-protection';
const fieldManager = 'pv-protection-controller';

/** Keeps volumes that are being deleted while they are bound to a claim. */
export function volumeProtection(): ControllerDefinition {
  return defineController({
    name: 'pv-protection',
    for: PersistentVolumes,
    watches: [
      watchObjects(PersistentVolumes, {
        predicates: [({ type, object }) => type !== 'delete' && markState(object, finalizer) !== 'settled'],
      }),
    ],
    async reconcile({ client, signal }, { name }) {
      // The cache may hold metadata only, so the phase is read from the server.
      const volume = await client.get(PersistentVolumes, { name }, { signal }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        return undefined;
      });
      const state = volume ? markState(volume, finalizer) : 'settled';
      if (!volume || state === 'settled') return done();
      if (state === 'held' && volume.status?.phase === 'Bound') return done();
      const write = { marked: state === 'missing', fieldManager, signal };
      await writeMark(client, PersistentVolumes, volume, finalizer, write);
      return done();
    },
  });
}

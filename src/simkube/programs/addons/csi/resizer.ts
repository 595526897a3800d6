import { type PersistentVolumeClaim, PersistentVolumeClaims, PersistentVolumes } from '../../../../api/index.ts';
import { objectKey } from '../../../../client/index.ts';
import { compareQuantities, errorMessage, quantityValue } from '../../../../machinery/index.ts';
import { type ControllerDefinition, defineController, done, foreignReason } from '../../../../runtime/index.ts';
import type { SideCarRun } from './side-car.ts';

const fieldManager = 'csi-resizer';
const gibibyte = 1024 ** 3;

/** Expands volumes whose claim requests more than their capacity. */
export function resizerControllers(run: SideCarRun): ControllerDefinition[] {
  return [
    defineController({
      name: 'csi-resizer',
      for: PersistentVolumeClaims,
      setup(cache) {
        cache.informer(PersistentVolumes);
      },
      async reconcile({ client, cache, events }, key) {
        const claim = cache.lister(PersistentVolumeClaims).get(key);
        if (!claim?.spec.volumeName || claim.status?.phase !== 'Bound') return done();
        const volume = cache.lister(PersistentVolumes).get({ name: claim.spec.volumeName });
        if (!volume || volume.spec.csi?.driver !== run.driverName) return done();
        const asked = requested(claim);
        if (compareQuantities(asked, claim.status.capacity?.['storage'] ?? '0') <= 0) return done();
        const said = `External resizer is resizing volume ${volume.metadata.name}`;
        events.event(claim, 'Normal', foreignReason('Resizing'), said);
        try {
          const bytes = await run.driver().expand(volume.spec.csi.volumeHandle, quantityValue(asked));
          const storage = `${Math.ceil(bytes / gibibyte)}Gi`;
          await client.patch(
            PersistentVolumes,
            objectKey(volume),
            'merge',
            { spec: { capacity: { storage } } },
            { fieldManager },
          );
          const status = { capacity: { storage } };
          await client.patch(PersistentVolumeClaims, key, 'merge', { status }, { fieldManager, subresource: 'status' });
          events.event(claim, 'Normal', foreignReason('VolumeResizeSuccessful'), 'Resize volume succeeded');
        } catch (error) {
          const message = `resize volume "${volume.metadata.name}" by resizer "${run.driverName}" failed: ${errorMessage(error)}`;
          if (!run.process.signal.aborted) events.event(claim, 'Warning', foreignReason('VolumeResizeFailed'), message);
          throw error;
        }
        return done();
      },
    }),
  ];
}

function requested({ spec }: PersistentVolumeClaim): string {
  return spec.resources?.requests?.['storage'] ?? '0';
}

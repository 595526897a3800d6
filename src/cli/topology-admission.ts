import { type Cluster, type ClusterClass, clusterGroup } from '../api/index.ts';
import type { AdmissionRequest, AdmissionStep } from '../apiserver/index.ts';
import type { TopologyAdmission } from '../controllers/index.ts';
import { asTyped, statusError } from '../machinery/index.ts';

/** Time that upstream's webhook waits for a class. */
export const classPatienceMs = 2_000;

/** Validation of Clusters and ClusterClasses that reads other objects, as steps of the embedded API. */
export function topologySteps(admission: () => TopologyAdmission): AdmissionStep[] {
  const judged = (
    request: AdmissionRequest,
    kind: string,
    { errors, warnings }: Awaited<ReturnType<TopologyAdmission['validateCluster']>>,
  ): void => {
    if (errors.length > 0) {
      throw statusError.invalid(clusterGroup, kind, request.object?.metadata.name ?? '', errors);
    }
    for (const warning of warnings) request.caller.warn(warning);
  };
  const writes = ['CREATE', 'UPDATE'] as const;
  const isWhole = ({ subresource }: AdmissionRequest): boolean => subresource === undefined;
  return [
    {
      name: 'ClusterTopology',
      concerns: ({ group, plural }) => group === clusterGroup && plural === 'clusters',
      operations: writes,
      appliesTo: isWhole,
      async mutate({ object, oldObject }) {
        if (!object) return;
        await admission().defaultCluster(asTyped<Cluster>(object), oldObject && asTyped<Cluster>(oldObject));
      },
      async validate(request) {
        const { object, oldObject } = request;
        if (!object) return;
        const old = oldObject && asTyped<Cluster>(oldObject);
        judged(request, 'Cluster', await admission().validateCluster(asTyped<Cluster>(object), old));
      },
    },
    {
      name: 'ClusterClassInUse',
      concerns: ({ group, plural }) => group === clusterGroup && plural === 'clusterclasses',
      operations: [...writes, 'DELETE'],
      appliesTo: isWhole,
      async validate(request) {
        const { object, oldObject, operation, target } = request;
        const old = oldObject && asTyped<ClusterClass>(oldObject);
        if (operation !== 'DELETE') {
          if (object)
            judged(request, 'ClusterClass', await admission().validateClass(asTyped<ClusterClass>(object), old));
          return;
        }
        const why = old && (await admission().keepsClass(old));
        if (why === undefined) return;
        throw statusError.forbidden(
          { group: clusterGroup, resource: target.resource.definition.plural, name: old?.metadata.name ?? '' },
          why,
        );
      },
    },
  ];
}

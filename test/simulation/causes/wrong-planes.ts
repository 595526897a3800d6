import {
  Gateways,
  K0smotronControlPlanes,
  KamajiControlPlanes,
  OpenStackMachineTemplates,
  StorageClasses,
} from '../../../src/api/index.ts';
import type { KubeObject } from '../../../src/machinery/index.ts';
import type { HostedKind } from '../hosted-manifests.ts';
import { by, type System } from '../system.ts';
import { type CausedFault, wrongSpec } from './fault.ts';

/** A fault of a control plane in Pods. */
export interface PlaneFault extends Omit<CausedFault, 'cluster' | 'strike'> {
  readonly kind: HostedKind;
}

const inPlane = /^(?:K0smotron|Kamaji|Hosted)ControlPlane\/\*$/;
const imageCure = /another registry/;
const etcdImage = (image: string) => wrongSpec(K0smotronControlPlanes, { storage: { etcd: { image } } });

let classes: readonly KubeObject[] = [];

/** Faults of control planes in Pods, one after the other in the same world. */
export const wrongPlanes: readonly PlaneFault[] = [
  {
    what: 'an image does not exist',
    kind: 'k0smotron',
    manifests: etcdImage('quay.io/k0sproject/etcd:v9.9.9'),
    says: { object: inPlane, message: /ImagePullBackOff.*etcd:v9\.9\.9: not found/, next: imageCure },
  },
  {
    what: 'a registry limits pulls',
    kind: 'k0smotron',
    manifests: etcdImage('rate-limited.invalid/k0sproject/etcd:v3.5.13'),
    says: { object: inPlane, message: /429 Too Many Requests/, next: imageCure },
  },
  {
    what: 'a registry does not exist',
    kind: 'k0smotron',
    manifests: etcdImage('registry.invalid/k0sproject/etcd:v3.5.13'),
    says: { object: inPlane, message: /ImagePullBackOff.*no such host/, next: imageCure },
  },
  {
    what: 'there is no default StorageClass',
    kind: 'k0smotron',
    async before({ client }: System) {
      classes = (await client.list(StorageClasses, {})).items;
      for (const { metadata } of classes) await client.delete(StorageClasses, { name: metadata.name ?? '' });
    },
    async after({ client }: System) {
      for (const { metadata, ...rest } of classes) {
        const { name, annotations } = metadata;
        await client.create(StorageClasses, { ...rest, metadata: { name, annotations } } as never, by);
      }
    },
    says: { object: inPlane, message: /PersistentVolumeClaim|StorageClass/, next: /default StorageClass/ },
  },
  {
    what: 'the DataStore does not exist',
    kind: 'kamaji',
    manifests: wrongSpec(KamajiControlPlanes, { dataStoreName: 'no-such-store' }),
    says: { object: inPlane, message: /no-such-store/, next: /make it, or leave the field out/ },
  },
  {
    what: 'the Gateway does not exist',
    kind: 'hosted',
    manifests: (manifests) => manifests.filter(({ resource }) => resource !== Gateways),
    says: { object: inPlane, message: /Gateway default\/planes does not exist/, next: /create the Gateway/ },
  },
  {
    what: 'the image of the workers does not exist',
    kind: 'kamaji',
    manifests: wrongSpec(OpenStackMachineTemplates, {
      template: { spec: { image: { filter: { name: 'no-worker' } } } },
    }),
    says: { object: /^OpenStackMachine\/\*-md-0/, message: /no-worker/, next: /correct the name/ },
  },
];

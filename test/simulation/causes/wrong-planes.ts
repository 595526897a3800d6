import {
  Gateways,
  HostedControlPlanes,
  K0smotronControlPlanes,
  KamajiControlPlanes,
  OpenStackMachineTemplates,
  StorageClasses,
} from '../../../src/api/index.ts';
import type { KubeObject } from '../../../src/machinery/index.ts';
import { by, type System } from '../system.ts';
import type { HostedKind } from '../hosted-manifests.ts';
import { type CausedFault, wrongSpec } from './fault.ts';

/** What goes wrong with a control plane in Pods. */
export interface PlaneFault extends Omit<CausedFault, 'cluster' | 'strike'> {
  readonly kind: HostedKind;
}

const inPlane = /^(?:K0smotron|Kamaji|Hosted)ControlPlane\/\*$/;
const imageCure = /another registry/;
const etcdImage = (image: string) =>
  wrongSpec(K0smotronControlPlanes, { storage: { etcd: { image } } });

let classes: readonly KubeObject[] = [];

/** Faults of control planes in Pods, one after the other in one world. */
export const wrongPlanes: readonly PlaneFault[] = [
  {
    what: 'an image has two tags',
    kind: 'k0smotron',
    manifests: wrongSpec(K0smotronControlPlanes, { image: 'ghcr.io/k0sproject/k0s:v1.33.6-k0s.0:v1' }),
    says: { object: inPlane, message: /InvalidImageName|invalid reference format/, next: /one tag/ },
  },
  {
    what: 'a registry limits pulls',
    kind: 'k0smotron',
    manifests: etcdImage('rate-limited.invalid/k0sproject/etcd:v3.5.13'),
    says: { object: inPlane, message: /429 Too Many Requests|toomanyrequests|ImagePullBackOff/, next: imageCure },
  },
  {
    what: 'a registry does not exist',
    kind: 'hosted',
    manifests: wrongSpec(HostedControlPlanes, { deployment: { apiServer: { image: 'registry.invalid/kube-apiserver:v1.33.6' } } }),
    says: { object: inPlane, message: /no such host|ImagePullBackOff/, next: imageCure },
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
    says: { object: inPlane, message: /no-such-store/, next: /./ },
  },
  {
    what: 'the Gateway does not exist',
    kind: 'hosted',
    manifests: (manifests) => manifests.filter(({ resource }) => resource !== Gateways),
    says: { object: inPlane, message: /planes/, next: /./ },
  },
  {
    what: 'the image of the workers does not exist',
    kind: 'kamaji',
    manifests: wrongSpec(OpenStackMachineTemplates, { template: { spec: { image: { filter: { name: 'no-worker' } } } } }),
    says: { object: /^OpenStackMachine\/\*-md-0/, message: /no-worker/, next: /correct the name/ },
  },
];

import type { KubeObject, Resource, ResourceDefinition } from '../../machinery/index.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';

export interface ServiceAccount extends KubeObject {
  secrets?: { name?: string }[];
  imagePullSecrets?: { name?: string }[];
  automountServiceAccountToken?: boolean;
}

const enforceMountableSecrets = 'kubernetes.io/enforce-mountable-secrets';

export const serviceAccountDefinition: ResourceDefinition = defineBuiltin<ServiceAccount>({
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  shortNames: ['sa'],
  namespaced: true,
  component: 'io.k8s.api.core.v1.ServiceAccount',
  subresources: [
    { name: 'token', verbs: ['create'], group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
  ],
  noGeneration: true,
  columns: [nameColumn, column('Secrets'), ageColumn],
  row: (object, nowMs) => [object.metadata.name ?? '', (object.secrets ?? []).length, age(object, nowMs)],
  warnings(account, old) {
    const isNew = account.metadata.annotations?.[enforceMountableSecrets] !== undefined;
    if (!isNew || old?.metadata.annotations?.[enforceMountableSecrets] !== undefined) return [];
    return [
      `metadata.annotations[${enforceMountableSecrets}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
    ];
  },
});

export const ServiceAccounts: Resource<ServiceAccount> = resourceOf<ServiceAccount>(serviceAccountDefinition);

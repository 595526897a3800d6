import { firstMinorWithPolicies, parseKubernetesVersion } from '../../api/index.ts';
import type { JsonObject, KubeObject } from '../../machinery/index.ts';
import type { WorkloadObject } from '../result.ts';
import type { PlaneSpec, WriteLimits } from '../spec.ts';

const group = 'admissionregistration.k8s.io';
const apiVersion = `${group}/v1`;
const everything = 'kamaji-write-permissions';
const leases = 'kamaji-write-permissions-leases';
const labels = { 'kamaji.clastix.io/project': 'kamaji' };
/** exempt, because their objects keep running nodes alive */
const spared = ['kube-system', 'kube-node-lease'];

/** Tells whether a Kubernetes version supports the limits. */
export function takesWriteLimits(version: string): boolean {
  return (parseKubernetesVersion(version)?.minor ?? 0) >= firstMinorWithPolicies;
}

/**
 * ValidatingAdmissionPolicies that refuse writes. Existing nodes continue; new ones cannot join, because their leases
 * cannot be created. `system:masters` is exempt.
 */
export function writeLimitObjects({ writeLimits, version, identity, naming }: PlaneSpec): WorkloadObject[] {
  if (!writeLimits || !takesWriteLimits(version)) return [];
  const operations = operationsOf(writeLimits);
  const ofLeases = operations.filter((operation) => operation !== 'UPDATE');
  const message = `refused by spec.writePermissions of TenantControlPlane ${identity.namespace}/${naming.controlPlane}`;
  return [
    ...limit({
      name: everything,
      message,
      operations,
      what: { apiGroups: ['*'], resources: ['*'] },
      operator: 'NotIn',
      namespaces: spared,
    }),
    ...limit({
      name: leases,
      message,
      operations: ofLeases,
      what: { apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
      operator: 'In',
      namespaces: ['kube-node-lease'],
    }),
  ];
}

function operationsOf({ blocksCreation, blocksUpdate, blocksDeletion }: WriteLimits): string[] {
  return [
    ...(blocksCreation ? ['CREATE'] : []),
    ...(blocksUpdate ? ['UPDATE'] : []),
    ...(blocksDeletion ? ['DELETE'] : []),
  ];
}

interface Limit {
  readonly name: string;
  readonly message: string;
  readonly operations: readonly string[];
  readonly what: { apiGroups: string[]; resources: string[] };
  readonly operator: 'In' | 'NotIn';
  readonly namespaces: readonly string[];
}

function limit({ name, message, operations, what, operator, namespaces }: Limit): WorkloadObject[] {
  const policy = objectOf('ValidatingAdmissionPolicy', name, {
    failurePolicy: 'Fail',
    matchConstraints: {
      namespaceSelector: {
        matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator, values: [...namespaces] }],
      },
      resourceRules: [{ ...what, apiVersions: ['*'], operations: [...operations], scope: '*' }],
    },
    matchConditions: [{ name: 'not-of-masters', expression: "!('system:masters' in request.userInfo.groups)" }],
    validations: [{ expression: 'false', message, reason: 'Forbidden' }],
  });
  const binding = objectOf('ValidatingAdmissionPolicyBinding', name, { policyName: name, validationActions: ['Deny'] });
  if (operations.length > 0) return [policy, binding].map((object) => ({ object, mode: 'own' }));
  return [binding, policy].map(({ spec: _, ...object }) => ({ object: object as KubeObject, mode: 'gone' }));
}

const objectOf = (kind: string, name: string, spec: JsonObject): KubeObject & { spec: JsonObject } => ({
  apiVersion,
  kind,
  metadata: { name, labels },
  spec,
});

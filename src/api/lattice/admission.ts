import {
  checkCidr,
  checkDns1035Label,
  checkIp,
  checkLabelValue,
  checkQualifiedName,
  deepEqual,
  type FieldError,
  fieldError,
  isJsonObject,
  parseKubernetesVersion,
  type ResourceStrategy,
  validateLabels,
  withLeadingV,
} from '../../machinery/index.ts';
import { cidrsOverlap } from '../common/cidr.ts';
import { validateHost } from '../common/plane-validation.ts';
import { validateChangedSpec } from '../kind/strategy.ts';
import { nodeLabelWay } from './node-labels.ts';
import { latticeDefaults, latticePoolName } from './settings.ts';
import type {
  LatticeCluster,
  LatticeClusterSpec,
  LatticeOpenStackConfig,
  LatticeSecretReference,
  LatticeWorkerPool,
} from './types.ts';

const config = 'spec.provider.config';
const providers = ['openstack', 'docker', 'proxmox', 'aws'] as const;
/** Names of Machines become host names and are about a dozen characters longer than the pool name. */
const maxPoolName = 50;

/** Validates without access to the cloud. */
export const latticeClusterStrategy: ResourceStrategy<LatticeCluster> = {
  applyDefaults(draft) {
    if (draft.spec?.providerRef !== undefined && draft.spec.providerRef !== '') return;
    const given = givenProviders(draft.spec);
    if (given[0] !== undefined && given.length === 1) draft.spec.providerRef = given[0];
  },
  ...validateChangedSpec<LatticeCluster>((object, old) => [
    ...validateCluster(object),
    ...(old === undefined ? [] : fixedFields(object.spec, old.spec)),
  ]),
  warnings: ({ spec }) => (spec === undefined ? [] : notActedOn(spec)),
  validateName: (name) => {
    const problems = checkDns1035Label(name);
    if (`${name}-pool-`.length >= maxPoolName) {
      problems.push(
        `must be no more than ${maxPoolName - '-pool-'.length - 1} characters: machines are named after it`,
      );
    }
    return problems;
  },
};

function givenProviders(spec: LatticeClusterSpec | undefined): (typeof providers)[number][] {
  return providers.filter((name) => spec?.provider?.config?.[name] !== undefined);
}

function validateCluster({ metadata: { name = '' }, spec }: LatticeCluster): FieldError[] {
  // The schema already reports missing fields.
  if (spec?.provider?.config === undefined || spec.provider.kubernetes === undefined || spec.nodes === undefined) {
    return [];
  }
  const given = givenProviders(spec);
  const errors = [...validateKubernetes(spec), ...validateNodes(spec, name), ...validateParent(spec)];
  if (given.length === 0) errors.push(fieldError.required(config, 'name a provider, such as openstack'));
  if (given.length > 1) {
    errors.push(fieldError.invalid(config, given.join(', '), 'must have exactly one provider; remove the others'));
  }
  const { openstack } = spec.provider.config;
  if (openstack !== undefined) errors.push(...validateOpenStack(spec, openstack));
  for (const field of ['environment', 'region'] as const) {
    for (const problem of checkLabelValue(spec[field])) {
      errors.push(fieldError.invalid(`spec.${field}`, spec[field], `becomes a label: ${problem}`));
    }
  }
  return errors;
}

function validateKubernetes({ provider: { kubernetes } }: LatticeClusterSpec): FieldError[] {
  const path = 'spec.provider.kubernetes';
  const { version, bootstrap, certSANs = [] } = kubernetes;
  const errors: FieldError[] = [];
  if (!/^v?1\./.test(version) || parseKubernetesVersion(withLeadingV(version)) === undefined) {
    const problem = 'must start with 1. or v1. and have a patch release, such as 1.32.0';
    errors.push(fieldError.invalid(`${path}.version`, version, problem));
  } else if (version.includes('+') && bootstrap !== 'rke2') {
    errors.push(fieldError.invalid(`${path}.version`, version, 'must have nothing after a + unless bootstrap is rke2'));
  }
  for (const [i, san] of certSANs.entries()) errors.push(...validateHost(san, `${path}.certSANs[${i}]`));
  return errors;
}

function validateNodes({ nodes, provider }: LatticeClusterSpec, cluster: string): FieldError[] {
  const path = 'spec.nodes';
  const errors = validateControlPlane(nodes.controlPlane as unknown);
  for (const [id, pool] of Object.entries(nodes.workerPools ?? {})) {
    const at = `${path}.workerPools[${id}]`;
    if (!/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(id)) {
      const problem = 'must be lower case letters, digits and dashes, and start with a letter';
      errors.push(fieldError.invalid(at, id, problem));
    } else if (latticePoolName(cluster, id).length > maxPoolName) {
      const problem = `${latticePoolName(cluster, id)} must be no more than ${maxPoolName} characters: machines are named after it`;
      errors.push(fieldError.invalid(at, id, problem));
    }
    errors.push(...validatePool(pool, at));
    if (provider.config.openstack && !pool.instanceType && !provider.config.openstack.workerFlavor) {
      errors.push(
        fieldError.required(`${config}.openstack.workerFlavor`, `or ${at}.instanceType.name: the pool needs a flavor`),
      );
    }
  }
  return errors;
}

function validateControlPlane(value: unknown): FieldError[] {
  const path = 'spec.nodes.controlPlane';
  if (typeof value === 'number') return validateReplicas(value, path);
  if (!isJsonObject(value)) {
    return [fieldError.invalid(path, value, 'must be a number, or an object with replicas')];
  }
  const errors: FieldError[] = [];
  const { replicas, instanceType, rootVolume } = value;
  const known = ['replicas', 'instanceType', 'rootVolume'];
  for (const key of Object.keys(value)) {
    if (!known.includes(key))
      errors.push(fieldError.invalid(`${path}.${key}`, key, `must be one of ${known.join(', ')}`));
  }
  if (typeof replicas === 'number') errors.push(...validateReplicas(replicas, `${path}.replicas`));
  else errors.push(fieldError.required(`${path}.replicas`, 'the number of control plane machines'));
  if (instanceType !== undefined && !(isJsonObject(instanceType) && isText(instanceType['name']))) {
    errors.push(fieldError.required(`${path}.instanceType.name`, 'the name of the flavor'));
  }
  if (rootVolume !== undefined) {
    const { sizeGb, type } = isJsonObject(rootVolume) ? rootVolume : {};
    if (typeof sizeGb !== 'number' || !Number.isInteger(sizeGb) || sizeGb < 1) {
      errors.push(fieldError.invalid(`${path}.rootVolume.sizeGb`, sizeGb, 'must be the size in GiB, at least 1'));
    }
    if (type !== undefined && !isText(type)) {
      errors.push(fieldError.invalid(`${path}.rootVolume.type`, type, 'must be the name of a volume type'));
    }
  }
  return errors;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function validateReplicas(replicas: number, path: string): FieldError[] {
  if (!Number.isInteger(replicas) || replicas < 1) {
    return [fieldError.invalid(path, replicas, 'must be 1 or an odd number')];
  }
  if (replicas % 2 === 1) return [];
  const cure = `write ${replicas - 1} or ${replicas + 1}`;
  return [fieldError.invalid(path, replicas, `must be odd: etcd gains nothing from an even number; ${cure}`)];
}

function validatePool({ min, max, labels, taints = [] }: LatticeWorkerPool, path: string): FieldError[] {
  const errors = validateLabels(labels, `${path}.labels`);
  for (const key of Object.keys(labels ?? {})) {
    if (nodeLabelWay(key) !== undefined) continue;
    const problem = 'kubelets may not set it; use a domain of your own, node.kubernetes.io or node-role.kubernetes.io';
    errors.push(fieldError.invalid(`${path}.labels`, key, problem));
  }
  if ((min === undefined) !== (max === undefined)) {
    const missing = min === undefined ? 'min' : 'max';
    errors.push(fieldError.required(`${path}.${missing}`, 'min and max are given both or neither'));
  }
  if (min !== undefined && max !== undefined && !(min >= 1 && min <= max)) {
    errors.push(fieldError.invalid(`${path}.min`, min, `must be at least 1 and at most max, which is ${max}`));
  }
  for (const [i, { key, value = '' }] of taints.entries()) {
    for (const problem of checkQualifiedName(key)) {
      errors.push(fieldError.invalid(`${path}.taints[${i}].key`, key, problem));
    }
    for (const problem of checkLabelValue(value)) {
      errors.push(fieldError.invalid(`${path}.taints[${i}].value`, value, problem));
    }
  }
  return errors;
}

function validateParent({ endpoints, parentConfig }: LatticeClusterSpec): FieldError[] {
  const errors = [
    ...validateHost(endpoints?.host, 'spec.endpoints.host'),
    ...validateHost(parentConfig?.host, 'spec.parentConfig.host'),
  ];
  if (endpoints && parentConfig && !deepEqual(endpoints, parentConfig)) {
    const problem = 'means the same as spec.parentConfig and says something else; remove one of them';
    errors.push(fieldError.invalid('spec.endpoints', JSON.stringify(endpoints), problem));
  }
  for (const [path, given] of Object.entries({ 'spec.endpoints': endpoints, 'spec.parentConfig': parentConfig })) {
    if (given?.grpcPort === undefined || given.grpcPort !== given.bootstrapPort) continue;
    errors.push(fieldError.invalid(`${path}.grpcPort`, given.grpcPort, 'must not be bootstrapPort'));
  }
  return errors;
}

function validateOpenStack(spec: LatticeClusterSpec, openstack: LatticeOpenStackConfig): FieldError[] {
  const path = `${config}.openstack`;
  const errors = [...validateNetwork(openstack, path), ...validateSecrets(spec, openstack)];
  const plane: unknown = spec.nodes.controlPlane;
  const hasFlavor = isJsonObject(plane) && plane['instanceType'] !== undefined;
  if (!openstack.cpFlavor && !hasFlavor) {
    errors.push(
      fieldError.required(`${path}.cpFlavor`, 'or spec.nodes.controlPlane.instanceType.name: the flavor of machines'),
    );
  }
  for (const role of ['cp', 'worker'] as const) {
    if (openstack[`${role}RootVolumeType`] !== undefined && openstack[`${role}RootVolumeSizeGb`] === undefined) {
      errors.push(
        fieldError.required(`${path}.${role}RootVolumeSizeGb`, `${role}RootVolumeType is of a volume: say its size`),
      );
    }
  }
  if (openstack.managedSecurityGroups === false && openstack.allowAllInClusterTraffic === true) {
    const problem = 'needs managedSecurityGroups: there are no groups to allow it in';
    errors.push(fieldError.invalid(`${path}.allowAllInClusterTraffic`, true, problem));
  }
  return errors;
}

function validateNetwork(openstack: LatticeOpenStackConfig, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { externalNetworkId, externalNetwork, nodeCidr, dnsNameservers = [] } = openstack;
  if (!externalNetworkId && !externalNetwork) {
    const cure = 'the id of the network that floating IPs are from (capstan get networks --external)';
    errors.push(fieldError.required(`${path}.externalNetworkId`, cure));
  }
  if (externalNetworkId && externalNetwork && externalNetworkId !== externalNetwork) {
    const problem = 'means the same as externalNetworkId and says something else; remove one of them';
    errors.push(fieldError.invalid(`${path}.externalNetwork`, externalNetwork, problem));
  }
  if (nodeCidr !== undefined) {
    const problems = checkCidr(nodeCidr);
    for (const problem of problems) errors.push(fieldError.invalid(`${path}.nodeCidr`, nodeCidr, problem));
    for (const [whose, taken] of [
      ['Pods', latticeDefaults.podCidr],
      ['Services', latticeDefaults.serviceCidr],
    ] as const) {
      if (problems.length === 0 && cidrsOverlap(nodeCidr, taken)) {
        const problem = `must not overlap with ${taken}, the addresses of ${whose}`;
        errors.push(fieldError.invalid(`${path}.nodeCidr`, nodeCidr, problem));
      }
    }
  }
  for (const [i, address] of dnsNameservers.entries()) {
    for (const problem of checkIp(address)) {
      errors.push(fieldError.invalid(`${path}.dnsNameservers[${i}]`, address, problem));
    }
  }
  return errors;
}

function validateSecrets(spec: LatticeClusterSpec, { secretRef }: LatticeOpenStackConfig): FieldError[] {
  const { credentialsSecretRef } = spec.provider;
  if (!secretRef || !credentialsSecretRef || sameSecret(secretRef, credentialsSecretRef)) return [];
  const problem = `means the same as ${config}.openstack.secretRef and says something else; remove one of them`;
  return [fieldError.invalid('spec.provider.credentialsSecretRef', JSON.stringify(credentialsSecretRef), problem)];
}

const sameSecret = (a: LatticeSecretReference, b: LatticeSecretReference): boolean =>
  a.name === b.name && a.namespace === b.namespace;

/** Checks the fields that a running cluster cannot change. */
function fixedFields(spec: LatticeClusterSpec, old: LatticeClusterSpec): FieldError[] {
  if (spec?.provider?.config === undefined || old?.provider?.config === undefined) return [];
  const errors: FieldError[] = [];
  const check = (path: string, value: unknown, before: unknown): void => {
    if (deepEqual(value, before)) return;
    errors.push(fieldError.invalid(path, value, `field is immutable; it was ${JSON.stringify(before) ?? 'absent'}`));
  };
  const { provider } = spec;
  check('spec.provider.kubernetes.bootstrap', provider.kubernetes?.bootstrap, old.provider.kubernetes?.bootstrap);
  check(config, givenProviders(spec).join(), givenProviders(old).join());
  const [now, before] = [provider.config.openstack, old.provider.config.openstack];
  if (!now || !before) return errors;
  check(`${config}.openstack.nodeCidr`, now.nodeCidr, before.nodeCidr);
  const network = ({ externalNetworkId, externalNetwork }: LatticeOpenStackConfig): string | undefined =>
    externalNetworkId ?? externalNetwork;
  check(`${config}.openstack.externalNetworkId`, network(now), network(before));
  return errors;
}

function notActedOn(spec: LatticeClusterSpec): string[] {
  const warnings: string[] = [];
  const [provider] = givenProviders(spec);
  if (provider !== undefined && provider !== 'openstack') {
    warnings.push(`${config}.${provider}: no controller acts on it; only openstack makes a cluster`);
  }
  if ((spec.workload?.services ?? []).length > 0) warnings.push('spec.workload.services: no controller acts on it');
  if (spec.networking?.default?.cidr !== undefined) {
    warnings.push('spec.networking.default.cidr: not acted on; load balancers are of Octavia');
  }
  for (const [id, { nodeClass }] of Object.entries(spec.nodes?.workerPools ?? {})) {
    if (nodeClass) {
      warnings.push(
        `spec.nodes.workerPools[${id}].nodeClass: not acted on; write instanceType.name for another flavor`,
      );
    }
  }
  return warnings;
}

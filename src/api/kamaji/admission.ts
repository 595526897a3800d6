import {
  cidrFamily,
  type FieldError,
  fieldError,
  ipFamily,
  ipToBigInt,
  type ResourceStrategy,
} from '../../machinery/index.ts';
import { parseKubernetesVersion, withLeadingV } from '../cluster/version.ts';
import {
  validateAddresses,
  validateHost,
  validateNotNegative,
  validatePlaneVersionChange,
  validatePort,
  validateSans,
} from '../common/plane-validation.ts';
import { validateChangedSpec } from '../kind/strategy.ts';
import type { DataStore, TenantControlPlane, TenantNetworkProfile } from './types.ts';

/** Parses Kubernetes versions with or without the leading v. */
export function parseLenientVersion(text: string | undefined): ReturnType<typeof parseKubernetesVersion> {
  return text === undefined ? undefined : parseKubernetesVersion(withLeadingV(text));
}

export function validateKubernetesVersion(version: string | undefined, path: string): FieldError[] {
  // The schema already reports missing fields.
  if (version === undefined || parseLenientVersion(version) !== undefined) return [];
  return [fieldError.invalid(path, version, 'must be a valid semantic version, e.g. v1.33.1')];
}

/** First 1.x minor of Kubernetes with generally available admission policies. */
export const firstMinorWithPolicies = 30;

export const tenantControlPlaneStrategy: ResourceStrategy<TenantControlPlane> = {
  ...validateChangedSpec<TenantControlPlane>((object, old) => validateTenant(object, old)),
  warnings(object) {
    const { spec } = object;
    const { blockCreation, blockUpdate, blockDeletion } = spec?.writePermissions ?? {};
    const minor = parseLenientVersion(spec?.kubernetes?.version)?.minor ?? 0;
    return (blockCreation || blockUpdate || blockDeletion) && minor < firstMinorWithPolicies
      ? [`spec.writePermissions: is not enforced before v1.${firstMinorWithPolicies}, which has admission policies`]
      : [];
  },
};

function validateTenant({ spec }: TenantControlPlane, old: TenantControlPlane | undefined): FieldError[] {
  if (spec?.kubernetes === undefined || spec.controlPlane === undefined) return [];
  const { version } = spec.kubernetes;
  const { controlPlane, networkProfile = {} } = spec;
  const versionPath = 'spec.kubernetes.version';
  const isNodePort = controlPlane.service?.serviceType === 'NodePort';
  return [
    ...validateKubernetesVersion(version, versionPath),
    ...(old?.spec === undefined
      ? []
      : validatePlaneVersionChange(
          {
            wanted: parseLenientVersion(version),
            before: parseLenientVersion(old.spec.kubernetes?.version),
            running: parseLenientVersion(old.status?.kubernetesResources?.version?.version),
          },
          versionPath,
        )),
    ...validateDataStore(spec.dataStore, old),
    ...validateNotNegative(controlPlane.deployment?.replicas, 'spec.controlPlane.deployment.replicas'),
    ...validateNetwork(networkProfile, isNodePort),
    ...validateHost(controlPlane.ingress?.hostname?.replace(/:[0-9]+$/, ''), 'spec.controlPlane.ingress.hostname'),
    ...validatePort(spec.addons?.konnectivity?.server?.port, 'spec.addons.konnectivity.server.port'),
  ];
}

/** A change of the datastore would not migrate the data. */
function validateDataStore(name: string | undefined, old: TenantControlPlane | undefined): FieldError[] {
  const used = old?.status?.storage?.dataStoreName;
  if (used === undefined || name === undefined || name === used) return [];
  const problem = `cannot be changed from ${used}: the data would stay there; make a new control plane from a backup instead`;
  return [fieldError.forbidden('spec.dataStore', problem)];
}

const nodePorts = { first: 30000, last: 32767 };

function validateNetwork(network: TenantNetworkProfile, isNodePort: boolean): FieldError[] {
  const path = 'spec.networkProfile';
  const errors = [
    ...validateHost(network.address, `${path}.address`),
    ...validateSans(network.certSANs, `${path}.certSANs`),
    ...validatePort(network.port, `${path}.port`),
    ...validateAddresses(network.dnsServiceIPs, `${path}.dnsServiceIPs`),
  ];
  if (errors.length > 0) return errors;
  const ranges = network.serviceCidrs ?? [network.serviceCidr ?? '10.96.0.0/16'];
  for (const [i, address] of (network.dnsServiceIPs ?? []).entries()) {
    if (ranges.some((range) => contains(range, address))) continue;
    const problem = `must lie in a service range: ${ranges.join(', ')}`;
    errors.push(fieldError.invalid(`${path}.dnsServiceIPs[${i}]`, address, problem));
  }
  if (!isNodePort) return errors;
  const { port = 6443, address } = network;
  if (address === undefined || address === '') {
    errors.push(fieldError.required(`${path}.address`, 'with a Service of type NodePort, an address of the nodes'));
  }
  if (port < nodePorts.first || port > nodePorts.last) {
    const problem = `must be a node port with a Service of type NodePort: ${nodePorts.first} to ${nodePorts.last}`;
    errors.push(fieldError.invalid(`${path}.port`, port, problem));
  }
  return errors;
}

function contains(range: string, address: string): boolean {
  const family = cidrFamily(range);
  if (family === undefined || family !== ipFamily(address)) return false;
  const [base = '', length = '0'] = range.split('/');
  const shift = BigInt((family === 'IPv4' ? 32 : 128) - Number(length));
  return ipToBigInt(base) >> shift === ipToBigInt(address) >> shift;
}

const endpointPattern = /^(\[[0-9a-fA-F:]+\]|[^:/\s]+):([0-9]{1,5})$/;

export const dataStoreStrategy: ResourceStrategy<DataStore> = {
  ...validateChangedSpec<DataStore>((object) => {
    const { spec } = object;
    return (spec?.endpoints ?? []).flatMap((endpoint, i) => {
      const path = `spec.endpoints[${i}]`;
      const match = endpointPattern.exec(endpoint);
      if (match === null) {
        return [fieldError.invalid(path, endpoint, 'must be host:port, without scheme or path')];
      }
      return [...validatePort(Number(match[2]), path), ...validateHost((match[1] ?? '').replace(/^\[|\]$/g, ''), path)];
    });
  }),
};

import { compareKubernetesVersions, parseK0sVersion } from '../../api/index.ts';
import { clone, isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';
import { splitCertificates } from '../../pki/index.ts';
import { uniqueHosts } from '../certificates/hosts.ts';
import { planeEndpoint, serviceNames } from '../endpoint.ts';
import { etcdClientPort } from '../etcd/members.ts';
import type { PlaneFacts } from '../facts.ts';
import type { PlaneSpec } from '../spec.ts';
import { isRetired } from './retired-flags.ts';

export const k0sPki = '/var/lib/k0s/pki';

/** Placeholder for the database address, which only the Pod knows. */
export const kinePlaceholder = '__K0SMOTRON_KINE_DATASOURCE_URL_PLACEHOLDER__';

/** First k0s version that accepts a port in the konnectivity address. */
const konnectivityPortSince = { major: 1, minor: 35, patch: 1, suffix: '' };

/** Merges the user's ClusterConfig with the settings that a hosted plane requires. */
export function k0sConfig(desired: PlaneSpec, facts: PlaneFacts): JsonObject {
  const config = clone(desired.k0s?.config ?? {}) as JsonObject;
  config['apiVersion'] = 'k0s.k0sproject.io/v1beta1';
  config['kind'] = 'ClusterConfig';
  config['metadata'] = { name: 'k0s', ...objectAt(config, 'metadata') };
  const spec = objectAt(config, 'spec');
  config['spec'] = spec;
  spec['api'] = apiSection(desired, facts, objectAt(spec, 'api'), spec);
  spec['konnectivity'] = { ...objectAt(spec, 'konnectivity'), ...konnectivitySection(desired) };
  spec['storage'] = storageSection(desired);
  spec['network'] = networkSection(desired, objectAt(spec, 'network'));
  if (isRotating(facts)) {
    const manager = objectAt(spec, 'controllerManager');
    spec['controllerManager'] = {
      ...manager,
      extraArgs: { ...objectAt(manager, 'extraArgs'), 'root-ca-file': `${k0sPki}/ca-bundle.crt` },
    };
  }
  return config;
}

/** Configuration for dynamic config: everything but node-specific settings of a controller. */
export function k0sDynamicConfig(desired: PlaneSpec, facts: PlaneFacts): JsonObject {
  const config = k0sConfig(desired, facts);
  const spec = objectAt(config, 'spec');
  delete spec['storage'];
  const network = objectAt(spec, 'network');
  delete network['controlPlaneLoadBalancing'];
  return { ...config, metadata: { name: 'k0s', namespace: 'kube-system' }, spec };
}

/** Selects settings that k0s reads only at startup: changes must restart the Pods, all others must not. */
export function k0sStartConfig(config: JsonObject): JsonObject {
  const spec = objectAt(config, 'spec');
  return {
    api: spec['api'] ?? null,
    storage: spec['storage'] ?? null,
    konnectivity: spec['konnectivity'] ?? null,
    controllerManager: spec['controllerManager'] ?? null,
    controlPlaneLoadBalancing: objectAt(spec, 'network')['controlPlaneLoadBalancing'] ?? null,
  };
}

/** Tells whether two CAs are trusted; k0s's single CA file is not enough then. */
export function isRotating({ trust }: PlaneFacts): boolean {
  return trust.ca !== undefined && splitCertificates(trust.ca).length > 1;
}

/** API server flags in the user's configuration. */
export function k0sApiServerArgs({ k0s }: PlaneSpec): JsonObject {
  const api = objectAt(objectAt((k0s?.config ?? {}) as JsonObject, 'spec'), 'api');
  return objectAt(api, 'extraArgs');
}

function apiSection(desired: PlaneSpec, facts: PlaneFacts, given: JsonObject, spec: JsonObject): JsonObject {
  const { exposure } = desired;
  const answer = planeEndpoint(desired, facts);
  const host = answer.known ? answer.endpoint.host : undefined;
  const hasLocalBalancer = objectAt(objectAt(spec, 'network'), 'nodeLocalLoadBalancing')['enabled'] === true;
  const extraArgs = {
    'tls-cert-file': `${k0sPki}/apiserver.crt`,
    'tls-private-key-file': `${k0sPki}/apiserver.key`,
    ...Object.fromEntries(
      Object.entries(objectAt(given, 'extraArgs')).filter(([name]) => !isRetired(desired.version, name)),
    ),
    ...(exposure.ingress && { 'endpoint-reconciler-type': 'none' }),
    ...(isRotating(facts) && { 'client-ca-file': `${k0sPki}/ca-bundle.crt` }),
  };
  const external = exposure.ingress
    ? `${exposure.ingress.host}:${exposure.ingress.port}`
    : hasLocalBalancer
      ? undefined
      : host;
  return {
    ...given,
    port: exposure.apiPort,
    sans: uniqueHosts([
      ...strings(given['sans']),
      ...exposure.sans,
      host,
      exposure.address,
      ...serviceNames(desired),
      ...(facts.service?.clusterIPs ?? []).filter((address) => address !== 'None'),
      ...(exposure.ingress ? [exposure.ingress.host, exposure.ingress.konnectivityHost, 'localhost', '127.0.0.1'] : []),
    ]),
    ...(external !== undefined && { externalAddress: external }),
    extraArgs,
  };
}

function konnectivitySection({ exposure, version }: PlaneSpec): JsonObject {
  const { ingress } = exposure;
  const parsed = parseK0sVersion(version);
  const takesPort = parsed !== undefined && compareKubernetesVersions(parsed, konnectivityPortSince) >= 0;
  const host = ingress?.konnectivityHost;
  return {
    ...(exposure.konnectivityPort !== undefined && { agentPort: exposure.konnectivityPort }),
    ...(ingress && host !== undefined && { externalAddress: takesPort ? `${host}:${ingress.port}` : host }),
  };
}

function storageSection({ dataStore, naming, identity }: PlaneSpec): JsonObject {
  switch (dataStore.kind) {
    case 'own-etcd':
      return {
        type: 'etcd',
        etcd: {
          externalCluster: {
            endpoints: [`https://${naming.etcdClientService}:${etcdClientPort}`],
            etcdPrefix: identity.clusterName,
            caFile: `${k0sPki}/etcd-ca.crt`,
            clientCertFile: `${k0sPki}/apiserver-etcd-client.crt`,
            clientKeyFile: `${k0sPki}/apiserver-etcd-client.key`,
          },
        },
      };
    case 'k0s':
      return { type: 'kine', kine: { dataSource: kineSource(dataStore.source, identity.clusterName) } };
    default:
      throw new TypeError(`k0s cannot store its data in ${dataStore.kind}`);
  }
}

type KineSource = Extract<PlaneSpec['dataStore'], { kind: 'k0s' }>['source'];

function kineSource(source: KineSource, clusterName: string): string {
  switch (source.type) {
    case 'kine':
      return source.url;
    case 'kine-secret':
      return kinePlaceholder;
    case 'nats':
      return `nats://127.0.0.1:4222?bucket=${clusterName}&serverConfig=/etc/k0s/nats.conf`;
  }
}

/** Fills in only what the user left open. */
function networkSection({ network }: PlaneSpec, given: JsonObject): JsonObject {
  const open = (key: string, value: string | undefined): JsonObject =>
    value === undefined || (given[key] !== undefined && given[key] !== '') ? {} : { [key]: value };
  return {
    ...given,
    ...open('podCIDR', network.podCidrs[0]),
    ...open('serviceCIDR', network.serviceCidrs[0]),
    ...open('clusterDomain', network.domain),
  };
}

function objectAt(holder: JsonObject, key: string): JsonObject {
  const value = holder[key];
  return isJsonObject(value) ? value : {};
}

function strings(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

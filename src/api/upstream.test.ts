import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asTyped, type JsonObject, type JsonValue, type Schema } from '../machinery/index.ts';
import { ownDefinitions } from './own.ts';

/**
 * Holds our definitions against the CustomResourceDefinitions upstream publishes (as JSON, without prose), when
 * CAPSTAN_REFERENCE_DATA names a directory with `crds/<project>/<plural>.<group>.json`.
 */
const data = process.env['CAPSTAN_REFERENCE_DATA'];
const projects = [
  'cluster-api',
  'cluster-api-provider-openstack',
  'cluster-stack-operator',
  'k0smotron',
  'kamaji',
  'kamaji-control-plane-provider',
  'orc',
];
/** kinds the reference data have no definition of: upstream carries it inside a program, or it is not collected */
const unpublished = [
  'RKE2Config',
  'RKE2ConfigTemplate',
  'RKE2ControlPlane',
  'RKE2ControlPlaneTemplate',
  'Provider',
  'HostedControlPlane',
  'HostedControlPlaneTemplate',
  'GatewayClass',
  'Gateway',
  'TLSRoute',
  'ReferenceGrant',
  'OpenStackClusterStackRelease',
  'OpenStackClusterStackReleaseTemplate',
  'OpenStackNodeImageRelease',
  'LatticeCluster',
];

/** what of the Service upstream's v1beta2 lost, though clouds need it */
const keptOfService = /\.spec\.service\.(annotations|labels|externalTrafficPolicy|loadBalancerClass)/;
/** what differs in types of Kubernetes with its version, and metadata we do not throw away */
const kubernetesTypes =
  /\.(podCertificate\.userAnnotations|volumeClaimTemplate\.metadata\.|loadBalancer\.ingress\[\]\.(ipMode|ports\[\]))/;

/** where we ask for less than upstream, or take more */
const relaxed: Readonly<Record<string, RegExp>> = {
  // a load balancer that is being made has no address yet, and not all have one outside
  'OpenStackCluster.infrastructure.cluster.x-k8s.io': /^\.status\.apiServer(Managed)?LoadBalancer(\.(ip|internalIP))? /,
  'K0smotronControlPlane.controlplane.cluster.x-k8s.io': keptOfService,
  'K0smotronControlPlaneTemplate.controlplane.cluster.x-k8s.io': keptOfService,
  // the address that was found is observed: upstream writes it into the spec
  'Cluster.k0smotron.io': new RegExp(`${keptOfService.source}|^\\.status\\.controlPlaneEndpoint`),
  'KamajiControlPlane.controlplane.cluster.x-k8s.io': kubernetesTypes,
  'KamajiControlPlaneTemplate.controlplane.cluster.x-k8s.io': kubernetesTypes,
  // conditions say what is waited for, and rules look into a profile that may be left out
  'TenantControlPlane.kamaji.clastix.io': new RegExp(
    `${kubernetesTypes.source}|^\\.status\\.conditions|^\\.spec\\.networkProfile `,
  ),
};

interface UpstreamVersion {
  name: string;
  storage: boolean;
  deprecated?: boolean;
  schema: { openAPIV3Schema: Schema };
  subresources?: JsonObject;
  additionalPrinterColumns?: JsonValue;
}

interface UpstreamCrd {
  spec: { scope: string; names: { shortNames?: string[]; categories?: string[] }; versions: UpstreamVersion[] };
}

function upstream(name: string): UpstreamCrd | undefined {
  for (const project of projects) {
    const file = join(data!, 'crds', project, `${name}.json`);
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as UpstreamCrd;
  }
  return undefined;
}

/** one line per schema node, so that a difference names the field */
function facts(schema: Schema, path = '', lines: string[] = []): string[] {
  const { properties, items, additionalProperties, description: _, required, ...rest } = schema;
  const sorted = Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1));
  lines.push(`${path} ${JSON.stringify(Object.fromEntries(sorted))} required=${[...(required ?? [])].sort().join()}`);
  for (const name of Object.keys(properties ?? {}).sort()) facts(properties![name]!, `${path}.${name}`, lines);
  if (items !== undefined) facts(items, `${path}[]`, lines);
  if (typeof additionalProperties === 'object') facts(additionalProperties, `${path}{}`, lines);
  return lines;
}

/** rules that see too little: admission lets a region be corrected until something was made in it */
const dropped: ReadonlySet<string> = new Set(['region is immutable']);

function sortRules(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (key, value) => {
    // a schema of schemas has a property of that name, which is no list
    if (key === 'x-kubernetes-validations' && Array.isArray(value)) {
      const kept = value.filter((rule: JsonObject) => !dropped.has(String(rule['message'])));
      if (kept.length === 0) return undefined;
      return kept.map((rule: JsonObject) => ({ message: rule['message'], rule: rule['rule'] }));
    }
    return value;
  });
}

describe.skipIf(data === undefined)('definitions against upstream (skipped without CAPSTAN_REFERENCE_DATA)', () => {
  const checked = ownDefinitions.flatMap((definition) => {
    const crd = data === undefined ? undefined : upstream(`${definition.plural}.${definition.group}`);
    return (crd?.spec.versions ?? []).map((version) => ({
      definition,
      kind: definition.kind,
      crd: crd!,
      version,
      name: version.name,
    }));
  });

  it('finds every kind, and every version of it that upstream still serves', () => {
    const found = new Set(checked.map(({ definition }) => definition));
    const missing = ownDefinitions.filter((definition) => !found.has(definition)).map(({ kind }) => kind);
    expect(missing).toEqual(unpublished);
  });

  it.each(checked)('$kind $name has the schema of upstream', ({ definition, version }) => {
    const ours = definition.versions.find(({ name }) => name === version.name)!;
    const compared = (schema: Schema): string[] =>
      facts(sortRules(schema)).filter((line) => !relaxed[`${definition.kind}.${definition.group}`]?.test(line));
    expect(compared(ours.schema)).toEqual(compared(version.schema.openAPIV3Schema));
  });

  it.each(checked)('$kind $name is printed, scaled and stored as upstream does', ({ definition, version, crd }) => {
    const ours = asTyped<UpstreamCrd['spec']>(definition.crd!['spec']!).versions.find(
      ({ name }) => name === version.name,
    )!;
    expect(ours.additionalPrinterColumns).toEqual(version.additionalPrinterColumns);
    expect(ours.subresources ?? {}).toEqual(version.subresources ?? {});
    expect(ours.storage).toBe(version.storage);
    expect(ours.deprecated).toBe(version.deprecated);
    expect(definition.shortNames).toEqual(crd.spec.names.shortNames ?? []);
    expect(definition.categories).toEqual(crd.spec.names.categories ?? []);
    expect(definition.namespaced ? 'Namespaced' : 'Cluster').toBe(crd.spec.scope);
  });
});

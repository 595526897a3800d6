import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asTyped, type JsonObject, type JsonValue, type Schema } from '../machinery/index.ts';
import { ownDefinitions } from './own.ts';

/**
 * Compares our definitions with upstream's CustomResourceDefinitions (as JSON without descriptions).
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
/** Kinds without a definition in the reference data: upstream embeds it in a program, or it is not collected. */
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

/** Fields of the Service that upstream's v1beta2 dropped, although clouds need them. */
const keptOfService = /\.spec\.service\.(annotations|labels|externalTrafficPolicy|loadBalancerClass)/;
/** Differences between versions of Kubernetes types, and metadata that we keep. */
const kubernetesTypes =
  /\.(podCertificate\.userAnnotations|volumeClaimTemplate\.metadata\.|loadBalancer\.ingress\[\]\.(ipMode|ports\[\]))/;

const conditionsOfOldReleases = /^\.status\.conditions\[\]\.(reason|message) /;

/** Fields where our schema is less strict than upstream's or has more fields. */
const relaxed: Readonly<Record<string, RegExp>> = {
  // A new load balancer has no address yet, and some have no external address.
  'OpenStackCluster.infrastructure.cluster.x-k8s.io': /^\.status\.apiServer(Managed)?LoadBalancer(\.(ip|internalIP))? /,
  // Upstream's releases before 0.15 wrote conditions without these fields, which then have defaults.
  'OpenStackServer.infrastructure.cluster.x-k8s.io': conditionsOfOldReleases,
  'OpenStackFloatingIPPool.infrastructure.cluster.x-k8s.io': conditionsOfOldReleases,
  'K0smotronControlPlane.controlplane.cluster.x-k8s.io': keptOfService,
  'K0smotronControlPlaneTemplate.controlplane.cluster.x-k8s.io': keptOfService,
  // Capstan reports the discovered address in the status; upstream writes it into the spec.
  'Cluster.k0smotron.io': new RegExp(`${keptOfService.source}|^\\.status\\.controlPlaneEndpoint`),
  'KamajiControlPlane.controlplane.cluster.x-k8s.io': kubernetesTypes,
  'KamajiControlPlaneTemplate.controlplane.cluster.x-k8s.io': kubernetesTypes,
  // Conditions explain what the control plane waits for. The rules read a profile that may be omitted.
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

/** Returns one line per schema node, so that a difference names the field. */
function facts(schema: Schema, path = '', lines: string[] = []): string[] {
  const { properties, items, additionalProperties, description: _, required, ...rest } = schema;
  const sorted = Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1));
  lines.push(`${path} ${JSON.stringify(Object.fromEntries(sorted))} required=${[...(required ?? [])].sort().join()}`);
  for (const name of Object.keys(properties ?? {}).sort()) facts(properties![name]!, `${path}.${name}`, lines);
  if (items !== undefined) facts(items, `${path}[]`, lines);
  if (typeof additionalProperties === 'object') facts(additionalProperties, `${path}{}`, lines);
  return lines;
}

/** Upstream's CEL rules that Capstan replaces. Admission allows a new region until a resource exists in the old one. */
const dropped: ReadonlySet<string> = new Set(['region is immutable']);

function sortRules(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (key, value) => {
    // In a schema of schemas, a property of this name is an object and not a list.
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

  it('include every kind and every version that upstream still serves', () => {
    const found = new Set(checked.map(({ definition }) => definition));
    const missing = ownDefinitions.filter((definition) => !found.has(definition)).map(({ kind }) => kind);
    expect(missing).toEqual(unpublished);
  });

  it.each(checked)('$kind $name has the same schema as upstream', ({ definition, version }) => {
    const ours = definition.versions.find(({ name }) => name === version.name)!;
    const compared = (schema: Schema): string[] =>
      facts(sortRules(schema)).filter((line) => !relaxed[`${definition.kind}.${definition.group}`]?.test(line));
    expect(compared(ours.schema)).toEqual(compared(version.schema.openAPIV3Schema));
  });

  it.each(checked)(
    '$kind $name has the same columns, scale and storage version as upstream',
    ({ definition, version, crd }) => {
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
    },
  );
});

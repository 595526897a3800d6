import { fileURLToPath } from 'node:url';
import { type ClusterClass, parseStackId, type Topology } from '../../../api/index.ts';
import { asTyped, formatFieldError, type JsonValue, must, type UnstructuredObject } from '../../../machinery/index.ts';
import { at } from '../../shared/index.ts';
// the topology area computes objects from a class and variables
import { computeDesired } from '../../topology/desired/compute.ts';
import { defaultVariables, validateVariables } from '../../topology/variables/values.ts';
import { readRelease } from '../release/release.ts';
import { renderClass } from '../release/render-class.ts';
import { builtInSource } from '../source/built-in.ts';

const source = builtInSource(fileURLToPath(new URL('../../../../stacks', import.meta.url)), async () => new Map());
const version = 'v1.33.6';

/** Variable values by name. */
export type Values = Readonly<Record<string, JsonValue>>;
/** A field in the spec of a cluster's part: `worker/flavor/filter`. */
export type Field = `${'cluster' | 'plane' | 'machine' | 'worker'}/${string}`;

async function stack(name: string) {
  const id = must(parseStackId(name), name);
  const files = must(await source.files(id, new AbortController().signal), name);
  const objects = renderClass(readRelease(id, files, source), name, 'tenant');
  const template = (kind: string): UnstructuredObject =>
    must(
      objects.find((object) => object.kind === kind),
      kind,
    );
  const named = ({ kind, name: wanted }: { kind: string; name: string }): UnstructuredObject =>
    must(
      objects.find((object) => object.kind === kind && object.metadata.name === wanted),
      wanted,
    );
  return { clusterClass: asTyped<ClusterClass>(template('ClusterClass')), named };
}

export async function variablesOf(name: string): Promise<string[]> {
  return ((await stack(name)).clusterClass.spec.variables ?? []).map((variable) => variable.name).sort();
}

/** Computes the objects of a Cluster with these variables; throws for invalid values. */
export async function madeByStack(name: string, values: Values): Promise<(field: Field) => unknown> {
  const { clusterClass, named } = await stack(name);
  const { spec } = clusterClass;
  const topology: Topology = {
    classRef: { name, namespace: 'tenant' },
    version,
    variables: Object.entries(values).map(([variable, value]) => ({ name: variable, value })),
    workers: { machineDeployments: [{ class: 'default-worker', name: 'md-0', replicas: 1 }] },
  };
  const definitions = (spec.variables ?? []).map(({ name: variable, ...definition }) => ({
    name: variable,
    definitions: [{ from: 'inline', ...definition }],
  }));
  defaultVariables(topology, definitions);
  const problems = validateVariables(topology, definitions).map(formatFieldError);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const workers = must(spec.workers?.machineDeployments?.[0], 'workers');
  const { machineInfrastructure } = spec.controlPlane;
  const desired = await computeDesired(
    {
      class: { ...clusterClass, status: { variables: definitions } },
      infrastructureTemplate: named(spec.infrastructure.templateRef),
      controlPlaneTemplate: named(spec.controlPlane.templateRef),
      controlPlaneContract: spec.controlPlane.templateRef.apiVersion.endsWith('/v1beta2') ? 'v1beta2' : 'v1beta1',
      ...(machineInfrastructure && { controlPlaneMachineTemplate: named(machineInfrastructure.templateRef) }),
      workers: new Map([
        [
          'default-worker',
          {
            class: workers,
            bootstrapTemplate: named(workers.bootstrap.templateRef),
            infrastructureTemplate: named(workers.infrastructure.templateRef),
          },
        ],
      ]),
    },
    {
      cluster: {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Cluster',
        metadata: { name: 'c', namespace: 'tenant', uid: 'u' },
        spec: { topology },
      },
      deployments: new Map(),
    },
    { controlPlane: version, deployments: new Map([['md-0', version]]) },
    { generate: async () => [], validate: async () => {} },
  );
  return (field) => {
    const [part, ...path] = field.split('/');
    if (part === 'cluster') return at(desired.infrastructureCluster, 'spec', ...path);
    if (part === 'plane') return at(desired.controlPlane.object, 'spec', ...path);
    const template =
      part === 'machine' ? desired.controlPlane.machineTemplate : desired.deployments[0]?.infrastructureTemplate;
    return at(must(template, field).object, 'spec', 'template', 'spec', ...path);
  };
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonObject, parseYamlDocuments } from '../../src/machinery/index.ts';
import { projectRoot } from './node-arguments.ts';

export interface FleetCluster {
  name: string;
  controlPlanes: number;
  workers: number;
}

const example = 'vm-cluster';

/** Builds the objects of a cluster from the repository's example, with another name and size. */
export function clusterManifests({ name, controlPlanes, workers }: FleetCluster): JsonObject[] {
  const text = readFileSync(join(projectRoot, 'examples', example, 'cluster.yaml'), 'utf8').replaceAll(example, name);
  return parseYamlDocuments(text).map(({ value }) => {
    const object = value as JsonObject & { kind: string; spec: JsonObject };
    if (object.kind === 'KubeadmControlPlane') object.spec['replicas'] = controlPlanes;
    if (object.kind === 'MachineDeployment') object.spec['replicas'] = workers;
    return object;
  });
}

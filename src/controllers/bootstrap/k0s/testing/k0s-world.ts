import { type K0sWorkerConfig, type K0sWorkerConfigSpec, K0sWorkerConfigs } from '../../../../api/index.ts';
import { conditionOf, isTrue } from '../../../shared/index.ts';
import { createMachineWith, world } from '../../testing/bootstrap-world.ts';

export * from '../../testing/bootstrap-world.ts';

/** Creates a machine with a configuration and infrastructure of the same name. */
export async function createWorker(name: string, spec: K0sWorkerConfigSpec = {}, version = 'v1.33.0'): Promise<void> {
  const config: K0sWorkerConfig = {
    apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
    kind: 'K0sWorkerConfig',
    metadata: { name, namespace: world.namespace },
    spec,
  };
  await createMachineWith(name, { resource: K0sWorkerConfigs, config, version });
}

export const config = async (name: string): Promise<K0sWorkerConfig> => (await world.find(K0sWorkerConfigs, name))!;
export const isReady = async (name: string): Promise<boolean> => isTrue(await config(name), 'Ready');
export const verdict = async (name: string, type = 'DataSecretAvailable'): Promise<string> => {
  const condition = conditionOf(await config(name), type);
  return `${condition?.reason}: ${condition?.message}`;
};
export const untilSays = (name: string, text: RegExp): Promise<void> =>
  world.until(async () => text.test(await verdict(name)));

import { type KubeadmConfig, type KubeadmConfigSpec, KubeadmConfigs } from '../../../../api/index.ts';
import { conditionOf, isTrue } from '../../../shared/index.ts';
import { createMachineWith, world } from '../../testing/bootstrap-world.ts';

export * from '../../testing/bootstrap-world.ts';

export interface MachineSpec {
  controlPlane?: boolean;
  version?: string | null;
  spec?: KubeadmConfigSpec;
}

/** Creates a machine with a configuration and infrastructure of the same name. */
export async function createMachine(name: string, desired: MachineSpec = {}): Promise<void> {
  await createMachineWith(name, {
    resource: KubeadmConfigs,
    config: {
      apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
      kind: 'KubeadmConfig',
      metadata: { name, namespace: world.namespace },
      ...(desired.spec && { spec: desired.spec }),
    } as KubeadmConfig,
    ...(desired.controlPlane !== undefined && { controlPlane: desired.controlPlane }),
    ...(desired.version !== null && { version: desired.version ?? 'v1.33.0' }),
  });
}

export const config = async (name: string): Promise<KubeadmConfig> => (await world.find(KubeadmConfigs, name))!;
export const isReady = async (name: string): Promise<boolean> => isTrue(await config(name), 'Ready');
export const message = async (name: string, type = 'DataSecretAvailable'): Promise<string> =>
  conditionOf(await config(name), type)?.message ?? '';
export const untilSays = (name: string, text: RegExp, type?: string): Promise<void> =>
  world.until(async () => text.test(await message(name, type)));

export const tokenOf = async (name: string): Promise<string | undefined> =>
  (await config(name)).spec?.joinConfiguration?.discovery?.bootstrapToken?.token;

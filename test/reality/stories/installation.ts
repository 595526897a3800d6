import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startCloudApart } from '../../support/capstan.ts';
import { nodeAddress } from '../network.ts';
import { command } from '../processes.ts';
import { type Stage, until } from './stage.ts';

/** Output of `npm run image`, written before the network was isolated. */
export const imageArchive = (directory: string): string => join(directory, 'capstan.tar');

export const namespace = 'capstan-system';
export const deployment = 'deployment/capstan-controllers';

const ctr = (socket: string, ...args: string[]): Promise<string> =>
  command('ctr', '-a', socket, '-n', 'k8s.io', 'images', ...args);

export async function importImage(directory: string, socket: string): Promise<void> {
  await ctr(socket, 'import', imageArchive(directory));
}

/** Gives the image a second tag, as a release that differs in nothing else. */
export async function tagImage(socket: string, tag: string): Promise<void> {
  const names = (await ctr(socket, 'list', '-q')).split('\n');
  const name = names.find((one) => /\/capstan:\d/.test(one)) ?? '';
  await ctr(socket, 'tag', '--force', name, name.replace(/:[^:]*$/, `:${tag}`));
}

/** Starts a simulated cloud that Pods reach, because they cannot reach the loopback of their node. */
export async function openCloudForPods(stage: Stage, directory: string): Promise<{ stop(): Promise<void> }> {
  await mkdir(directory);
  const cloud = await startCloudApart(directory, { address: nodeAddress });
  await stage.kubectl('delete', 'secret', 'simulated-cloud', '--ignore-not-found');
  const clouds = `--from-file=clouds.yaml=${join(directory, 'clouds.yaml')}`;
  await stage.kubectl('create', 'secret', 'generic', 'simulated-cloud', clouds);
  return cloud;
}

/** Waits until nothing of an installation is left in the Kubernetes. */
export async function nothingLeft(stage: Stage): Promise<void> {
  const kinds = [
    ...['crds', 'clusterroles', 'clusterrolebindings'],
    ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
  ];
  await until(async () => {
    assert.deepEqual(await stage.names(kinds.join(','), '-l', 'app.kubernetes.io/part-of=capstan'), []);
    assert.deepEqual(await stage.names(`namespace/${namespace}`), []);
  });
}

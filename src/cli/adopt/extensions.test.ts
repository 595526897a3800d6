import { beforeEach, describe, expect, it } from 'vitest';
import { type ExtensionConfig, ExtensionConfigs } from '../../api/index.ts';
import { seededRandom } from '../../machinery/index.ts';
import type { MemoryClient } from '../../runtime/testkit/index.ts';
import { type AdoptOptions, beginAdoption, carryOutAdoption } from './adopt.ts';
import { readAdoption } from './record.ts';
import { releaseAdoption } from './release.ts';
import { surveyText, surveyValue } from './report.ts';
import { takeSurvey } from './survey.ts';
import { smallInstallation, type UpstreamWorld, upstreamWorld } from './testing/upstream-world.ts';

const { signal } = new AbortController();
const installation = smallInstallation();
let world: UpstreamWorld;

const extension = (name: string, service: { namespace: string; name: string }): ExtensionConfig => ({
  apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
  kind: 'ExtensionConfig',
  metadata: { name, annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': `${service.namespace}/ca` } },
  spec: { clientConfig: { service }, settings: { some: 'thing' } },
});
const stopped = extension('of-a-manager', { namespace: 'capi-system', name: 'cluster-api-webhook-service' });
const outside: ExtensionConfig = {
  ...stopped,
  metadata: { name: 'of-a-manager-outside', labels: { 'cluster.x-k8s.io/provider': 'cluster-api' } },
  spec: { clientConfig: { url: 'https://127.0.0.1:9442' } },
};
const others = extension('of-somebody-else', { namespace: 'elsewhere', name: 'hooks' });

const begin = async (): Promise<void> => {
  world = upstreamWorld();
  for (const one of [stopped, outside, others])
    await world.client.create(ExtensionConfigs, one, { fieldManager: 'test' });
};
beforeEach(begin);

const optionsFor = (client: MemoryClient): AdoptOptions => ({
  client,
  mapper: world.mapper,
  clock: world.clock,
  signal,
  installation,
  withControllers: true,
  onProgress: () => {},
});
const survey = (client: MemoryClient = world.client) =>
  takeSurvey({ client, mapper: world.mapper }, installation, { clock: world.clock, random: seededRandom(1), signal });

async function adopt(client: MemoryClient = world.client): Promise<void> {
  const options = optionsFor(client);
  const record = (await readAdoption(client, signal)) ?? (await beginAdoption(options, await survey(client)));
  if (record.phase !== 'adopted') await carryOutAdoption(options, record);
}

async function release(): Promise<void> {
  const record = await readAdoption(world.client, signal);
  if (record) await releaseAdoption(optionsFor(world.client), installation, record);
}

const found = async () =>
  (await world.client.list(ExtensionConfigs)).items.map(({ metadata: { name, annotations, labels }, spec }) => ({
    name,
    annotations,
    labels,
    spec,
  }));

// The stack operator registers hooks that only it serves. Without its Pods every upgrade of a topology would wait for them.
describe('runtime extensions that a stopped manager served', () => {
  it('are removed by an adoption, and those of others stay', async () => {
    await adopt();
    expect((await found()).map(({ name }) => name)).toEqual(['of-somebody-else']);
  });

  it('are reported before', async () => {
    const seen = await survey();
    expect(surveyText(seen)).toContain('runtime extensions that would be removed: of-a-manager, of-a-manager-outside');
    expect(surveyValue(seen)).toMatchObject({ extensions: ['of-a-manager', 'of-a-manager-outside'] });
  });

  it('are back after a release', async () => {
    const before = await found();
    await adopt();
    await release();
    expect(await found()).toEqual(before);
  });

  it('are back after a release of an adoption that was killed at any write', { timeout: 120_000 }, async () => {
    const before = await found();
    const whole = world.mortal(Number.POSITIVE_INFINITY);
    await adopt(whole.client);
    for (let at = 1; at <= whole.writes(); at++) {
      await begin();
      await expect(adopt(world.mortal(at).client), `write ${at}`).rejects.toThrow('killed');
      await release();
      expect(await found(), `write ${at}`).toEqual(before);
    }
  });
});

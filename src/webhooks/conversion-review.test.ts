import { describe, expect, it } from 'vitest';
import { ownDefinitions } from '../api/index.ts';
import type { JsonObject } from '../machinery/index.ts';
import { convertReview } from './conversion-review.ts';
import { ReviewedKinds } from './reviewed-kinds.ts';

const kinds = new ReviewedKinds(ownDefinitions);

const cluster = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'cluster.x-k8s.io/v1beta1',
  kind: 'Cluster',
  metadata: { name, namespace: 'default', uid: name },
  spec: { paused: true },
  ...more,
});

async function convert(
  objects: JsonObject[],
  desiredAPIVersion = 'cluster.x-k8s.io/v1beta2',
): Promise<{ turns: number; response: JsonObject }> {
  let turns = 0;
  const review = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    request: { uid: 'u', desiredAPIVersion, objects },
  };
  const answer = await convertReview(review, kinds, async () => {
    turns++;
  });
  expect(answer).toMatchObject({
    kind: 'ConversionReview',
    apiVersion: 'apiextensions.k8s.io/v1',
    response: { uid: 'u' },
  });
  return { turns, response: answer['response'] as JsonObject };
}

describe('the conversion webhook', () => {
  it('converts all objects in order and keeps their identity', async () => {
    const { response } = await convert([cluster('a'), cluster('b', { apiVersion: 'cluster.x-k8s.io/v1beta2' })]);
    expect(response['result']).toEqual({ status: 'Success' });
    expect(response['convertedObjects']).toMatchObject([
      { apiVersion: 'cluster.x-k8s.io/v1beta2', metadata: { name: 'a', uid: 'a' }, spec: { paused: true } },
      { apiVersion: 'cluster.x-k8s.io/v1beta2', metadata: { name: 'b', uid: 'b' } },
    ]);
  });

  it('lets other work run while it converts a long list', async () => {
    const { turns, response } = await convert(Array.from({ length: 250 }, (_, index) => cluster(`c${index}`)));
    expect(response['convertedObjects']).toHaveLength(250);
    expect(turns).toBe(4);
  });

  it.each([
    ['an unknown version', [cluster('a')], 'cluster.x-k8s.io/v9', 'Cluster has no version v9'],
    ['another group', [cluster('a')], 'example.org/v1', 'is not converted here'],
    ['an unknown kind', [cluster('a', { kind: 'Ship' })], undefined, 'is not converted here'],
    [
      'types that are not those of the schema',
      [cluster('a', { spec: { paused: 'yes' } })],
      undefined,
      'Cluster default/a: ',
    ],
    ['no metadata', [cluster('a', { metadata: null })], undefined, 'lacks its apiVersion, kind or metadata'],
  ])('says why it converts nothing: %s', async (_what, objects, desired, words) => {
    const { response } = await convert(objects, desired);
    expect(response['convertedObjects']).toEqual([]);
    expect(response['result']).toMatchObject({ status: 'Failure', message: expect.stringContaining(words) });
  });

  it('refuses a body that is not a review', async () => {
    for (const body of [
      undefined,
      {},
      { kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1', request: {} },
    ]) {
      await expect(convertReview(body, kinds, async () => {})).rejects.toThrow();
    }
  });
});

import { expect, it } from 'vitest';
import type { KubeObject } from '../../machinery/index.ts';
import { outcomeOf } from './outcome.ts';

const object = (resourceVersion: string, data: object, time = '1'): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', resourceVersion, managedFields: [{ manager: 'capstan', time }] },
    data,
  }) as never;

it('an applied object is unchanged when only the time of the apply differs', () => {
  expect(outcomeOf(undefined, object('1', {}))).toBe('created');
  expect(outcomeOf(object('1', { a: 'b' }), object('2', { a: 'b' }, '2'))).toBe('unchanged');
  expect(outcomeOf(object('1', { a: 'b' }), object('2', { a: 'c' }))).toBe('configured');
  const { apiVersion: _, kind: __, ...listed } = object('1', { a: 'b' });
  expect(outcomeOf(listed as KubeObject, object('1', { a: 'b' }))).toBe('unchanged');
});

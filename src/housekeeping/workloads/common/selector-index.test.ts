import { expect, test } from 'vitest';
import { type Service, Services } from '../../../api/index.ts';
import { type Informer, ObjectStore } from '../../../client/index.ts';
import { indexBySelector, selecting } from './selector-index.ts';

function service(namespace: string, name: string, selector?: Record<string, string>): Service {
  return { apiVersion: 'v1', kind: 'Service', metadata: { namespace, name }, spec: { ...(selector && { selector }) } };
}

function listerOf(...services: Service[]) {
  const store = new ObjectStore<Service>();
  const informer = { resource: Services, lister: store, addIndexer: store.addIndexer.bind(store) };
  const lister = indexBySelector(
    informer as Partial<Informer<Service>> as Informer<Service>,
    ({ spec }) => spec.selector,
  );
  for (const one of services) store.put(one);
  return { store, names: (namespace: string, labels?: Record<string, string>) => names(lister, namespace, labels) };
}

function names(
  lister: ObjectStore<Service> | Informer<Service>['lister'],
  namespace: string,
  labels?: Record<string, string>,
) {
  return selecting(lister, namespace, labels)
    .map(({ metadata }) => metadata.name)
    .sort();
}

test('finds every selector that the labels fulfil, whatever the order of keys', () => {
  const { names } = listerOf(
    service('a', 'one', { app: 'x' }),
    service('a', 'two', { tier: 'db', app: 'x' }),
    service('a', 'other-value', { app: 'y' }),
    service('a', 'more-asked', { app: 'x', zone: 'z' }),
    service('b', 'elsewhere', { app: 'x' }),
    service('a', 'everything', {}),
    service('a', 'nothing'),
  );
  expect(names('a', { app: 'x', tier: 'db' })).toEqual(['everything', 'one', 'two']);
  expect(names('b', { app: 'x' })).toEqual(['elsewhere']);
  expect(names('a')).toEqual(['everything']);
});

test('does not confuse labels that look like parts of others', () => {
  const { names } = listerOf(service('a', 'one', { 'a,b': 'c' }), service('a', 'two', { a: 'x","b' }));
  expect(names('a', { a: 'x', b: 'c' })).toEqual([]);
  expect(names('a', { constructor: 'c' })).toEqual([]);
});

test('follows changes of a selector', () => {
  const { store, names } = listerOf(service('a', 'one', { app: 'x' }));
  store.put(service('a', 'one', { app: 'y' }));
  expect(names('a', { app: 'x' })).toEqual([]);
  expect(names('a', { app: 'y' })).toEqual(['one']);
  store.remove('a/one');
  expect(names('a', { app: 'y' })).toEqual([]);
});

import { describe, expect, it } from 'vitest';
import { formatFieldError } from '../errors/field-error.ts';
import type { ObjectMeta, OwnerReference } from '../meta/types.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from './object-meta.ts';

const problems = (meta: ObjectMeta, namespaced = true): string[] =>
  validateObjectMeta(meta, { namespaced }).map(formatFieldError);

const owner: OwnerReference = { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'u' };

describe('metadata of a new object', () => {
  it('is accepted with a name and the right scope', () => {
    expect(problems({ name: 'a', namespace: 'b', labels: { 'x/y': 'z' }, finalizers: ['x/y'] })).toEqual([]);
    expect(problems({ name: 'a' }, false)).toEqual([]);
  });

  it.each<[string, ObjectMeta, string]>([
    ['has no name', { namespace: 'b' }, 'metadata.name: Required value: name or generateName is required'],
    ['has no namespace', { name: 'a' }, 'metadata.namespace: Required value'],
    [
      'has a bad namespace',
      { name: 'a', namespace: 'B' },
      'metadata.namespace: Invalid value: "B": a lowercase RFC 1123 label',
    ],
    [
      'has a bad label key',
      { name: 'a', namespace: 'b', labels: { '': 'x' } },
      'metadata.labels: Invalid value: "": name part must be non-empty',
    ],
    [
      'has a bad finalizer',
      { name: 'a', namespace: 'b', finalizers: ['a b'] },
      'metadata.finalizers: Invalid value: "a b": name part',
    ],
    [
      'wants to orphan and delete its dependents',
      { name: 'a', namespace: 'b', finalizers: ['orphan', 'foregroundDeletion'] },
      'finalizer orphan and foregroundDeletion cannot be both set',
    ],
    [
      'has an owner without version',
      { name: 'a', namespace: 'b', ownerReferences: [{ ...owner, apiVersion: 'apps/' }] },
      'metadata.ownerReferences.apiVersion: Invalid value: "apps/": version must not be empty',
    ],
    [
      'has two controllers',
      {
        name: 'a',
        namespace: 'b',
        ownerReferences: [
          { ...owner, controller: true },
          { ...owner, name: 'b', controller: true },
        ],
      },
      'Only one reference can have Controller set to true. Found "true" in references for Pod/a and Pod/b',
    ],
    [
      'carries too many annotations',
      { name: 'a', namespace: 'b', annotations: { x: 'y'.repeat(256 * 1024) } },
      'metadata.annotations: Too long: may not be more than 262144 bytes',
    ],
  ])('is refused when it %s', (_title, meta, text) => {
    expect(problems(meta).join('\n')).toContain(text);
  });

  it('counts annotation bytes, not characters', () => {
    const annotations = { x: 'é'.repeat(128 * 1024 - 1) };
    expect(problems({ name: 'a', namespace: 'b', annotations })).toEqual([]);
    expect(problems({ name: 'a', namespace: 'b', annotations: { x: `${annotations.x}é` } })).toHaveLength(1);
  });

  it('must not name a namespace when the kind is cluster-scoped', () => {
    expect(problems({ name: 'a', namespace: 'b' }, false)).toEqual([
      'metadata.namespace: Forbidden: not allowed on this type',
    ]);
  });

  it('may end a generateName with a dash', () => {
    expect(problems({ generateName: 'a-', name: 'a-xyz', namespace: 'b' })).toEqual([]);
    expect(problems({ generateName: 'Ab-', name: 'a-xyz', namespace: 'b' })[0]).toContain('metadata.generateName');
  });
});

describe('changed metadata', () => {
  const old: ObjectMeta = { name: 'a', namespace: 'b', uid: 'u', resourceVersion: '5', creationTimestamp: 't' };
  const changes = (meta: ObjectMeta, before: ObjectMeta = old): string[] =>
    validateObjectMetaUpdate(meta, before).map(formatFieldError);

  it('may change labels, annotations, owners and finalizers', () => {
    expect(changes({ ...old, labels: { a: 'b' }, ownerReferences: [owner], finalizers: ['x/y'] })).toEqual([]);
  });

  it.each<[keyof ObjectMeta, string]>([
    ['name', 'x'],
    ['namespace', 'x'],
    ['uid', 'x'],
    ['creationTimestamp', 'x'],
    ['deletionTimestamp', 'x'],
  ])('may not change %s', (field, value) => {
    expect(changes({ ...old, [field]: value })).toEqual([`metadata.${field}: Invalid value: "x": field is immutable`]);
  });

  it('must carry a resourceVersion', () => {
    const { resourceVersion: _, ...rest } = old;
    expect(changes(rest)).toEqual(['metadata.resourceVersion: Invalid value: "": must be specified for an update']);
  });

  it('may only lose finalizers while the object is being deleted', () => {
    const dying = { ...old, deletionTimestamp: 't', finalizers: ['x/y', 'x/z'] };
    expect(changes({ ...dying, finalizers: ['x/y'] }, dying)).toEqual([]);
    expect(changes({ ...dying, finalizers: ['x/y', 'x/b', 'x/a'] }, dying)).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/a", "x/b"}',
    ]);
  });
});

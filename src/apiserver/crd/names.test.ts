import { describe, expect, it } from 'vitest';
import { deepFreeze } from '../../machinery/index.ts';
import { evaluateCrdNames } from './names.ts';
import type { CrdNames, CrdStatus, CustomResourceDefinition } from './types.ts';
import { crdWarnings } from './warnings.ts';

const now = Date.UTC(2026, 0, 2, 3, 4, 5);

function crd(
  names: CrdNames,
  more: { group?: string; status?: CrdStatus; annotations?: Record<string, string> } = {},
): CustomResourceDefinition {
  const group = more.group ?? 'example.com';
  return deepFreeze({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${names.plural}.${group}`, ...(more.annotations ? { annotations: more.annotations } : {}) },
    spec: { group, names, scope: 'Cluster' as const, versions: [{ name: 'v1', served: true, storage: true }] },
    ...(more.status ? { status: more.status } : {}),
  });
}

const things: CrdNames = {
  plural: 'things',
  singular: 'thing',
  kind: 'Thing',
  listKind: 'ThingList',
  shortNames: ['th'],
};
const accepted = crd(things, { status: { acceptedNames: things } });

describe('evaluateCrdNames', () => {
  it('accepts free names and establishes the kind', () => {
    expect(evaluateCrdNames(crd(things), [], now)).toEqual({
      acceptedNames: things,
      established: true,
      conditions: [
        {
          type: 'NamesAccepted',
          status: 'True',
          reason: 'NoConflicts',
          message: 'no conflicts found',
          lastTransitionTime: '2026-01-02T03:04:05Z',
        },
        {
          type: 'Established',
          status: 'True',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
          lastTransitionTime: '2026-01-02T03:04:05Z',
        },
      ],
    });
  });

  it.each<[string, Partial<CrdNames>, string, string]>([
    ['singular', { singular: 'thing' }, 'SingularConflict', '"thing" is already in use'],
    ['singular like a short name', { singular: 'th' }, 'SingularConflict', '"th" is already in use'],
    [
      'short names',
      { shortNames: ['th', 'o', 'things'] },
      'ShortNamesConflict',
      '["th" is already in use, "things" is already in use]',
    ],
    ['kind', { kind: 'Thing' }, 'KindConflict', '"Thing" is already in use'],
    ['list kind', { listKind: 'ThingList' }, 'ListKindConflict', '"ThingList" is already in use'],
  ])('refuses a %s that is already in use', (_name, names, reason, message) => {
    const other = crd({ plural: 'others', singular: 'other', kind: 'Other', listKind: 'OtherList', ...names });
    const evaluation = evaluateCrdNames(other, [accepted], now);
    expect(evaluation.established).toBe(false);
    expect(evaluation.acceptedNames.plural).toBe('others');
    expect(evaluation.conditions[0]).toMatchObject({ type: 'NamesAccepted', status: 'False', reason, message });
    expect(evaluation.conditions[1]).toMatchObject({ type: 'Established', status: 'False', reason: 'NotAccepted' });
  });

  it('ignores names of other groups and its own names', () => {
    expect(evaluateCrdNames(crd(things, { group: 'other.example.com' }), [accepted], now).established).toBe(true);
    expect(evaluateCrdNames(accepted, [accepted], now).established).toBe(true);
  });

  it('keeps an established kind with its names and condition times', () => {
    const before = evaluateCrdNames(crd(things), [], now);
    const rival = crd(
      { plural: 'rivals', kind: 'Rival' },
      { status: { acceptedNames: { plural: 'rivals', kind: 'Rival', shortNames: ['r'] } } },
    );
    const changed = crd({ ...things, shortNames: ['th', 'r'] }, { status: before });
    const after = evaluateCrdNames(changed, [rival], now + 60_000);
    expect(after.established).toBe(true);
    expect(after.acceptedNames.shortNames).toEqual(['th']);
    expect(after.conditions[0]).toMatchObject({ status: 'False', lastTransitionTime: '2026-01-02T03:05:05Z' });
    expect(after.conditions[1]).toMatchObject({ status: 'True', lastTransitionTime: '2026-01-02T03:04:05Z' });
  });

  it('reports the API approval of community groups in a condition', () => {
    const url = 'https://github.com/kubernetes/enhancements/pull/1';
    const approved = crd(things, { group: 'x.k8s.io', annotations: { 'api-approved.kubernetes.io': url } });
    expect(evaluateCrdNames(approved, [], now).conditions[2]).toMatchObject({
      type: 'KubernetesAPIApprovalPolicyConformant',
      status: 'True',
      reason: 'ApprovedAnnotation',
      message: `approved in ${url}`,
    });
  });
});

describe('crdWarnings', () => {
  const withFormat = (format: string): CustomResourceDefinition => {
    const definition = structuredClone(crd(things));
    definition.spec.versions[0]!.schema = {
      openAPIV3Schema: {
        type: 'object',
        properties: { a: { type: 'string', format }, n: { type: 'integer', format: 'int32' } },
      },
    };
    return definition;
  };

  it('warns about unknown formats that the update adds', () => {
    expect(crdWarnings(withFormat('fancy'))).toEqual(['unrecognized format "fancy"']);
    expect(crdWarnings(withFormat('date-time'))).toEqual([]);
    expect(crdWarnings(withFormat('fancy'), withFormat('fancy'))).toEqual([]);
  });
});

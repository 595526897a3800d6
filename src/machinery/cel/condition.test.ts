import { describe, expect, it } from 'vitest';
import { compileCondition } from './condition.ts';

const request = { operation: 'UPDATE', userInfo: { username: 'jane', groups: ['a', 'b'] }, dryRun: false };
const object = { metadata: { name: 'x', labels: { tier: 'web' } }, spec: { replicas: 3, ratio: 0.5, empty: null } };

describe('condition', () => {
  const holds = (source: string): boolean =>
    compileCondition(source, ['object', 'oldObject', 'request']).holds({ object, oldObject: undefined, request });

  it.each([
    ['object.metadata.name == "x"', true],
    ['object.spec.replicas > 2', true],
    ['object.spec.replicas + 1 == 4', true],
    ['object.spec.ratio < 1.0', true],
    ['request.operation in ["CREATE", "UPDATE"]', true],
    ['request.userInfo.groups.exists(g, g == "b")', true],
    ['!("system:nodes" in request.userInfo.groups)', true],
    ['oldObject == null', true],
    ['has(object.metadata.labels) && "tier" in object.metadata.labels', true],
    ['has(object.spec.missing)', false],
    ['object.spec.empty == null', true],
    ['object.metadata.?labels["nothing"].orValue("none") == "none"', true],
    ['request.dryRun', false],
  ])('%s is %s', (source, expected) => {
    expect(holds(source)).toBe(expected);
  });

  it('a member that is not there cannot be evaluated', () => {
    expect(() => holds('object.spec.missing == 1')).toThrow('no such key: missing');
  });

  it.each([
    ['object.metadata.name', undefined],
    ['1 + 1', 'must evaluate to bool'],
    ['object.', 'compilation failed'],
    ['nobody.knows == 1', "undeclared reference to 'nobody'"],
  ])('%s has the problem %j', (source, problem) => {
    const condition = compileCondition(source, ['object']);
    if (problem === undefined) expect(condition.problem).toBeUndefined();
    else {
      expect(condition.problem).toContain(problem);
      expect(() => condition.holds({ object })).toThrow(problem);
    }
  });
});

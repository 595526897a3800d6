import { describe, expect, it } from 'vitest';
import { compileMatchCondition, compilePolicy, type PolicyExpressions } from './admission.ts';
import { type AuthorizationQuestion, CelAuthorizer } from './libraries/authorizer.ts';
import { untypedToCel } from './untyped-values.ts';
import type { CelValue } from './values.ts';

const request = { operation: 'UPDATE', userInfo: { username: 'jane', groups: ['a', 'b'] }, dryRun: false };
const object = { metadata: { name: 'x', labels: { tier: 'web' } }, spec: { replicas: 3, ratio: 0.5, empty: null } };

describe('an expression about a request', () => {
  const asked: AuthorizationQuestion[] = [];
  const authorizer = new CelAuthorizer(
    (question) => {
      asked.push(question);
      return { allowed: question.verb === 'get', reason: `about ${question.verb}` };
    },
    { group: '', resource: 'pods', namespace: 'ns', name: 'p' },
  );
  const values: Record<string, CelValue> = {
    object: untypedToCel(object),
    oldObject: null,
    request: untypedToCel(request),
    authorizer,
  };
  const run = (source: string, budget = { remaining: 1_000_000 }): CelValue =>
    compileMatchCondition(source, { hasParams: false }).run(values, budget);

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
    ['has(request.namespace)', false],
    ['object.spec.empty == null', true],
    ['object.metadata.?labels["nothing"].orValue("none") == "none"', true],
    ['request.dryRun', false],
    ['authorizer.group("apps").resource("deployments").check("get").allowed()', true],
    ['authorizer.group("apps").resource("deployments").check("delete").allowed()', false],
    ['authorizer.path("/healthz").check("get").reason() == "about get"', true],
    ['authorizer.requestResource.subresource("log").check("get").errored()', false],
    ['authorizer.serviceAccount("ns", "robot").group("").resource("pods").check("get").allowed()', true],
  ])('%s evaluates to %s', (source, expected) => {
    expect(run(source)).toBe(expected);
  });

  it('asks the authorizer with the full attributes of the check', () => {
    asked.length = 0;
    run('authorizer.group("g").resource("r").subresource("s").namespace("n").name("m").check("v").allowed()');
    run('authorizer.requestResource.check("list").allowed()');
    run('authorizer.serviceAccount("ns", "robot").path("/x").check("get").allowed()');
    expect(asked).toEqual([
      { group: 'g', resource: 'r', subresource: 's', namespace: 'n', name: 'm', verb: 'v' },
      { group: '', resource: 'pods', namespace: 'ns', name: 'p', verb: 'list' },
      { path: '/x', verb: 'get', serviceAccount: { namespace: 'ns', name: 'robot' } },
    ]);
  });

  it.each([
    ['object.spec.missing == 1', 'no such key: missing'],
    ['authorizer.path(" ").check("get").allowed()', 'path must not be empty'],
    ['authorizer.group("").resource("").check("get").allowed()', 'resource must not be empty'],
    ['authorizer.serviceAccount("a.b", "x").path("/").check("get").allowed()', 'Invalid service account namespace'],
  ])('%s cannot be evaluated: %s', (source, problem) => {
    expect(() => run(source)).toThrow(problem);
  });

  it('stops when it does too much work and leaves less budget for the next', () => {
    const budget = { remaining: 400_000 };
    run('authorizer.path("/").check("get").allowed()', budget);
    expect(budget.remaining).toBeLessThan(60_000);
    expect(() => run('authorizer.path("/").check("get").allowed()', budget)).toThrow('cost limit exceeded');
  });

  it.each([
    ['1 + 1', 'must evaluate to bool but got int'],
    ['object.metadata.name', 'must evaluate to bool but got dyn'],
    ['object.', 'compilation failed'],
    ['nobody.knows == 1', "undeclared reference to 'nobody'"],
    ['params.x == 1', "undeclared reference to 'params'"],
    ['request.nope == 1', "undefined field 'nope'"],
    ['namespaceObject.metadata.foo == ""', "undefined field 'foo'"],
    ['authorizer.nope == 1', "undefined field 'nope'"],
    [
      'authorizer.group(1)',
      "found no matching overload for 'group' applied to 'kubernetes.authorization.Authorizer.(int)'",
    ],
  ])('%s is refused when compiled and when run: %s', (source, problem) => {
    expect(compileMatchCondition(source, { hasParams: false }).problem).toContain(problem);
    expect(() => run(source)).toThrow(problem);
  });
});

describe('the expressions of a policy', () => {
  const problems = (spec: PolicyExpressions): [string, string][] =>
    compilePolicy(spec).problems.map(({ path, program }) => [path, program.problem!.split('\n')[0]!]);

  it('may use parameters where they exist and variables after they are defined', () => {
    expect(
      problems({
        paramKind: {},
        variables: [
          { name: 'a', expression: 'params.limit' },
          { name: 'b', expression: 'size(object.items) + 1' },
          { name: 'c', expression: 'variables.b + 1' },
        ],
        validations: [
          { expression: 'variables.c <= int(variables.a)', messageExpression: '"more than " + string(variables.c)' },
        ],
      }),
    ).toEqual([]);
  });

  it('know the types of variables', () => {
    expect(
      problems({
        variables: [
          { name: 'a', expression: 'variables.b' },
          { name: 'b', expression: '1' },
        ],
        validations: [
          { expression: 'variables.b == "x"' },
          { expression: 'variables.b' },
          { expression: 'variables.c' },
        ],
      }),
    ).toEqual([
      ['variables[0].expression', expect.stringContaining("undefined field 'b'")],
      ['validations[0].expression', expect.stringContaining("no matching overload for '_==_'")],
      ['validations[1].expression', 'must evaluate to bool but got int'],
      ['validations[2].expression', expect.stringContaining("undefined field 'c'")],
    ]);
  });

  it('report the place of each problem', () => {
    expect(
      problems({
        matchConditions: [{ name: 'm', expression: '1' }],
        validations: [{ expression: 'variables.x', messageExpression: 'authorizer' }],
        auditAnnotations: [{ valueExpression: '1' }],
      }),
    ).toEqual([
      ['matchConditions[0].expression', 'must evaluate to bool but got int'],
      ['validations[0].expression', expect.stringContaining("undeclared reference to 'variables'")],
      ['validations[0].messageExpression', expect.stringContaining("undeclared reference to 'authorizer'")],
      ['auditAnnotations[0].valueExpression', 'must evaluate to one of [string null_type] but got int'],
    ]);
  });
});

import { type CelProgram, compileProgram } from './program.ts';
import { boolType, dynType, intType, type StaticType, simpleType, stringType } from './static-type.ts';

// Variables and types for admission expressions.

const listOf = (element: StaticType): StaticType => ({ kind: 'list', element });
const mapOf = (value: StaticType): StaticType => ({ kind: 'map', key: stringType, value });
const record = (name: string, fields: Record<string, StaticType>): StaticType => ({
  kind: 'record',
  name: `kubernetes.${name}`,
  fields: new Map(Object.entries(fields)),
});

const kindType = record('GroupVersionKind', { group: stringType, version: stringType, kind: stringType });
const resourceType = record('GroupVersionResource', { group: stringType, version: stringType, resource: stringType });

const requestType = record('AdmissionRequest', {
  kind: kindType,
  resource: resourceType,
  subResource: stringType,
  requestKind: kindType,
  requestResource: resourceType,
  requestSubResource: stringType,
  name: stringType,
  namespace: stringType,
  operation: stringType,
  userInfo: record('UserInfo', {
    username: stringType,
    uid: stringType,
    groups: listOf(stringType),
    extra: mapOf(listOf(stringType)),
  }),
  dryRun: boolType,
  options: dynType,
});

const timestampType = simpleType('timestamp');

const namespaceType = record('Namespace', {
  metadata: record('NamespaceMetadata', {
    name: stringType,
    generateName: stringType,
    namespace: stringType,
    labels: mapOf(stringType),
    annotations: mapOf(stringType),
    UID: stringType,
    creationTimestamp: timestampType,
    deletionGracePeriodSeconds: intType,
    deletionTimestamp: timestampType,
    generation: intType,
    resourceVersion: stringType,
    finalizers: listOf(stringType),
  }),
  spec: record('NamespaceSpec', { finalizers: listOf(stringType) }),
  status: record('NamespaceStatus', {
    phase: stringType,
    conditions: listOf(
      record('NamespaceCondition', {
        type: stringType,
        status: stringType,
        reason: stringType,
        message: stringType,
        lastTransitionTime: timestampType,
      }),
    ),
  }),
});

const authorizerType: StaticType = {
  kind: 'record',
  name: 'Authorizer',
  fields: new Map([['requestResource', simpleType('ResourceCheck')]]),
};

interface Environment {
  hasParams: boolean;
  hasAuthorizer: boolean;
  variables?: ReadonlyMap<string, StaticType>;
}

function scopeOf({ hasParams, hasAuthorizer, variables }: Environment): Map<string, StaticType> {
  const scope = new Map<string, StaticType>([
    ['object', dynType],
    ['oldObject', dynType],
    ['request', requestType],
    ['namespaceObject', namespaceType],
  ]);
  if (hasParams) scope.set('params', dynType);
  if (hasAuthorizer) scope.set('authorizer', authorizerType);
  if (variables) scope.set('variables', { kind: 'record', name: 'kubernetes.variables', fields: variables });
  return scope;
}

/** Compiles a match condition of a webhook or policy. */
export function compileMatchCondition(expression: string, options: { hasParams: boolean }): CelProgram {
  return compileProgram(expression, scopeOf({ ...options, hasAuthorizer: true }), [boolType]);
}

export interface PolicyExpressions {
  paramKind?: object | undefined;
  matchConditions?: readonly { name?: string; expression?: string }[] | undefined;
  variables?: readonly { name?: string; expression?: string }[] | undefined;
  validations?: readonly { expression?: string; messageExpression?: string }[] | undefined;
  auditAnnotations?: readonly { valueExpression?: string }[] | undefined;
}

export interface CompiledPolicy {
  matchConditions: readonly CelProgram[];
  /** each may use the preceding ones */
  variables: readonly { name: string; program: CelProgram }[];
  validations: readonly { condition: CelProgram; message: CelProgram | undefined }[];
  /** expressions that do not compile, by the path of their field below the spec */
  problems: readonly { path: string; program: CelProgram }[];
}

/** Compiles the expressions of a policy. Validation rejects empty expressions. */
export function compilePolicy(spec: PolicyExpressions): CompiledPolicy {
  const hasParams = spec.paramKind !== undefined;
  const problems: { path: string; program: CelProgram }[] = [];
  const noted = (path: string, program: CelProgram): CelProgram => {
    if (program.problem !== undefined && program.source.trim() !== '') problems.push({ path, program });
    return program;
  };
  const types = new Map<string, StaticType>();
  const composed = (spec.variables ?? []).length > 0;
  const compile = (
    source: string,
    { hasAuthorizer }: { hasAuthorizer: boolean },
    results?: readonly StaticType[],
  ): CelProgram =>
    compileProgram(
      source,
      scopeOf({ hasParams, hasAuthorizer, ...(composed && { variables: new Map(types) }) }),
      results,
    );

  const matchConditions = (spec.matchConditions ?? []).map(({ expression = '' }, index) =>
    noted(`matchConditions[${index}].expression`, compileMatchCondition(expression.trim(), { hasParams })),
  );
  const variables = (spec.variables ?? []).map(({ name = '', expression = '' }, index) => {
    const program = noted(`variables[${index}].expression`, compile(expression, { hasAuthorizer: true }));
    types.set(name, program.type);
    return { name, program };
  });
  const validations = (spec.validations ?? []).map(({ expression = '', messageExpression = '' }, index) => {
    const path = `validations[${index}]`;
    const condition = noted(`${path}.expression`, compile(expression, { hasAuthorizer: true }, [boolType]));
    const message =
      messageExpression.trim() === ''
        ? undefined
        : noted(`${path}.messageExpression`, compile(messageExpression, { hasAuthorizer: false }, [stringType]));
    return { condition, message };
  });
  for (const [index, { valueExpression = '' }] of (spec.auditAnnotations ?? []).entries()) {
    const program = compile(valueExpression.trim(), { hasAuthorizer: true }, [stringType, simpleType('null_type')]);
    noted(`auditAnnotations[${index}].valueExpression`, program);
  }
  return { matchConditions, variables, validations, problems };
}

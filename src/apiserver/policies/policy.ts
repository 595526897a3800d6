import {
  type CompiledPolicy,
  compilePolicy,
  isJsonObject,
  type JsonObject,
  type LabelSelectorMatcher,
  labelSelectorFromObject,
  type PolicyExpressions,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { parseRequestMatch, type RequestMatch } from '../admission/matching.ts';

/** A compiled ValidatingAdmissionPolicy. */
export interface Policy {
  name: string;
  failurePolicy: 'Fail' | 'Ignore';
  paramKind: { apiVersion: string; kind: string } | undefined;
  match: RequestMatch;
  compiled: CompiledPolicy;
  validations: readonly PolicyValidation[];
}

export interface PolicyValidation {
  expression: string;
  message: string;
  reason: string | undefined;
}

/** A parsed ValidatingAdmissionPolicyBinding. */
export interface Binding {
  name: string;
  policyName: string;
  match: RequestMatch;
  actions: readonly string[];
  paramRef: ParamRef | undefined;
}

export interface ParamRef {
  name: string;
  namespace: string;
  selector: LabelSelectorMatcher | undefined;
  /** action if there are no parameters */
  whenMissing: 'Allow' | 'Deny' | undefined;
}

export function parsePolicy({ metadata, spec }: UnstructuredObject): Policy {
  const source = isJsonObject(spec) ? spec : {};
  const paramKind = isJsonObject(source['paramKind']) ? source['paramKind'] : undefined;
  const validations = Array.isArray(source['validations']) ? source['validations'].filter(isJsonObject) : [];
  return {
    name: metadata.name ?? '',
    failurePolicy: source['failurePolicy'] === 'Ignore' ? 'Ignore' : 'Fail',
    paramKind: paramKind && { apiVersion: textOf(paramKind, 'apiVersion'), kind: textOf(paramKind, 'kind') },
    match: parseRequestMatch(objectOf(source, 'matchConstraints'), 'resourceRules'),
    compiled: compilePolicy(source as PolicyExpressions),
    validations: validations.map((validation) => ({
      expression: textOf(validation, 'expression').trim(),
      message: textOf(validation, 'message').trim(),
      reason: typeof validation['reason'] === 'string' ? validation['reason'] : undefined,
    })),
  };
}

export function parseBinding({ metadata, spec }: UnstructuredObject): Binding {
  const source = isJsonObject(spec) ? spec : {};
  const actions = source['validationActions'];
  return {
    name: metadata.name ?? '',
    policyName: textOf(source, 'policyName'),
    match: parseRequestMatch(objectOf(source, 'matchResources'), 'resourceRules'),
    actions: Array.isArray(actions) ? actions.map(String) : [],
    paramRef: isJsonObject(source['paramRef']) ? parseParamRef(source['paramRef']) : undefined,
  };
}

function parseParamRef(source: JsonObject): ParamRef {
  const whenMissing = source['parameterNotFoundAction'];
  return {
    name: textOf(source, 'name'),
    namespace: textOf(source, 'namespace'),
    selector: isJsonObject(source['selector']) ? labelSelectorFromObject(source['selector']) : undefined,
    whenMissing: whenMissing === 'Allow' || whenMissing === 'Deny' ? whenMissing : undefined,
  };
}

function textOf(source: JsonObject, key: string): string {
  return typeof source[key] === 'string' ? source[key] : '';
}

function objectOf(source: JsonObject, key: string): JsonObject {
  return isJsonObject(source[key]) ? source[key] : {};
}

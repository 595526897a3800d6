export {
  type CompiledPolicy,
  compileMatchCondition,
  compilePolicy,
  type PolicyExpressions,
} from './admission.ts';
export { compileCondition } from './conditions.ts';
export { isCelIdentifier } from './escape.ts';
export { type AuthorizationCheck, type AuthorizationQuestion, CelAuthorizer } from './libraries/authorizer.ts';
export type { CelBudget, CelProgram } from './program.ts';
export { compileRules, type RuleSet, type RuleSetOptions } from './rules.ts';
export { untypedToCel } from './untyped-values.ts';
export { validateCustomResource } from './validate-object.ts';
export type { CelMap, CelValue } from './values.ts';

export { type CelCondition, compileCondition } from './condition.ts';
export { compileRules, type RuleSet, type RuleSetOptions } from './rules.ts';
export { validateCustomResource } from './validate-object.ts';

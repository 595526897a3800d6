export { listVariables, replaceVariables, substituteVariables, type VariableLookup } from './substitute.ts';

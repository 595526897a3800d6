import {
  type CelProgram,
  checkQualifiedName,
  compileMatchCondition,
  type FieldError,
  fieldError,
} from '../../machinery/index.ts';
import { invalid } from '../common/validation.ts';

export interface MatchCondition {
  name: string;
  expression: string;
}

const most = 64;

/** Checks that match conditions compile and that their names are unique. */
export function validateMatchConditions(
  conditions: readonly MatchCondition[] = [],
  path: string,
  options: { hasParams: boolean },
): FieldError[] {
  const errors: FieldError[] = [];
  if (conditions.length > most) errors.push(fieldError.tooMany(path, conditions.length, most));
  const names = new Set<string>();
  for (const [index, { name, expression }] of conditions.entries()) {
    const at = `${path}[${index}]`;
    const source = expression?.trim() ?? '';
    if (source === '') errors.push(fieldError.required(`${at}.expression`));
    else errors.push(...programErrors(compileMatchCondition(source, options), `${at}.expression`));
    if (!name) errors.push(fieldError.required(`${at}.name`));
    else {
      errors.push(...invalid(`${at}.name`, name, checkQualifiedName(name)));
      if (names.has(name)) errors.push(fieldError.duplicate(`${at}.name`, name));
      names.add(name);
    }
  }
  return errors;
}

export function programErrors({ problem, source }: CelProgram, path: string): FieldError[] {
  return problem === undefined ? [] : [fieldError.invalid(path, source, problem)];
}

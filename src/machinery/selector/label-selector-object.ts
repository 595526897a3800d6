import { type FieldError, fieldError } from '../errors/field-error.ts';
import { checkLabelValue, checkQualifiedName } from '../validation/names.ts';
import {
  everythingSelector,
  type LabelOperator,
  type LabelRequirement,
  type LabelSelectorMatcher,
  labelSelectorFromRequirements,
  nothingSelector,
} from './label-selector.ts';

export interface LabelSelectorExpression {
  key: string;
  operator: string;
  values?: string[] | null;
}

export interface LabelSelectorObject {
  matchLabels?: Record<string, string> | null;
  matchExpressions?: LabelSelectorExpression[] | null;
}

const operators: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

const compiled = new WeakMap<LabelSelectorObject, LabelSelectorMatcher>();

/**
 * Compiles a LabelSelector field; cached per (immutable) selector object. As upstream, an absent selector matches
 * nothing and an empty one everything. Throws on an unknown operator: validate first.
 */
export function labelSelectorFromObject(selector: LabelSelectorObject | null | undefined): LabelSelectorMatcher {
  if (selector === null || selector === undefined) return nothingSelector;
  let matcher = compiled.get(selector);
  if (matcher === undefined) {
    matcher = compile(selector);
    compiled.set(selector, matcher);
  }
  return matcher;
}

function compile({ matchLabels, matchExpressions }: LabelSelectorObject): LabelSelectorMatcher {
  const requirements: LabelRequirement[] = [];
  for (const [key, value] of Object.entries(matchLabels ?? {}))
    requirements.push({ key, operator: '=', values: [value] });
  for (const { key, operator, values } of matchExpressions ?? []) {
    const known = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
    if (known === undefined) throw new Error(`"${operator}" is not a valid label selector operator`);
    requirements.push({ key, operator: known, values: [...new Set(values ?? [])].sort() });
  }
  return requirements.length === 0 ? everythingSelector : labelSelectorFromRequirements(requirements);
}

/** Validates a LabelSelector field at `path` with the messages of kube-apiserver. */
export function validateLabelSelector(
  selector: LabelSelectorObject | null | undefined,
  path: string,
  options: { allowInvalidValues?: boolean; allowUnknownOperators?: boolean } = {},
): FieldError[] {
  const errors: FieldError[] = [];
  if (selector === null || selector === undefined) return errors;
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    for (const problem of checkQualifiedName(key)) errors.push(fieldError.invalid(`${path}.matchLabels`, key, problem));
    for (const problem of checkLabelValue(value)) {
      errors.push(fieldError.invalid(`${path}.matchLabels`, value, problem));
    }
  }
  (selector.matchExpressions ?? []).forEach((expression, index) => {
    const at = `${path}.matchExpressions[${index}]`;
    const values = expression.values ?? [];
    switch (expression.operator) {
      case 'In':
      case 'NotIn':
        if (values.length === 0) {
          errors.push(fieldError.required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
        }
        break;
      case 'Exists':
      case 'DoesNotExist':
        if (values.length > 0) {
          errors.push(
            fieldError.forbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
          );
        }
        break;
      default:
        if (options.allowUnknownOperators !== true) {
          errors.push(fieldError.invalid(`${at}.operator`, expression.operator, 'not a valid selector operator'));
        }
    }
    for (const problem of checkQualifiedName(expression.key)) {
      errors.push(fieldError.invalid(`${at}.key`, expression.key, problem));
    }
    if (options.allowInvalidValues === true) return;
    values.forEach((value, position) => {
      for (const problem of checkLabelValue(value)) {
        errors.push(fieldError.invalid(`${at}.values[${position}]`, value, problem));
      }
    });
  });
  return errors;
}

/** Formats a selector for table columns: `<none>` if it selects everything, `<error>` if it is invalid. */
export function formatLabelSelectorObject(selector: LabelSelectorObject | null | undefined): string {
  try {
    const text = labelSelectorFromObject(selector).toString();
    return text === '' ? '<none>' : text;
  } catch {
    return '<error>';
  }
}

import { type JsonValue, parseYaml, type StepBudget } from '../../../machinery/index.ts';
import {
  hermeticFunctions,
  type Limits,
  parseTemplates,
  type TemplateSet,
  toTemplateValue,
} from '../../../template/index.ts';
import type { VariableValues } from './variable-path.ts';

/** Security: tenants write templates, so each rendering is limited. */
const limits: Partial<Limits> = { steps: 100_000, depth: 100, outputCharacters: 256 * 1024 };
/** parsed YAML is copied several more times */
const charactersPerStep = 16;

const name = 'tpl';
const parsed = new Map<string, TemplateSet>();
const maxParsed = 2_000;

/** Parses a template; throws an Error with Go's message. */
export function parseValueTemplate(text: string): TemplateSet {
  const known = parsed.get(text);
  if (known) return known;
  const result = parseTemplates([{ name, text }], { functions: hermeticFunctions });
  if (!result.ok) throw result.error;
  if (parsed.size >= maxParsed) parsed.clear();
  parsed.set(text, result.value);
  return result.value;
}

/** Renders a template and parses the output as YAML. Throws an Error that names the template and the cause. */
export function renderValue(text: string, values: VariableValues, account?: StepBudget): JsonValue {
  const output = renderText(text, values, account && { account });
  if (account) account.left -= Math.ceil(output.length / charactersPerStep);
  try {
    return parseYaml(output).value;
  } catch (error) {
    throw new Error(`template ${shown(text)} rendered to what is no YAML: ${(error as Error).message}`);
  }
}

export function renderText(
  text: string,
  values: VariableValues,
  options: { missingKey?: 'error'; account?: StepBudget } = {},
): string {
  const result = parseValueTemplate(text).render(name, toTemplateValue({ ...values } as JsonValue), {
    limits,
    ...options,
  });
  if (!result.ok) throw new Error(`template ${shown(text)} failed: ${result.error.message}`);
  return result.value;
}

const maxShown = 200;
const shown = (text: string): string => JSON.stringify(text.length > maxShown ? `${text.slice(0, maxShown)}…` : text);

import { type JsonValue, ManualClock, parseYaml, seededRandom } from '../../machinery/index.ts';
import {
  chartFunctions,
  type MissingKey,
  parseTemplates,
  type Result,
  replaceVariables,
  toTemplateValue,
  type Value,
  withTypeName,
} from '../index.ts';

/** A template and the recorded result of the real programs. */
export interface GoCase {
  /** Go's text/template with Sprig, Helm's engine, or clusterctl's variables */
  readonly mode: 'go' | 'helm' | 'env';
  readonly template: string;
  readonly files?: Readonly<Record<string, string>>;
  /** name of the values */
  readonly values: string;
  /** integers are int64, as with `--set` */
  readonly ints?: boolean;
  readonly missing?: MissingKey;
  readonly output?: string;
  readonly error?: string;
}

const parsed = new Map<string, JsonValue>();

/** Runs a case and returns its output or error. */
export function runCase(given: GoCase, valuesText: string): { output: string } | { error: string } {
  const values = parsed.get(valuesText) ?? parseYaml(valuesText).value;
  parsed.set(valuesText, values);
  const result = given.mode === 'env' ? runVariables(given, values) : runTemplate(given, values);
  return result.ok
    ? { output: result.value }
    : { error: given.mode === 'helm' ? helmMessage(result.error) : result.error.message };
}

function runVariables({ template }: GoCase, values: JsonValue): Result<string> {
  const known = new Map(Object.entries(values as Record<string, string>));
  return replaceVariables(template, (name) => known.get(name));
}

function runTemplate(given: GoCase, values: JsonValue): Result<string> {
  const isHelm = given.mode === 'helm';
  const main = isHelm ? 'c/templates/t.yaml' : 't';
  const others = Object.entries(given.files ?? {}).map(([name, text]) => ({
    name: isHelm ? `c/templates/${name}` : name,
    text,
  }));
  const set = parseTemplates([...others, { name: main, text: given.template }], { functions: chartFunctions });
  if (!set.ok) return set;
  const data = toTemplateValue(values, given.ints ? 'int64' : 'float64');
  const dot: Value = isHelm
    ? new Map<string, Value>([
        ['Values', withTypeName('map[string]interface {}', data as Map<string, Value>)],
        [
          'Release',
          new Map([
            ['Name', 'rel'],
            ['Namespace', 'ns'],
          ]),
        ],
      ])
    : data;
  const result = set.value.render(main, dot, {
    missingKey: isHelm ? 'zero' : (given.missing ?? 'default'),
    clock: new ManualClock(Date.UTC(2024, 0, 1)),
    random: seededRandom(1),
  });
  return result.ok && isHelm ? { ok: true, value: result.value.replaceAll('<no value>', '') } : result;
}

/** Helm shortens some errors. */
function helmMessage(error: { message: string; said: string | undefined; place: string | undefined }): string {
  if (error.said !== undefined) return `execution error at (${error.place}): ${error.said}`;
  if (error.place !== undefined) return error.message;
  const parts = error.message.split(': ');
  return `parse error at (${parts[1]}): ${parts.at(-1)}`;
}

import { errorMessage, type JsonValue } from '../../machinery/index.ts';
import { TemplateError } from '../errors.ts';
import { isMap, typeOf, type ValueMap } from '../values/index.ts';
import type { Warn } from './coalesce.ts';
import type { ChartInstance } from './instance.ts';
import { JsonSchema, violationLines } from './json-schema.ts';

/** Validates values against the values.schema.json of a chart and of its subcharts. */
export function validateValues(chart: ChartInstance, values: ValueMap, warn: Warn): void {
  const problems = problemsOf(chart, values, warn);
  if (problems === '') return;
  throw new TemplateError(
    `values don't meet the specifications of the schema(s) in the following chart(s):\n${problems}`,
  );
}

function problemsOf(chart: ChartInstance, values: ValueMap, warn: Warn): string {
  let text = '';
  if (chart.chart.schema !== undefined) {
    const problem = schemaProblem(chart.chart.schema, values, chart, warn);
    if (problem !== undefined) text += `${chart.name}:\n${problem}`;
  }
  for (const subchart of chart.subcharts) {
    const own = values.get(subchart.name);
    if (own === undefined || own === null) continue;
    if (isMap(own)) text += problemsOf(subchart, own, warn);
    else text += `${subchart.name}:\ninvalid type for values: expected object (map), got ${typeOf(own)}\n`;
  }
  return text;
}

function schemaProblem(text: string, values: ValueMap, chart: ChartInstance, warn: Warn): string | undefined {
  let root: JsonValue;
  try {
    root = JSON.parse(text) as JsonValue;
  } catch (error) {
    return `values.schema.json: ${errorMessage(error)}\n`;
  }
  const schema = new JsonSchema(root);
  const violation = schema.validate(values);
  for (const reference of schema.foreign) {
    warn(`${chart.path}: values.schema.json refers to ${reference}, which is not fetched: nothing is checked there`);
  }
  if (!violation) return undefined;
  const lines =
    violation.kind === 'group' ? violation.causes.flatMap((cause) => violationLines(cause)) : violationLines(violation);
  return `${lines.join('\n')}\n`;
}

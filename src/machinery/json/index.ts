export * from './strict-json.ts';
export { jsonText, stringifyJson, stringifyObject } from './stringify.ts';
export * from './value.ts';
export { formatFoldedYaml, formatPrettyYaml, formatYaml } from './yaml-format.ts';
export * from './yaml-parse.ts';

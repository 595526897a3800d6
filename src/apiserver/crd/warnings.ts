import { formatCheck, type Schema } from '../../machinery/index.ts';
import type { CustomResourceDefinition } from './types.ts';

/** Returns `Warning` texts for string formats that the server does not enforce. Updates report only new ones. */
export function crdWarnings(crd: CustomResourceDefinition, old?: CustomResourceDefinition): string[] {
  const known = old ? new Set(unknownFormats(old)) : undefined;
  return unknownFormats(crd)
    .filter((format) => !known?.has(format))
    .map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

function unknownFormats(crd: CustomResourceDefinition): string[] {
  const formats = new Set<string>();
  for (const version of crd.spec.versions ?? []) {
    const schema = version.schema?.openAPIV3Schema;
    if (schema) collect(schema, formats);
  }
  return [...formats];
}

function collect(schema: Schema, formats: Set<string>): void {
  if (schema.type === 'string' && schema.format && !formatCheck(schema.format)) formats.add(schema.format);
  for (const property of Object.values(schema.properties ?? {})) collect(property, formats);
  if (typeof schema.additionalProperties === 'object') collect(schema.additionalProperties, formats);
  if (schema.items && !Array.isArray(schema.items)) collect(schema.items, formats);
  for (const branch of [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) {
    collect(branch, formats);
  }
  if (schema.not) collect(schema.not, formats);
}

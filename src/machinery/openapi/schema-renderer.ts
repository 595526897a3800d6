import type { JsonObject, JsonValue } from '../json/value.ts';
import type { Schema } from '../schema/types.ts';

/** Members of a component that are for our walkers, not for readers of the document; upstream publishes neither. */
const unpublishedInComponents: ReadonlySet<string> = new Set([
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-int-or-string',
]);

/** What a reference repeats of its component so that walkers need not look twice. */
const repeatedByReferences: ReadonlySet<string> = new Set(['type', 'properties', 'required', 'format', 'oneOf']);

/** Renders schemas as OpenAPI, collecting the shared components they refer to. */
export class SchemaRenderer {
  readonly #refPrefix: string;
  readonly #components = new Map<string, JsonObject>();

  constructor(refPrefix: '#/components/schemas/' | '#/definitions/') {
    this.#refPrefix = refPrefix;
  }

  /** components rendered so far, by name */
  get components(): JsonObject {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  ref(name: string): JsonObject {
    return { $ref: `${this.#refPrefix}${name}` };
  }

  /** Publishes a component; `extra` adds what only this publication knows, such as its group, version and kind. */
  add(name: string, schema: Schema, extra?: JsonObject): void {
    const known = this.#components.get(name);
    if (known) {
      Object.assign(known, extra);
      return;
    }
    // Reserved first: recursive schemas refer to themselves.
    const rendered: JsonObject = {};
    this.#components.set(name, rendered);
    Object.assign(rendered, this.renderNode(schema), extra);
  }

  /** The schema itself when it is nobody's component, else a reference with what the place adds to the component. */
  render(schema: Schema): JsonObject {
    const { component, componentSchema } = schema;
    if (component === undefined) return this.renderNode(schema);
    this.add(component, componentSchema ?? schema);
    if (!componentSchema) return this.ref(component);
    const published: JsonObject = { allOf: [this.ref(component)] };
    for (const key of Object.keys(schema) as (keyof Schema)[]) {
      if (key === 'component' || repeatedByReferences.has(key) || unpublishedInComponents.has(key)) continue;
      if (schema[key] !== componentSchema[key]) published[key] = schema[key] as JsonValue;
    }
    return published;
  }

  /** The node in full, whether or not it is a component; nodes below it may become references. */
  renderNode(schema: Schema): JsonObject {
    const result: JsonObject = {};
    const isComponent = schema.component !== undefined;
    for (const key of Object.keys(schema) as (keyof Schema)[]) {
      const value = schema[key];
      if (value === undefined || key === 'component' || (isComponent && unpublishedInComponents.has(key))) continue;
      switch (key) {
        case 'properties':
          result[key] = this.#renderMap(value as Record<string, Schema>);
          break;
        case 'items':
        case 'not':
          result[key] = this.render(value as Schema);
          break;
        case 'additionalProperties':
          result[key] = typeof value === 'boolean' ? value : this.render(value as Schema);
          break;
        case 'allOf':
        case 'anyOf':
        case 'oneOf':
          result[key] = (value as Schema[]).map((child) => this.render(child));
          break;
        default:
          result[key] = value as JsonValue;
      }
    }
    return result;
  }

  #renderMap(map: Record<string, Schema>): JsonObject {
    const result: JsonObject = {};
    for (const [key, schema] of Object.entries(map)) result[key] = this.render(schema);
    return result;
  }
}

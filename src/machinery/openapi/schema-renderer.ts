import type { JsonObject, JsonValue } from '../json/value.ts';
import type { Schema } from '../schema/types.ts';

/** Extensions of components that only internal walkers use. Upstream does not publish them. */
const unpublishedInComponents: ReadonlySet<string> = new Set([
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-int-or-string',
]);

/** Parts of a component that references repeat, so that walkers need not resolve the reference. */
const repeatedByReferences: ReadonlySet<string> = new Set(['type', 'properties', 'required', 'format', 'oneOf']);

/** Renders schemas as OpenAPI and collects the shared components they refer to. */
export class SchemaRenderer {
  readonly #refPrefix: string;
  readonly #components = new Map<string, JsonObject>();

  constructor(refPrefix: '#/components/schemas/' | '#/definitions/') {
    this.#refPrefix = refPrefix;
  }

  /** Components rendered so far, by name. */
  get components(): JsonObject {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  ref(name: string): JsonObject {
    return { $ref: `${this.#refPrefix}${name}` };
  }

  /** Adds a component. `extra` contains members only for this publication, such as group, version and kind. */
  add(name: string, schema: Schema, extra?: JsonObject): void {
    const known = this.#components.get(name);
    if (known) {
      Object.assign(known, extra);
      return;
    }
    // Registered before rendering, because recursive schemas refer to themselves.
    const rendered: JsonObject = {};
    this.#components.set(name, rendered);
    Object.assign(rendered, this.renderNode(schema), extra);
  }

  /** Renders a schema inline, or as a reference if it is a component, with the members this place adds. */
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

  /** Renders the node in full, even if it is a component. Nodes below it may become references. */
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

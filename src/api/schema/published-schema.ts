import { type JsonObject, SchemaRenderer } from '../../machinery/index.ts';
import { builtinSchema } from './builtin-schema.ts';

/** Renders a component as under `components.schemas` of an OpenAPI v3 document, with `$ref` to other components. */
export function publishedSchema(component: string): JsonObject {
  return new SchemaRenderer('#/components/schemas/').renderNode(builtinSchema(component));
}

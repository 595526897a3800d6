import { type JsonObject, SchemaRenderer } from '../../machinery/index.ts';
import { builtinSchema } from './builtin-schema.ts';

/** A component as it stands under `components.schemas` of an OpenAPI v3 document, other components as `$ref`. */
export function publishedSchema(component: string): JsonObject {
  return new SchemaRenderer('#/components/schemas/').renderNode(builtinSchema(component));
}

export { builtinComponents, builtinSchema, gvksOfComponent } from './builtin-schema.ts';
export { protobufRegistry } from './protobuf-messages.ts';
export { publishedSchema } from './published-schema.ts';
export type { TypeTable } from './type-table.ts';

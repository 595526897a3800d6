export { validateVersionSchema } from './validate-schema.ts';

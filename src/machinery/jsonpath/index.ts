export { compileJsonPath, type JsonPath } from './json-path.ts';
export { JsonPathError } from './parse.ts';
export { compileSimplePath, type SimplePath } from './simple-path.ts';

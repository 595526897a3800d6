export { Glob } from './glob.ts';
export { LinearPattern, type PatternMatch } from './linear-pattern.ts';
export type { PatternOptions } from './parse.ts';
export { PatternError } from './syntax.ts';

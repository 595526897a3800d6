// Public interface of the template engine: Go templates with chart functions, charts, and shell-style variables. It
// performs no I/O.
export * from './charts/index.ts';
export { FunctionError, type Result, TemplateError } from './errors.ts';
export type { MissingKey } from './evaluate/evaluator.ts';
export type { CertificateMaker, CertificateSubject, KeyPair } from './functions/certificates.ts';
export { chartFunctions } from './functions/charts.ts';
export { fits as versionFits } from './functions/constraint.ts';
export {
  type CallContext,
  define as defineFunction,
  type Library,
  type TemplateFunction,
} from './functions/function.ts';
export { cleanPath } from './functions/paths.ts';
export { hermeticFunctions, sprigFunctions } from './functions/sprig.ts';
export { Version } from './functions/version.ts';
export { defaultLimits, type Limits } from './limits.ts';
export * from './shell/index.ts';
export {
  type ParseSetOptions,
  parseTemplates,
  type RenderOptions,
  type RenderSession,
  type TemplateFile,
  TemplateSet,
} from './template-set.ts';
export * from './values/index.ts';

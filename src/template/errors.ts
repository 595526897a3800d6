/** An error of a template with Go's message: template, line, column, expression. */
export class TemplateError extends Error {
  /** a limit was exceeded, so the template may still be correct */
  readonly isLimit: boolean;
  /** `file:line:column` in the outermost running template; undefined for a parse error */
  readonly place: string | undefined;
  /** message of `fail` or `required`, without the location */
  readonly said: string | undefined;

  constructor(message: string, details: { isLimit?: boolean; place?: string; said?: string | undefined } = {}) {
    super(message);
    this.name = 'TemplateError';
    this.isLimit = details.isLimit ?? false;
    this.place = details.place;
    this.said = details.said;
  }
}

/** An invalid call of a template function. The evaluator adds the location. */
export class FunctionError extends Error {
  /** message of the template's author, see TemplateError.said */
  readonly said: string | undefined;

  constructor(message: string, said?: string) {
    super(message);
    this.name = 'FunctionError';
    this.said = said;
  }
}

/** Too many steps, too deep nesting or too much output. */
export class LimitError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LimitError';
  }
}

export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: TemplateError };

export const succeeded = <T>(value: T): Result<T> => ({ ok: true, value });
export const failed = (error: TemplateError): Result<never> => ({ ok: false, error });

/** Returns the value of a result, or throws its error. */
export function valueOrThrow<T>(result: Result<T>): T {
  if (!result.ok) throw result.error;
  return result.value;
}

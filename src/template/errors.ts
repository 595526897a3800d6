/** What went wrong in a template, in the words Go uses: template, line, column, expression. */
export class TemplateError extends Error {
  /** true: a limit of the caller was reached, which says nothing about the correctness of the template */
  readonly isLimit: boolean;
  /** `file:line:column` of the outermost template that was at work; undefined: the template could not be read */
  readonly place: string | undefined;
  /** what the author says with `fail` or `required`, without the places around it */
  readonly said: string | undefined;

  constructor(message: string, details: { isLimit?: boolean; place?: string; said?: string | undefined } = {}) {
    super(message);
    this.name = 'TemplateError';
    this.isLimit = details.isLimit ?? false;
    this.place = details.place;
    this.said = details.said;
  }
}

/** A function of a template refuses its arguments. The evaluator adds where. */
export class FunctionError extends Error {
  /** words of the template's author, see TemplateError.said */
  readonly said: string | undefined;

  constructor(message: string, said?: string) {
    super(message);
    this.name = 'FunctionError';
    this.said = said;
  }
}

/** More steps, depth or output than the caller allows. */
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

/** The value of a result; throws its error. */
export function valueOrThrow<T>(result: Result<T>): T {
  if (!result.ok) throw result.error;
  return result.value;
}

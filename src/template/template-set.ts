import { type Clock, ManualClock, must, type Random, type StepBudget } from '../machinery/index.ts';
import { FunctionError, failed, type Result, succeeded, TemplateError } from './errors.ts';
import { Evaluator, type MissingKey, type Rendering } from './evaluate/evaluator.ts';
import { builtins } from './functions/builtins.ts';
import { type CallContext, type FindFunction, finder, type Library } from './functions/function.ts';
import { Budget, defaultLimits, type Limits } from './limits.ts';
import { type Definition, isEmptyBody, parseFile, quoteGo } from './syntax/index.ts';
import type { TemplateCache } from './template-cache.ts';
import type { Value } from './values/index.ts';

export interface TemplateFile {
  /** name of the template in errors */
  readonly name: string;
  readonly text: string;
}

export interface ParseSetOptions {
  /** functions besides Go's own; templates that use others fail to parse */
  readonly functions?: Library;
  /** cache for templates with the same functions */
  readonly cache?: TemplateCache;
}

export interface RenderOptions {
  readonly limits?: Partial<Limits>;
  /** step budget shared with other renderings */
  readonly account?: StepBudget;
  readonly missingKey?: MissingKey;
  /** clock of `now`; without it the time is fixed */
  readonly clock?: Clock;
  /** random source of `uuidv4`, `randAlphaNum` and the like, which fail without it */
  readonly random?: Random;
  /** functions that replace library functions in this rendering, for example `lookup` */
  readonly functions?: Library;
}

/** Renderings with shared limits. It must not be used after a failure. */
export interface RenderSession {
  render(name: string, data: Value): Result<string>;
}

/** Name of templates given to `tpl`, which Helm shows in errors. */
const textName = 'gotpl';

/** Parses templates. Of two with the same name the later one is used, unless it is empty. */
export function parseTemplates(files: Iterable<TemplateFile>, options: ParseSetOptions = {}): Result<TemplateSet> {
  const find = finder(options.functions, builtins);
  const definitions = new Map<string, Definition>();
  for (const { name, text } of files) {
    let own = options.cache?.get(name, text);
    if (!own) {
      const read = readFile(name, text, find);
      if (!read.ok) return read;
      own = read.value;
      options.cache?.set(name, text, own);
    }
    for (const definition of own) add(definitions, definition);
  }
  return succeeded(new TemplateSet(definitions, find));
}

function readFile(name: string, text: string, find: FindFunction): Result<Definition[]> {
  try {
    return succeeded(parseFile(name, text, { hasFunction: (wanted) => find(wanted) !== undefined }));
  } catch (error) {
    if (error instanceof TemplateError) return failed(error);
    throw error;
  }
}

function add(definitions: Map<string, Definition>, definition: Definition): void {
  if (definitions.has(definition.name) && isEmptyBody(definition.body)) return;
  definitions.set(definition.name, definition);
}

/** Templates that can include each other. A set is immutable and can render many times. */
export class TemplateSet {
  readonly #definitions: ReadonlyMap<string, Definition>;
  readonly #find: FindFunction;
  /** cache of texts given to `tpl`, which charts often repeat */
  readonly #texts = new Map<string, Result<Definition[]>>();

  constructor(definitions: ReadonlyMap<string, Definition>, find: FindFunction) {
    this.#definitions = definitions;
    this.#find = find;
  }

  get names(): string[] {
    return [...this.#definitions.keys()];
  }

  has(name: string): boolean {
    return this.#definitions.has(name);
  }

  /** Renders a template. Functions such as `set` may change the data; `toTemplateValue` makes a copy. */
  render(name: string, data: Value, options: RenderOptions = {}): Result<string> {
    return this.session(options).render(name, data);
  }

  /** Renders several templates with shared limits. */
  session(options: RenderOptions = {}): RenderSession {
    const budget = new Budget({ ...defaultLimits, ...options.limits }, options.account);
    const rendering = this.#rendering((wanted) => this.#definitions.get(wanted), budget, options);
    return {
      render: (name, data) => {
        const definition = this.#definitions.get(name);
        if (!definition) return failed(new TemplateError(`template: no template ${quoteGo(name)}`));
        try {
          return succeeded(new Evaluator(rendering, definition, data).run());
        } catch (error) {
          if (error instanceof TemplateError) return failed(error);
          // The JavaScript stack is the last limit, because a caller may allow more depth than it holds.
          if (error instanceof RangeError)
            return failed(new TemplateError(`template: ${name}: ${error.message}`, { isLimit: true }));
          throw error;
        }
      },
    };
  }

  #rendering(lookup: Rendering['lookup'], budget: Budget, options: RenderOptions): Rendering {
    const context: CallContext = {
      budget,
      clock: options.clock ?? new ManualClock(0),
      random: options.random ?? noRandom,
      include: (name, data) => {
        const definition = lookup(name);
        if (!definition) {
          throw new FunctionError(`template: no template ${quoteGo(name)} associated with template "${textName}"`);
        }
        return new Evaluator(rendering, definition, data).run();
      },
      renderText: (text, data) => {
        const read = this.#text(text);
        if (!read.ok) throw new FunctionError(`cannot parse template ${quoteGo(text)}: ${read.error.message}`);
        const own = new Map<string, Definition>();
        for (const definition of read.value) add(own, definition);
        const inner = this.#rendering((wanted) => own.get(wanted) ?? lookup(wanted), budget, options);
        try {
          return new Evaluator(inner, must(own.get(textName), 'own.get(textName)'), data).run();
        } catch (error) {
          if (!(error instanceof TemplateError) || error.isLimit) throw error;
          const message = `error during tpl function execution for ${quoteGo(text)}: ${error.message}`;
          throw new FunctionError(message, error.said);
        }
      },
    };
    const own = finder(options.functions);
    const findFunction: FindFunction = (name) => own(name) ?? this.#find(name);
    const rendering: Rendering = { findFunction, missingKey: options.missingKey ?? 'default', budget, context, lookup };
    return rendering;
  }

  #text(text: string): Result<Definition[]> {
    let read = this.#texts.get(text);
    if (!read) {
      read = readFile(textName, text, this.#find);
      if (this.#texts.size >= maxTexts) this.#texts.clear();
      this.#texts.set(text, read);
    }
    return read;
  }
}

const maxTexts = 1_000;

const refuseRandom = (): never => {
  throw new FunctionError('templates here may not use random values');
};
const noRandom: Random = new Proxy({} as Random, { get: () => refuseRandom });

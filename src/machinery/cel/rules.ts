import type { FieldError, FieldErrorType } from '../errors/field-error.ts';
import { isJsonObject, type JsonValue } from '../json/value.ts';
import { correlateList, isUnchanged, listMapKey } from '../schema/correlate.ts';
import { own } from '../schema/own.ts';
import { bracketPath, joinPath, type PathSegment } from '../schema/path.ts';
import type { Schema } from '../schema/types.ts';
import { hasRules, rulesOf } from './compiled-rules.ts';
import { CostExceededError, Evaluation } from './evaluate.ts';
import { type CompiledRule, defaultMessage, ruleText, shownValue } from './rule.ts';
import { collectRuleErrors } from './rule-errors.ts';
import { isExposed, toCel } from './schema-values.ts';
import { CelError, type CelValue, Optional } from './values.ts';

export interface RuleSetOptions {
  /** prefix of the field of every error */
  path?: string;
  /** the value is not a whole resource but some value of the schema */
  partial?: boolean;
}

/** Rules (x-kubernetes-validations) of a schema and everything below it, compiled on first use. */
export interface RuleSet {
  readonly isEmpty: boolean;
  /** Returns the compile errors of the rules. `path` is the position of the schema, `…schema.openAPIV3Schema`. */
  compileErrors(path: string): FieldError[];
  /**
   * Runs all rules on a value that is valid by its schema. `old` is the value before an update. Rules with oldSelf run
   * only where a part can be matched to the old value. Other rules do not fail on unchanged parts.
   */
  validate(value: unknown, old?: unknown, options?: RuleSetOptions): FieldError[];
}

const ruleSets = new WeakMap<Schema, RuleSet>();

/** Returns the rules of a schema. The same schema object always yields the same rule set. */
export function compileRules(schema: Schema): RuleSet {
  let rules = ruleSets.get(schema);
  if (!rules) {
    rules = hasRules(schema) ? new SchemaRules(schema) : noRules;
    ruleSets.set(schema, rules);
  }
  return rules;
}

const noRules: RuleSet = { isEmpty: true, compileErrors: () => [], validate: () => [] };

/** Limits of kube-apiserver for one rule and for all rules of one object. Its cost units differ slightly from these. */
const ruleBudget = 1_000_000;
const objectBudget = 10_000_000;

class SchemaRules implements RuleSet {
  readonly isEmpty = false;
  readonly #schema: Schema;

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  compileErrors(path: string): FieldError[] {
    return collectRuleErrors(this.#schema, path);
  }

  validate(value: unknown, old?: unknown, options: RuleSetOptions = {}): FieldError[] {
    const run = new Run(options.path ?? '');
    const isResource = options.partial !== true || this.#schema['x-kubernetes-embedded-resource'] === true;
    run.visit(value as JsonValue, old as JsonValue | undefined, this.#schema, isResource);
    return run.errors;
  }
}

interface Correlated {
  value: JsonValue;
  old: JsonValue;
  schema: Schema;
  /** whether nothing changed; computed on first use */
  unchanged: boolean | undefined;
}

class Run {
  readonly errors: FieldError[] = [];
  readonly #prefix: string;
  readonly #path: PathSegment[] = [];
  /** path from the root to the present part, limited to parts that match a part of the old object */
  readonly #correlated: Correlated[] = [];
  #budget = objectBudget;
  #exhausted = false;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  visit(value: JsonValue, old: JsonValue | undefined, schema: Schema, isResource: boolean): void {
    if (value === null || value === undefined || this.#exhausted || !hasRules(schema) || !isExposed(schema)) return;
    const isCorrelated = old !== undefined && old !== null;
    if (isCorrelated) this.#correlated.push({ value, old, schema, unchanged: undefined });
    if (schema['x-kubernetes-validations']) this.#runRules(value, isCorrelated ? old : undefined, schema, isResource);
    this.#visitMembers(value, old, schema);
    if (isCorrelated) this.#correlated.pop();
  }

  #visitMembers(value: JsonValue, old: JsonValue | undefined, schema: Schema): void {
    if (Array.isArray(value)) {
      const { items } = schema;
      if (!items || !hasRules(items)) return;
      const byKey = correlateList(old, schema);
      for (const [i, element] of value.entries()) {
        const key = byKey && listMapKey(element, schema);
        this.#path.push(i);
        this.visit(element, key === undefined ? undefined : byKey?.get(key), items, isEmbedded(items));
        this.#path.pop();
      }
    } else if (isJsonObject(value)) {
      const before = isJsonObject(old) ? (old as Record<string, JsonValue>) : undefined;
      const rest = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
      for (const key in value) {
        const property = own(schema.properties, key);
        const member = property ?? rest;
        const present = value[key];
        if (present === undefined || !member || !hasRules(member)) continue;
        this.#path.push(property ? key : { key });
        this.visit(present, own(before, key), member, isEmbedded(member));
        this.#path.pop();
      }
    }
  }

  #runRules(value: JsonValue, old: JsonValue | undefined, schema: Schema, isResource: boolean): void {
    let self: CelValue | undefined;
    let oldSelf: CelValue | undefined;
    for (const compiled of rulesOf(schema, isResource)) {
      if (compiled.usesOldSelf && old === undefined && !compiled.rule.optionalOldSelf) continue;
      if (!compiled.evaluate) {
        this.#add('Invalid', '', shownValue(schema), `rule compile error: ${compiled.problem}`);
        continue;
      }
      if (this.#budget <= 0) {
        this.#giveUp(schema);
        return;
      }
      const evaluation = new Evaluation([], Math.min(ruleBudget, this.#budget));
      const granted = evaluation.remaining;
      try {
        self ??= toCel(value, schema, isResource);
        if (compiled.usesOldSelf && old !== undefined) oldSelf ??= toCel(old, schema, isResource);
        evaluation.slots.push(self);
        if (compiled.rule.optionalOldSelf)
          evaluation.slots.push(oldSelf === undefined ? Optional.none : new Optional(oldSelf));
        else if (oldSelf !== undefined) evaluation.slots.push(oldSelf);
        const passed = compiled.evaluate(evaluation) === true;
        if (!passed && !this.#isForgiven(compiled)) this.#addFailure(compiled, schema, evaluation, oldSelf);
      } catch (error) {
        this.#addEvaluationError(error, compiled, schema);
        if (this.#exhausted) return;
      } finally {
        this.#budget -= granted - Math.max(0, evaluation.remaining);
      }
    }
  }

  /** Reports whether an unchanged value may keep violating a rule that does not use oldSelf. */
  #isForgiven(compiled: CompiledRule): boolean {
    const nearest = this.#correlated.at(-1);
    if (compiled.usesOldSelf || !nearest) return false;
    nearest.unchanged ??= isUnchanged(nearest.value, nearest.old, nearest.schema);
    return nearest.unchanged;
  }

  #addFailure(compiled: CompiledRule, schema: Schema, evaluation: Evaluation, oldSelf: CelValue | undefined): void {
    const { rule } = compiled;
    let message = defaultMessage(rule);
    if (compiled.message) {
      try {
        // Messages see oldSelf as a plain value, not as an optional.
        evaluation.slots.length = 1;
        if (oldSelf !== undefined) evaluation.slots.push(oldSelf);
        const text = compiled.message(evaluation);
        const trimmed = typeof text === 'string' ? text.trim() : '';
        if (trimmed !== '' && trimmed.length <= 5_120 && !trimmed.includes('\n')) message = trimmed;
      } catch (error) {
        if (!(error instanceof CelError)) throw error;
      }
    }
    this.#add(
      errorTypes[rule.reason ?? 'FieldValueInvalid'] ?? 'Invalid',
      compiled.fieldPath,
      shownValue(schema),
      message,
    );
  }

  #addEvaluationError(error: unknown, compiled: CompiledRule, schema: Schema): void {
    if (error instanceof CostExceededError) {
      const detail = `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${ruleText(compiled.rule)}`;
      this.#add('Invalid', '', shownValue(schema), detail);
      this.#exhausted = true;
      return;
    }
    if (!(error instanceof CelError)) throw error;
    const text = ruleText(compiled.rule);
    const detail = error.message.startsWith('no such overload')
      ? `'${error.message}': call arguments did not match a supported operator, function or macro signature for rule: ${text}`
      : `${error.message} evaluating rule: ${text}`;
    this.#add('Invalid', '', shownValue(schema), detail);
  }

  #giveUp(schema: Schema): void {
    const detail = 'validation failed due to running out of cost budget, no further validation rules will be run';
    this.#add('Invalid', '', shownValue(schema), detail);
    this.#exhausted = true;
  }

  #add(type: FieldErrorType, fieldPath: string, value: JsonValue, detail: string): void {
    const field = joinPath(joinPath(this.#prefix, bracketPath(this.#path)), fieldPath);
    this.errors.push({ type, field, value, detail: type === 'Duplicate' ? '' : detail });
  }
}

const errorTypes: Record<string, FieldErrorType> = {
  FieldValueInvalid: 'Invalid',
  FieldValueForbidden: 'Forbidden',
  FieldValueRequired: 'Required',
  FieldValueDuplicate: 'Duplicate',
};

function isEmbedded(schema: Schema): boolean {
  return schema['x-kubernetes-embedded-resource'] === true;
}

import { must } from '../../../machinery/index.ts';
import { pythonText } from '../../core/checks/python.ts';
import type { RequestContext } from '../../core/http/context.ts';
import { Refusal } from '../../core/refusal.ts';
import { NotAllowed, Unreadable } from './faults.ts';

/** Reads a value that is neither absent nor null. */
export type Read = (value: unknown) => unknown;

export interface Field {
  readonly read: Read;
  readonly mandatory?: boolean;
  /** default for an absent value */
  readonly default?: unknown;
}

/** Attributes of a body, in the order octavia validates them. */
export type Shape = Readonly<Record<string, Field>>;

/** Values of a parsed body. Absent attributes stay absent, null stays null. */
export type Values = Record<string, unknown>;

/** Name of a body in refusals, and its expected contents. */
export interface BodyForm {
  /** for example `listener_`: octavia's messages show the name of its own parameter */
  readonly argument: string;
  /** for example `listener` */
  readonly wrapper: string;
  readonly shape: Shape;
}

/** Thrown for nested objects. The name of the argument is added further out. */
class UnknownAttribute extends Error {
  readonly names: readonly string[];

  constructor(names: readonly string[]) {
    super('unknown attribute');
    this.names = names;
  }
}

/** Reads the single object of a body. */
export function readBody(context: RequestContext, form: BodyForm): Values {
  return inTermsOf(context.json, form, (wrapped) => readShape(wrapped, form.shape));
}

/** Reads the list of objects of a body. */
export function readBodyList(context: RequestContext, form: BodyForm): Values[] {
  return inTermsOf(context.json, form, (wrapped) => {
    if (!Array.isArray(wrapped)) throw new Unreadable(`Value not a valid list: ${pythonText(wrapped)}`);
    return wrapped.map((item) => readShape(item, form.shape));
  });
}

/** Reads an object by its shape. `readBody` converts its errors to refusals. */
export function readShape(value: unknown, shape: Shape): Values {
  if (!isObject(value)) throw new Refusal(500, `'${pythonType(value)}' object has no attribute 'keys'`);
  const { tenant_id: tenant, ...given } = value;
  if (tenant !== undefined && 'project_id' in shape) given['project_id'] ??= tenant;
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(shape, name));
  if (unknown.length > 0) throw new UnknownAttribute(unknown);
  const values: Values = {};
  for (const name in shape) {
    const field = must(shape[name], 'shape[name]');
    const present = given[name];
    if (present === undefined || (present === null && field.mandatory)) {
      if (field.mandatory) throw badValue(name, null, 'Mandatory field missing.');
      if (field.default !== undefined) values[name] = field.default;
    } else {
      values[name] = present === null ? null : readField(name, field, present);
    }
  }
  return values;
}

function readField(name: string, field: Field, value: unknown): unknown {
  try {
    return field.read(value);
  } catch (error) {
    if (error instanceof NotAllowed) throw badValue(name, value, error.message);
    throw error;
  }
}

function inTermsOf<T>(body: unknown, { argument, wrapper }: BodyForm, read: (wrapped: unknown) => T): T {
  if (!isObject(body)) throw new Refusal(500, `'${pythonType(body)}' object has no attribute 'keys'`);
  const unknownMembers = Object.keys(body).filter((name) => name !== wrapper);
  if (unknownMembers.length > 0) throw unknownAttribute(argument, unknownMembers);
  if (body[wrapper] === undefined) throw new Refusal(500, "'UnsetType' object has no attribute 'project_id'");
  try {
    return read(body[wrapper]);
  } catch (error) {
    if (error instanceof UnknownAttribute) throw unknownAttribute(`${argument}.${wrapper}`, error.names);
    if (error instanceof Unreadable) throw badValue(argument, body, error.message);
    throw error;
  }
}

function badValue(name: string, value: unknown, reason: string): Refusal {
  return new Refusal(400, `Invalid input for field/attribute ${name}. Value: '${pythonText(value)}'. ${reason}`);
}

function unknownAttribute(argument: string, names: readonly string[]): Refusal {
  return new Refusal(400, `Unknown attribute for argument ${argument}: ${names.join(', ')}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function pythonType(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  switch (typeof value) {
    case 'string':
      return 'str';
    case 'number':
      return 'int';
    case 'boolean':
      return 'bool';
    default:
      return 'NoneType';
  }
}

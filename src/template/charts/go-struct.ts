import { printValue } from '../format/index.ts';
import { type GoMethod, GoObject, isList, isMap, type Value, type ValueMap } from '../values/index.ts';

export interface GoField {
  readonly name: string;
  readonly value: Value;
  /** name in JSON; default: the field name */
  readonly json?: string;
  /** included in JSON even if empty, like fields without `omitempty` */
  readonly isAlwaysShown?: boolean;
}

interface GoStructOptions {
  readonly fields: readonly GoField[];
  readonly methods?: Readonly<Record<string, GoMethod>>;
  /** output of `{{ . }}` for types with a String method */
  readonly output?: string;
  readonly kind?: string;
  /** number of embedded structs, which print in braces of their own */
  readonly embedded?: number;
}

const noBudget = { spend: () => undefined, reserve: () => undefined };

/** Emulates a Go struct, for `.Chart` and `.Capabilities`. */
export class GoStruct extends GoObject {
  readonly typeName: string;
  override readonly kind: string;
  readonly #options: GoStructOptions;
  readonly #fields: ReadonlyMap<string, GoField>;

  constructor(typeName: string, options: GoStructOptions) {
    super();
    this.typeName = typeName;
    this.kind = options.kind ?? 'struct';
    this.#options = options;
    this.#fields = new Map(options.fields.map((field) => [field.name, field]));
  }

  override field(name: string): Value {
    return this.#fields.get(name)?.value;
  }

  override method(name: string): GoMethod | undefined {
    const { methods } = this.#options;
    return methods && Object.hasOwn(methods, name) ? methods[name] : undefined;
  }

  toText(): string {
    const { fields, embedded = 0 } = this.#options;
    const texts = fields.map(({ value }) => printValue(value, noBudget));
    const inner = texts.slice(0, embedded).join(' ');
    const text = (embedded > 0 ? [`{${inner}}`, ...texts.slice(embedded)] : texts).join(' ');
    return this.kind === 'ptr' ? `&{${text}}` : `{${text}}`;
  }

  override toOutput(): string {
    return this.#options.output ?? this.toText();
  }

  override toJson(): Value {
    const object: ValueMap = new Map();
    for (const { name, value, json, isAlwaysShown = json === undefined } of this.#options.fields) {
      if (isAlwaysShown || !isZero(value)) object.set(json ?? name, value);
    }
    return object;
  }
}

function isZero(value: Value): boolean {
  if (isList(value)) return value.length === 0;
  if (isMap(value)) return value.size === 0;
  return value === '' || value === false || value === undefined || value === null;
}

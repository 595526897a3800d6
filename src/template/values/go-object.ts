import type { Value } from './value.ts';

/** A method of an object: its parameters as Go types, and what it does. Errors are thrown as FunctionError. */
export interface GoMethod {
  /** Go types of the parameters; one that starts with `...` takes the rest */
  readonly parameters: readonly string[];
  call(args: readonly Value[]): Value;
}

/** A value that is neither JSON nor a number: a time, a version, the `.Files` of a chart. */
export abstract class GoObject {
  /** as `%T` prints it: `time.Time`, `*semver.Version` */
  abstract readonly typeName: string;
  readonly kind: string = 'struct';

  /** A field's value; undefined: there is none of this name. */
  field(_name: string): Value {
    return undefined;
  }

  method(_name: string): GoMethod | undefined {
    return undefined;
  }

  /** as `%v` prints it */
  abstract toText(): string;

  /** as `{{ . }}` prints it, where that differs: Go takes the address there, and with it further methods */
  toOutput(): string {
    return this.toText();
  }

  isTrue(): boolean {
    return true;
  }

  /** What equals it in `deepEqual`; undefined: nothing but itself. */
  identity(): string | undefined {
    return undefined;
  }

  /** What JSON and YAML show. */
  toJson(): Value {
    return this.toText();
  }
}

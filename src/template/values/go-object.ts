import type { Value } from './value.ts';

/** A method of an object with its Go parameter types. It throws FunctionError. */
export interface GoMethod {
  /** Go types of the parameters; one starting with `...` is variadic */
  readonly parameters: readonly string[];
  call(args: readonly Value[]): Value;
}

/** A value that is neither JSON nor a number, for example a time, a version or `.Files`. */
export abstract class GoObject {
  /** type for `%T`, for example `time.Time` or `*semver.Version` */
  abstract readonly typeName: string;
  readonly kind: string = 'struct';

  /** Returns the value of a field, or undefined if it does not exist. */
  field(_name: string): Value {
    return undefined;
  }

  method(_name: string): GoMethod | undefined {
    return undefined;
  }

  /** format for `%v` */
  abstract toText(): string;

  /** output of `{{ . }}` if it differs, because Go also finds methods of the pointer there */
  toOutput(): string {
    return this.toText();
  }

  isTrue(): boolean {
    return true;
  }

  /** Returns the key for `deepEqual`; undefined: equal only to itself. */
  identity(): string | undefined {
    return undefined;
  }

  /** Returns the JSON and YAML representation. */
  toJson(): Value {
    return this.toText();
  }
}

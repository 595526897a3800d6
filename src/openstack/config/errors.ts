import { CapstanError } from '../../machinery/index.ts';

export interface CloudConfigErrorOptions {
  /** what is wrong, without the place */
  readonly problem: string;
  readonly cure: string;
  /** the file (or Secret, or `the environment`) the value came from */
  readonly file?: string | undefined;
  readonly cloud?: string | undefined;
  /** such as `auth.password` */
  readonly key?: string | undefined;
  readonly cause?: unknown;
}

/** A cloud's settings that cannot be used. The one-line message says where, what, and what to do. */
export class CloudConfigError extends CapstanError {
  readonly file: string | undefined;
  readonly cloud: string | undefined;
  readonly key: string | undefined;
  readonly cure: string;

  constructor(options: CloudConfigErrorOptions) {
    const place = [
      options.file,
      options.cloud === undefined ? undefined : `cloud "${options.cloud}"`,
      options.key === undefined ? undefined : `key ${options.key}`,
    ].filter((part) => part !== undefined);
    const where = place.length === 0 ? '' : `${place.join(', ')}: `;
    super(
      'CAP_CLOUDS_YAML',
      `${where}${options.problem}; ${options.cure}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = 'CloudConfigError';
    this.file = options.file;
    this.cloud = options.cloud;
    this.key = options.key;
    this.cure = options.cure;
  }
}

import { CapstanError } from '../../machinery/index.ts';

export interface CloudConfigErrorOptions {
  /** the problem without its place */
  readonly problem: string;
  readonly cure: string;
  /** origin of the value: a file, a Secret or `the environment` */
  readonly file?: string | undefined;
  readonly cloud?: string | undefined;
  /** such as `auth.password` */
  readonly key?: string | undefined;
  readonly cause?: unknown;
}

/** Invalid cloud settings. The one-line message names the place, the problem and the cure. */
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

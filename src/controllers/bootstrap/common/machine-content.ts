import type { BootstrapFile, BootstrapUser, KubeadmConfigSpec } from '../../../api/index.ts';
import { CapstanError } from '../../../machinery/index.ts';

/** What a machine is given besides commands, with everything that was named by reference filled in. */
export interface MachineContent {
  files: readonly BootstrapFile[];
  users?: readonly BootstrapUser[];
  ntp?: NonNullable<KubeadmConfigSpec['ntp']>;
  diskSetup?: NonNullable<KubeadmConfigSpec['diskSetup']>;
  mounts?: readonly (readonly string[])[];
}

/** What the user wrote cannot be made into user data; the message says which part and why. */
export class BootstrapInputError extends CapstanError {
  /** worth a look from time to time: something the configuration refers to may appear */
  readonly mayHeal: boolean;

  constructor(message: string, options: { mayHeal?: boolean; cause?: unknown } = {}) {
    super('CAP_BOOTSTRAP_INPUT', message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'BootstrapInputError';
    this.mayHeal = options.mayHeal === true;
  }
}

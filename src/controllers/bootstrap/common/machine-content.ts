import type { BootstrapFile, BootstrapUser, KubeadmConfigSpec } from '../../../api/index.ts';
import { CapstanError } from '../../../machinery/index.ts';

/** Machine content besides commands, with all references resolved. */
export interface MachineContent {
  files: readonly BootstrapFile[];
  users?: readonly BootstrapUser[];
  ntp?: NonNullable<KubeadmConfigSpec['ntp']>;
  diskSetup?: NonNullable<KubeadmConfigSpec['diskSetup']>;
  mounts?: readonly (readonly string[])[];
}

/** Input from which no user data can be made; the message names the field and the reason. */
export class BootstrapInputError extends CapstanError {
  /** true if a retry may help: a referenced object may appear later */
  readonly mayHeal: boolean;

  constructor(message: string, options: { mayHeal?: boolean; cause?: unknown } = {}) {
    super('CAP_BOOTSTRAP_INPUT', message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'BootstrapInputError';
    this.mayHeal = options.mayHeal === true;
  }
}

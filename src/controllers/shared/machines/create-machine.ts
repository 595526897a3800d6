import { type ContractReference, type Machine, Machines } from '../../../api/index.ts';
import { explain } from '../conditions.ts';
import type { MachineOwner } from './machine-owner.ts';
import { ensurePart, type MachinePart } from './parts.ts';

export class MachineCreationError extends Error {
  readonly step: MachinePart['step'] | 'machine';

  constructor(step: MachineCreationError['step'], cause: unknown) {
    super(explain(cause), { cause });
    this.name = 'MachineCreationError';
    this.step = step;
  }
}

export interface MachineReferences {
  bootstrap?: ContractReference;
  infrastructure?: ContractReference;
}

/**
 * Creates the parts first, then the Machine: providers ignore a part without a Machine. The name is chosen once; if
 * interrupted, the parts carry it to the next reconcile (see `unfinishedNames`).
 */
export async function createMachine(
  owner: MachineOwner,
  name: string,
  parts: readonly MachinePart[],
  build: (references: MachineReferences) => Machine,
): Promise<Machine> {
  const { context, applies, object } = owner;
  const references: MachineReferences = {};
  let step: MachineCreationError['step'] = 'machine';
  try {
    for (const part of parts) {
      step = part.step;
      references[step] = await ensurePart(owner, part, name);
    }
    step = 'machine';
    const machine = await applies.machine.create(context.client, Machines, build(references), context.signal);
    context.log.info('Machine created', { machine: name });
    context.events.event(object, 'Normal', 'SuccessfulCreate', `Created Machine "${name}"`);
    return machine;
  } catch (error) {
    if (context.signal.aborted) throw error;
    throw new MachineCreationError(step, error);
  }
}

const legacyReasons = {
  bootstrap: 'BootstrapTemplateCloningFailed',
  infrastructure: 'InfrastructureTemplateCloningFailed',
} as const;

export interface MachineCreationProblem {
  /** v1beta1 reason for the failed step */
  legacyReason: string;
  message: string;
}

/** Describes a failed creation for the status; the reason for the last step differs between owners. */
export function creationProblem(error: unknown, machineReason: string): MachineCreationProblem {
  const step = error instanceof MachineCreationError ? error.step : 'machine';
  return { legacyReason: step === 'machine' ? machineReason : legacyReasons[step], message: explain(error) };
}

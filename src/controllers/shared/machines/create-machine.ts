import { type ContractReference, type Machine, Machines } from '../../../api/index.ts';
import type { UnstructuredObject } from '../../../machinery/index.ts';
import { explain } from '../conditions.ts';
import type { MachineOwner } from './machine-owner.ts';
import { createPart, isLacking, type MachinePart } from './parts.ts';

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
 * Creates the Machine first and then its parts, which it owns from the beginning. The Machine names them: if this is
 * interrupted, `completeMachines` creates what is missing.
 */
export async function createMachine(
  owner: MachineOwner,
  name: string,
  parts: readonly MachinePart[],
  build: (references: MachineReferences) => Machine,
): Promise<Machine> {
  const { context, applies, object } = owner;
  const references: MachineReferences = {};
  const drafts: [MachinePart, UnstructuredObject][] = [];
  let step: MachineCreationError['step'] = 'machine';
  try {
    // what cannot be built, for example without its template, must not leave a Machine
    for (const part of parts) {
      step = part.step;
      drafts.push([part, await part.build(name)]);
      references[step] = { ...part.kind, name };
    }
    step = 'machine';
    const machine = await applies.machine.create(context.client, Machines, build(references), context.signal);
    context.log.info('Machine created', { machine: name });
    context.events.event(object, 'Normal', 'SuccessfulCreate', `Created Machine "${name}"`);
    for (const [part, draft] of drafts) {
      step = part.step;
      await createPart(owner, part, draft, machine);
    }
    return machine;
  } catch (error) {
    if (context.signal.aborted) throw error;
    throw new MachineCreationError(step, error);
  }
}

/** Creates the parts that Machines lack because their creation was interrupted. */
export async function completeMachines(
  owner: MachineOwner,
  parts: readonly MachinePart[],
  machines: readonly Machine[],
): Promise<void> {
  for (const machine of machines) {
    for (const part of parts) {
      if (!(await isLacking(owner, part, machine))) continue;
      try {
        await createPart(owner, part, await part.build(machine.metadata.name ?? ''), machine);
      } catch (error) {
        if (owner.context.signal.aborted) throw error;
        throw new MachineCreationError(part.step, error);
      }
    }
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

import type { HookPatch, HookRequests } from '../../../api/index.ts';
import { asJson, errorMessage, type JsonValue } from '../../../machinery/index.ts';
import { type HookCaller, HookError, type HookSubject } from '../lifecycle-hooks.ts';
import { below, isCovered, machineSpecPart, type Subject } from './coverage.ts';

type Question = 'CanUpdateMachine' | 'CanUpdateMachineSet';

/** Kinds that cannot be changed in place; empty if an extension can apply all differences. */
export type Uncovered = readonly string[];

export interface InPlaceQuestion<H extends Question> {
  readonly hook: H;
  readonly subject: HookSubject;
  readonly request: HookRequests[H];
  readonly signal: AbortSignal;
}

/** Returns the handler for in-place updates; undefined without one. Throws HookError if there are several. */
export function inPlaceHandler(
  hooks: HookCaller | undefined,
  hook: Question,
  subject: HookSubject,
): string | undefined {
  const handlers = hooks?.handlers(hook, subject) ?? [];
  if (handlers.length > 1) {
    throw new HookError(`several handlers answer hook ${hook} (${handlers.join(', ')}): only one is supported`);
  }
  return handlers[0];
}

/** Asks an extension which differences between current and desired objects it can apply. Throws HookError. */
export async function askInPlace<H extends Question>(
  hooks: HookCaller,
  handler: string,
  { hook, subject, request, signal }: InPlaceQuestion<H>,
): Promise<Uncovered> {
  const answer = await hooks.ask(hook, handler, subject, request, { signal });
  // the response parser has verified that every field with this suffix is a patch
  const patches = new Map(Object.entries(answer as Readonly<Record<`${string}Patch`, HookPatch>>));
  const uncovered: string[] = [];
  for (const { name, part } of parts[hook]) {
    const [current, desired] = [asJson(request.current), asJson(request.desired)].map((side) => below(side, name));
    if (current === undefined || desired === undefined) continue;
    const kind = String(below(current, 'kind') ?? name);
    try {
      const patch = patches.get(`${name}Patch`);
      if (!isCovered({ kind, current, desired, part }, patch)) uncovered.push(kind);
    } catch (error) {
      if (!(error instanceof HookError)) throw error;
      throw new HookError(`handler ${handler} of hook ${hook}: ${errorMessage(error)}`, { cause: error });
    }
  }
  return uncovered;
}

interface Part extends Pick<Subject, 'part'> {
  readonly name: string;
}

const spec = (object: JsonValue): JsonValue | undefined => below(object, 'spec');
const templateSpec = (object: JsonValue): JsonValue | undefined => below(object, 'spec', 'template', 'spec');

/** Request fields; the response has a patch for each, named with the suffix `Patch`. */
const parts: Readonly<Record<Question, readonly Part[]>> = {
  CanUpdateMachine: [
    { name: 'machine', part: (object) => machineSpecPart(spec(object)) },
    { name: 'infrastructureMachine', part: spec },
    { name: 'bootstrapConfig', part: spec },
  ],
  CanUpdateMachineSet: [
    { name: 'machineSet', part: (object) => machineSpecPart(templateSpec(object)) },
    { name: 'infrastructureMachineTemplate', part: templateSpec },
    { name: 'bootstrapConfigTemplate', part: templateSpec },
  ],
};

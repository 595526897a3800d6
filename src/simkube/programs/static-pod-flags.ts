import { errorMessage } from '../../machinery/index.ts';
import { apiServerFlags } from './apiserver/flags.ts';
import { controllerManagerFlags } from './components/controller-manager.ts';
import { schedulerFlags } from './components/scheduler.ts';
import { type FlagTable, parseFlags } from './flags.ts';
import { apiServerFlagLives, componentFlagLives, type FlagLife, ofRelease } from './releases.ts';

/** A control plane program that runs as a static Pod. */
export type StaticPodProgram = 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler';

const tables: Readonly<Record<StaticPodProgram, readonly [FlagTable, Readonly<Record<string, FlagLife>>]>> = {
  'kube-apiserver': [apiServerFlags, apiServerFlagLives],
  'kube-controller-manager': [controllerManagerFlags, componentFlagLives],
  'kube-scheduler': [schedulerFlags, componentFlagLives],
};

/** Returns a control plane program's error for its command line; undefined if it is valid. */
export function commandLineProblem(
  program: StaticPodProgram,
  args: readonly string[],
  version: string,
): string | undefined {
  const [table, lives] = tables[program];
  try {
    parseFlags(args, ofRelease(table, lives, version));
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

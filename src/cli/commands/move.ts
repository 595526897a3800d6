import { randomUUID } from 'node:crypto';
import {
  cancelMove,
  type MoveOptions as EngineOptions,
  moveNamespace,
  planMove,
  titleOf,
} from '../../controllers/index.ts';
import { CapstanError } from '../../machinery/index.ts';
import { type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';

export interface MoveOptions extends ConnectionOptions {
  toKubeconfig?: string;
  toKubeconfigContext?: string;
  dryRun?: boolean;
  cancel?: boolean;
}

/** Moves the clusters of a namespace to another management API, either Capstan or a real Kubernetes. */
export async function move(options: MoveOptions, context: CommandContext): Promise<number> {
  const { toKubeconfig, toKubeconfigContext, dryRun, cancel } = options;
  if (toKubeconfig === undefined && toKubeconfigContext === undefined) {
    throw new CapstanError('CAP_USAGE', 'name a target', { hint: 'name the target with --to-kubeconfig FILE' });
  }
  if (dryRun && cancel) throw new CapstanError('CAP_USAGE', '--dry-run and --cancel exclude each other');
  const to = {
    ...(toKubeconfig !== undefined && { kubeconfig: toKubeconfig }),
    ...(toKubeconfigContext !== undefined && { context: toKubeconfigContext }),
  };
  return await withConnection(options, context, async (source) =>
    withConnection(to, context, async (target) => {
      const { namespace } = source;
      const { clock, signal } = context;
      context.stderr(`namespace ${namespace}: ${source.where} -> ${target.where}\n`);
      let isUnderWay = false;
      const move: EngineOptions = {
        source: source.client,
        target: target.client,
        namespace,
        clock,
        signal,
        newId: () => randomUUID(),
        onProgress: (line) => {
          isUnderWay = true;
          context.stderr(`${line}\n`);
        },
      };
      if (dryRun) {
        for (const { object, isCopied } of await planMove(move)) {
          context.stdout(`${titleOf(object)} would be ${isCopied ? 'copied' : 'moved'}\n`);
        }
        return 0;
      }
      try {
        await (cancel ? cancelMove(move) : moveNamespace(move));
      } catch (error) {
        if (isUnderWay) {
          context.stderr(
            `interrupted: objects that are not moved yet stay paused; run the same command again to continue, or with --cancel to cancel\n`,
          );
        }
        throw error;
      }
      return 0;
    }),
  );
}

import type { WebSocket } from 'ws';
import { errorMessage, type JsonObject, type UnstructuredObject } from '../../machinery/index.ts';

/** A command to be run in a container. */
export interface PodCommand {
  readonly container: string;
  readonly command: readonly string[];
  readonly signal: AbortSignal;
}

/** Whoever runs the Pods runs commands in them; what the command says is known when it has ended. */
export type PodExecutor = (
  pod: UnstructuredObject,
  command: PodCommand,
) => Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }>;

/** What clients may call the protocol: the newer one lets them close their input, which nobody reads here. */
export const execProtocols: readonly string[] = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

const channel = { stdout: 1, stderr: 2, outcome: 3 } as const;

/** Speaks `v5.channel.k8s.io`: output on channels of its own, and how the command ended as a Status on another. */
export function serveExec(socket: WebSocket, run: (signal: AbortSignal) => ReturnType<PodExecutor>): void {
  const gone = new AbortController();
  const leave = (): void => gone.abort(new Error('the client has gone'));
  socket.on('close', leave);
  socket.on('error', leave);
  const send = (number: number, text: string): void => {
    if (text !== '' && socket.readyState === socket.OPEN) {
      socket.send(Buffer.concat([Buffer.from([number]), Buffer.from(text, 'utf8')]), { binary: true });
    }
  };
  const finish = (status: JsonObject): void => {
    send(channel.outcome, JSON.stringify({ metadata: {}, ...status }));
    socket.close(1000);
  };
  run(gone.signal).then(
    ({ exitCode, stdout, stderr }) => {
      send(channel.stdout, stdout);
      send(channel.stderr, stderr);
      finish(exitCode === 0 ? { status: 'Success' } : failure(exitCode));
    },
    (error: unknown) => finish({ status: 'Failure', reason: 'InternalError', message: errorMessage(error), code: 500 }),
  );
}

function failure(exitCode: number): JsonObject {
  return {
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: `command terminated with exit code ${exitCode}`,
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}
